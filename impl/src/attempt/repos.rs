//! The repos of an attempt: their worktrees, what the step sees as their git folders, and what comes of its commits.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::folder::Folder;
use crate::git::outcome::RepoOutcome;
use crate::git::store::{self, Store};
use crate::git::view::View;
use crate::git::worktree::{self, Worktree};
use crate::git::{identity, key, recover};
use crate::outcome::{Reason, Refusal};
use crate::reach::{self, Shown, Temp};
use crate::settings::{Repo, Settings, Step};
use crate::stderr;

/// The worktrees, in the order of the settings.
#[derive(Debug)]
pub struct Repos(Vec<Worktree>);

impl Repos {
    /// All of them, or none.
    pub fn make(factory: &Path, settings: &Settings, step: &Step, folder: &Folder) -> Result<Repos, Refusal> {
        let home = reach::own_home();
        let mut made: Vec<Worktree> = Vec::new();
        let active: Vec<_> =
            step.repos.iter().filter_map(|name| Some((name, settings.repos.get(&name.value)?))).collect();
        if let Some((name, repo)) = active.iter().find(|(_, repo)| home.is_none() && repo.path.value.starts_with('~')) {
            let detail = format!("repos.{}.path: {}: HOME is not set", name.value, repo.path.value);
            let fix = Some(worktree::SET_HOME.into());
            return Err(Refusal { fix, ..Refusal::new(Reason::WorktreeFailed, detail) });
        }
        for (name, repo) in active {
            let place = worktree::place(&repo.path.value, factory, home.as_deref());
            match Worktree::add(&name.value, &place, &folder.worktree(&name.value), &folder.id) {
                Ok(worktree) => made.push(Worktree { sign: key(repo, factory), ..worktree }),
                Err(mut refusal) => {
                    made.into_iter().for_each(|worktree| refusal.detail += &worktree.undo());
                    return Err(refusal);
                }
            }
        }
        Ok(Repos(made))
    }

    /// Where the step's first repository itself lies.
    pub fn first_place(factory: &Path, settings: &Settings, step: &Step) -> Option<PathBuf> {
        let repo = settings.repos.get(&step.repos.first()?.value)?;
        Some(worktree::place(&repo.path.value, factory, reach::own_home().as_deref()))
    }

    /// As they would be made: nothing is.
    pub fn planned(factory: &Path, settings: &Settings, step: &Step, folder: &Folder) -> Result<Repos, Refusal> {
        let home = reach::own_home();
        let repos = step.repos.iter().filter_map(|name| Some((&name.value, settings.repos.get(&name.value)?)));
        let planned = repos.map(|(name, repo)| {
            let place = worktree::place(&repo.path.value, factory, home.as_deref());
            Worktree::planned(name, &place, &folder.worktree(name), &folder.id)
        });
        planned.collect::<Result<_, _>>().map(Repos)
    }

    /// What would be shown of their git folders.
    pub fn plan(&self, folder: &Folder) -> Result<Views, Refusal> {
        let view = |worktree: &Worktree| {
            let failed = |what| Refusal::new(Reason::GitFolder, format!("{}: {what}", worktree.common.display()));
            let store = Store::of(&folder.path, &worktree.repo);
            View::planned(worktree, &folder.id, &store).map(|view| (store, view)).map_err(failed)
        };
        Ok(Views { attempt: folder.path.clone(), all: self.0.iter().map(view).collect::<Result<_, _>>()? })
    }

    /// Their folders.
    pub fn worktrees(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|worktree| worktree.at.as_path())
    }

    /// Makes what the step sees of each git folder.
    pub fn show(&self, folder: &Folder) -> Result<Views, Refusal> {
        let mut views = Views { attempt: folder.path.clone(), all: Vec::new() };
        for worktree in &self.0 {
            let store = Store::of(&folder.path, &worktree.repo);
            let failed = |what: String| {
                store::tidy(&folder.path);
                Refusal::new(Reason::GitFolder, format!("{}: {what}", worktree.common.display()))
            };
            let view = View::make(worktree, &folder.id, &store).map_err(failed)?;
            views.all.push((store, view));
        }
        Ok(views)
    }
}

/// Whether what a step commits can be signed where that is asked for, as far as it is known before the step.
///
/// # Errors
/// When it cannot.
pub fn can_sign(factory: &Path, settings: &Settings, step: &Step) -> Result<(), Refusal> {
    let repos = step.repos.iter().filter_map(|name| Some((&name.value, settings.repos.get(&name.value)?)));
    let mut keys = repos.filter_map(|(name, repo)| Some((name, key(repo, factory)?)));
    keys.try_for_each(|(name, at)| {
        key::check(&at)
            .map_err(|refusal| Refusal { detail: format!("repos.{name}.sign: {}", refusal.detail), ..refusal })
    })
}

fn key(repo: &Repo, factory: &Path) -> Option<PathBuf> {
    repo.sign.as_ref().map(|sign| worktree::place(&sign.value, factory, reach::own_home().as_deref()))
}

/// What the step sees of each git folder.
#[derive(Debug)]
pub struct Views {
    attempt: PathBuf,
    all: Vec<(Store, View)>,
}

impl Views {
    /// The worktrees.
    pub fn worktrees(&self) -> impl Iterator<Item = PathBuf> {
        self.all.iter().map(|(_, view)| view.record.worktree.clone())
    }

    /// The private stores, in place of git folders.
    pub fn roots(&self) -> Vec<Shown> {
        self.all.iter().map(|(_, view)| view.root.clone()).collect()
    }

    /// What lies over parts of them.
    pub fn parts(&self) -> Vec<Shown> {
        self.all.iter().flat_map(|(_, view)| view.parts.iter().cloned()).collect()
    }

    /// Writes down what a recovery needs, to the disk, and the step's identity: before the step is executed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn record(&self, temp: &Temp) -> io::Result<()> {
        for (store, view) in &self.all {
            let mut file = File::create_new(store.record())?;
            file.write_all(&serde_json::to_vec(&view.record)?)?;
            file.sync_all()?;
            File::open(&store.root)?.sync_all()?;
        }
        if self.all.is_empty() { Ok(()) } else { fs::write(temp.on_host(&temp.git_settings()), identity::file()) }
    }

    /// The sandbox stands, and this process has started it.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn begin(&self, launcher: i32) -> io::Result<()> {
        if self.all.is_empty() { Ok(()) } else { recover::note(&self.attempt, launcher) }
    }

    /// Nothing lives in the sandbox any more. What was executed is imported, unless `stop` says that the user does not want to
    /// wait for it.
    pub fn end(&self, executed: bool, stop: &dyn Fn() -> bool) -> Vec<RepoOutcome> {
        let mut outcomes = Vec::new();
        for (store, view) in &self.all {
            match executed {
                true => outcomes.push(RepoOutcome::of_import(store, &view.record, stop)),
                false => store.done().unwrap_or_else(|e| stderr::warn(format!("{}: {e}", store.root.display()))),
            }
        }
        store::tidy(&self.attempt);
        outcomes.iter().for_each(told);
        outcomes
    }
}

/// Imports what a kusaw that was killed has left in this factory.
pub fn recover(factory: &Path) {
    for (attempt, outcomes) in recover::recover(&factory.join("attempts")) {
        // Of most there is nothing to tell: their step had not committed anything.
        for outcome in outcomes.iter().filter(|outcome| outcome.tip != outcome.base || outcome.rejected.is_some()) {
            let tip = outcome.tip.get(..12).unwrap_or(&outcome.tip);
            let what = match outcome.rejected {
                None => format!("recovered: {} is at {tip}", outcome.branch),
                Some(_) => "not recovered".into(),
            };
            stderr::say(format!("attempt {attempt}, repo {}: {what}", outcome.repo));
            told(outcome);
        }
    }
}

fn told(outcome: &RepoOutcome) {
    let Some(rejected) = &outcome.rejected else { return };
    let kept =
        if rejected.kept.exists() { format!("\nit is kept in {}", rejected.kept.display()) } else { String::new() };
    stderr::warn(format!(
        "repo {}: what the step committed was not imported: {}: {}\nfix: {}{kept}",
        outcome.repo, rejected.reason, rejected.detail, rejected.fix
    ));
}
