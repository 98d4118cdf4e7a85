//! What git outside must say about the worktree of an attempt and its branch: judged on the host, after the attempt.

use std::path::Path;

use crate::host_git::{Said, git};

/// One thing that must be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outside {
    /// The commits that the worktree's branch has more than main, oldest first, by their subjects.
    Commits(Vec<String>),
    /// What a git command prints in the worktree, without blanks around it.
    Prints(Vec<String>, String),
    /// `git fsck` finds nothing.
    Whole,
}

impl Outside {
    /// Whether it is so in the worktree, and what is.
    ///
    /// # Errors
    /// When git cannot be started.
    pub async fn judge(&self, worktree: &Path) -> Result<(bool, String), String> {
        if !worktree.is_dir() {
            return Ok((false, format!("{} is not there", worktree.display())));
        }
        match self {
            Self::Commits(wanted) => {
                let (branch, commits) = commits(worktree).await?;
                Ok((commits.as_ref() == Some(wanted), format!("{branch} has {commits:?}")))
            }
            Self::Prints(command, wanted) => {
                let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
                let said = git(worktree, &arguments).await?;
                let held = said.is_well() && said.stdout.trim() == wanted;
                Ok((held, format!("git {}: {}", command.join(" "), said.told())))
            }
            Self::Whole => {
                let said = git(worktree, &["fsck", "--no-progress", "--no-dangling"]).await?;
                Ok((said.is_well() && is_quiet(&said), format!("git fsck: {}", said.told())))
            }
        }
    }
}

/// The branch that the worktree was given, and what it has more than main; no commits if main is not its past.
async fn commits(worktree: &Path) -> Result<(String, Option<Vec<String>>), String> {
    const FORMAT: &str = "--format=%D%x00%s"; // where refs point, as git-log(1) tells them
    let log = git(worktree, &["log", "--first-parent", "--decorate=full", FORMAT]).await?;
    let mut lines = log.stdout.lines().filter_map(|line| line.split_once('\0'));
    let at = lines.clone().next().map_or("", |(refs, _)| refs);
    let Some(branch) = at.split(", ").find_map(|name| name.strip_prefix("HEAD -> refs/heads/")) else {
        return Ok((format!("no branch, but {at:?}: {}", log.told()), None));
    };
    let is_main = |refs: &str| refs.split(", ").any(|name| name == "refs/heads/main");
    let mut commits: Vec<String> =
        lines.by_ref().map_while(|(refs, subject)| (!is_main(refs)).then(|| subject.to_owned())).collect();
    commits.reverse();
    let from_main = log.stdout.lines().any(|line| line.split_once('\0').is_some_and(|(refs, _)| is_main(refs)));
    Ok((branch.to_owned(), from_main.then_some(commits)))
}

/// `notice:` is what a fresh repository gets told about branches without commits.
fn is_quiet(said: &Said) -> bool {
    said.stdout.lines().chain(said.stderr.lines()).all(|line| line.is_empty() || line.starts_with("notice:"))
}
