//! The private store of one worktree: what its step has as the repository's git folder, beside the attempt's records. Inside
//! it, what `git()` and `admin()` hold is the step's: outside a sandbox no git and nothing that follows links may go there.

use std::path::{Path, PathBuf};

/// Its folder, on the host. The step can read all of it and write `git()` and `admin()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// `ATTEMPT/git/REPO`.
    pub root: PathBuf,
}

impl Store {
    /// That of a repo, in the attempt's folder.
    pub fn of(attempt: &Path, repo: &str) -> Store {
        Store { root: attempt.join("git").join(repo) }
    }

    /// What appears as the common git folder.
    pub fn git(&self) -> PathBuf {
        self.root.join("git")
    }

    /// What appears as the worktree's own folder in there.
    pub fn admin(&self) -> PathBuf {
        self.root.join("admin")
    }

    /// Files that are shown in there read-only.
    pub fn pinned(&self) -> PathBuf {
        self.root.join("pinned")
    }

    /// What the import needs for a while; the step never sees it in use.
    pub fn import(&self) -> PathBuf {
        self.root.join("import")
    }

    /// What was moved out of the worktree, because no git may find it there.
    pub fn quarantine(&self) -> PathBuf {
        self.root.join("quarantine")
    }

    /// The record of it: see [`super::record`].
    pub fn record(&self) -> PathBuf {
        self.root.join("record.json")
    }
}
