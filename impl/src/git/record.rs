//! What kusaw knows of one worktree of an attempt, written down before the step is executed. Import and recovery go by it
//! alone: nothing that the step could write says where anything is.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One worktree of an attempt. Every path is absolute and real.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Of this form.
    pub version: u32,
    /// The attempt's id.
    pub attempt: String,
    /// The repo's name in the settings.
    pub repo: String,
    /// What all branches of the attempt begin with: `refs/heads/kusaw/ID/`. Its own is `main` there.
    pub namespace: String,
    /// The commit that its branch was made at, in hex.
    pub base: String,
    /// The repository's common git folder.
    pub common: PathBuf,
    /// The worktree's own folder in there.
    pub admin: PathBuf,
    /// The worktree.
    pub worktree: PathBuf,
    /// The repository's object folder, and those that it borrows from, and so on.
    pub objects: Vec<PathBuf>,
    /// `sha1` or `sha256`: extensions.objectFormat.
    pub format: String,
    /// `files` or `reftable`: extensions.refStorage.
    pub refs: String,
    /// The public key whose owner signs what is imported: see [`super::key`].
    #[serde(default)]
    pub sign: Option<PathBuf>,
}

impl Record {
    /// The version of this form.
    pub const VERSION: u32 = 1;

    /// The full name of the attempt's own branch.
    pub fn branch(&self) -> String {
        format!("{}main", self.namespace)
    }
}
