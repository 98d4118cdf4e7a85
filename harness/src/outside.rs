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

/// The branch that the worktree is on, and what it has more than main; no commits if main is not its past.
async fn commits(worktree: &Path) -> Result<(String, Option<Vec<String>>), String> {
    let log = git(worktree, &["log", "--first-parent", "--decorate=full", FORMAT]).await?;
    match (branch(&log.stdout), since_main(&log.stdout)) {
        (Some(branch), commits) => Ok((branch.to_owned(), commits)),
        (None, _) => Ok((format!("no branch: {}", log.told()), None)),
    }
}

/// The names that point to a commit, as git-log(1) tells them, and its subject.
const FORMAT: &str = "--format=%D%x00%s";

fn branch(log: &str) -> Option<&str> {
    let (names, _) = log.lines().next()?.split_once('\0')?;
    names.split(", ").find_map(|name| name.strip_prefix("HEAD -> refs/heads/"))
}

/// What is newer than main, oldest first.
fn since_main(log: &str) -> Option<Vec<String>> {
    let mut commits = Vec::new();
    for (names, subject) in log.lines().filter_map(|line| line.split_once('\0')) {
        if names.split(", ").any(|name| name.trim_start_matches("HEAD -> ") == "refs/heads/main") {
            commits.reverse();
            return Some(commits);
        }
        commits.push(subject.to_owned());
    }
    None
}

/// `notice:` is what a fresh repository gets told about branches without commits.
fn is_quiet(said: &Said) -> bool {
    said.stdout.lines().chain(said.stderr.lines()).all(|line| line.is_empty() || line.starts_with("notice:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_those_since_main_and_there_must_be_one() {
        let log = "HEAD -> refs/heads/a/b, refs/tags/t\0Two\n\0One\nrefs/heads/feat, refs/heads/main\0Begin\n\0Older\n";
        assert_eq!(branch(log), Some("a/b"));
        assert_eq!(since_main(log), Some(vec!["One".to_owned(), "Two".to_owned()]));
        assert_eq!(since_main("HEAD -> refs/heads/main\0Begin\n"), Some(Vec::new()));
        assert_eq!(since_main("HEAD -> refs/heads/a\0refs/heads/main\n"), None);
        assert_eq!(branch("HEAD, refs/heads/a\0Two\n"), None);
    }
}
