//! Worktrees for a sandbox, which makes none itself.

use std::path::PathBuf;

use super::{Launcher, places};
use crate::driver::Templates;
use crate::plan::Plan;

impl Launcher<'_> {
    /// The worktrees of an attempt for a sandbox, which makes none itself, each on a branch of its own; the first is where its
    /// command starts.
    pub(super) async fn worktrees(&self, plan: &Plan, nonce: &str, templates: &Templates) -> Result<PathBuf, String> {
        let attempt = PathBuf::from(templates.render("{{factory}}/{{attempt}}")?);
        std::fs::create_dir_all(&attempt).map_err(|e| format!("{}: {e}", attempt.display()))?;
        for (name, _) in &plan.repos {
            let path = templates.with("repo", name).render(self.manifest.worktree())?;
            let repository = places::repository(plan, nonce, name);
            let branch = templates.render("lab/{{attempt}}")?;
            let argv = ["git", "-C", &repository, "worktree", "add", "-q", "-b", &branch, &path, "HEAD"];
            let adding = ADDING.lock().await;
            let made = self.bare(&argv.map(str::to_owned), nonce).await?;
            drop(adding);
            if made.exit != Some(0) {
                return Err(format!("git worktree add {path}: {}", made.output()));
            }
        }
        Ok(plan.repos.first().map_or(attempt.clone(), |(name, _)| attempt.join(name)))
    }
}

/// One `git worktree add` at a time: it reads the half-made entries of others, and two attempts of a scenario share a
/// repository.
static ADDING: futures::lock::Mutex<()> = futures::lock::Mutex::new(());
