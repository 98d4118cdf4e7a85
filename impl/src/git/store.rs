//! The private store of one worktree: what its step has as the repository's git folder, beside the attempt's records. Inside
//! it, what `git()` and `admin()` hold is the step's: outside a sandbox no git and nothing that follows links may go there.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::remove::{absent_is_fine, remove};

/// Its folder, on the host. The step can read all of it and write `git()` and `admin()`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    /// `ATTEMPT/git/REPO`.
    pub root: PathBuf,
}

impl Store {
    /// That of a repo, in the attempt's folder.
    pub fn of(attempt: &Path, repo: &str) -> Store {
        Store { root: folder(attempt).join(repo) }
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

    /// The record of it: see [`super::record`].
    pub fn record(&self) -> PathBuf {
        self.root.join("record.json")
    }

    /// What was moved out of the worktree, because no git may find it there: beside the store, and kept.
    pub fn quarantine(&self) -> PathBuf {
        self.beside("quarantine")
    }

    /// The worktree's place in the same attempt.
    pub fn worktree(&self) -> PathBuf {
        self.beside("worktrees")
    }

    fn beside(&self, folder: &str) -> PathBuf {
        let attempt = self.root.ancestors().nth(2).unwrap_or(&self.root);
        attempt.join(folder).join(self.root.file_name().unwrap_or_default())
    }

    /// It has been imported: nobody needs it any more. The record goes first, so that nobody imports what is half removed.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn done(&self) -> io::Result<()> {
        fs::remove_file(self.record()).or_else(absent_is_fine)?;
        remove(&self.root).or_else(absent_is_fine)
    }

    /// Counts one more try to import it; the value says how many there were. What cannot be counted counts as enough.
    pub fn tries(&self) -> u64 {
        let count = || -> io::Result<u64> {
            let mut tries = File::options().append(true).create(true).open(self.root.join("tries"))?;
            tries.write_all(b".")?;
            Ok(tries.metadata()?.len())
        };
        count().unwrap_or(u64::MAX)
    }

    /// It was rejected: it stays for its user, and nobody tries to import it again.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn keep(&self) -> io::Result<()> {
        fs::rename(self.record(), self.root.join(KEPT))
    }
}

/// The record of what was rejected.
const KEPT: &str = "rejected.json";

/// The folder of all stores of an attempt.
pub fn folder(attempt: &Path) -> PathBuf {
    attempt.join("git")
}

/// Removes it, if there is nothing in it that somebody may still want: a store with a record, or one that was rejected. Only
/// whoever holds the attempt may do that.
pub fn tidy(attempt: &Path) {
    let folder = folder(attempt);
    let stores = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let stores: Vec<PathBuf> = stores.filter(|path| path.is_dir()).collect();
    let is_wanted = |root: &PathBuf| Store { root: root.clone() }.record().exists() || root.join(KEPT).exists();
    // What cannot be removed is left; the next one tries again.
    stores.iter().filter(|root| !is_wanted(root)).for_each(|root| drop(remove(root)));
    if !stores.iter().any(|root| root.exists()) {
        let _ = remove(&folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_done_goes_and_what_was_rejected_stays() {
        let attempt = tempfile::tempdir().unwrap();
        let made = |repo: &str| {
            let store = Store::of(attempt.path(), repo);
            fs::create_dir_all(store.git()).unwrap();
            fs::write(store.record(), "{}").unwrap();
            store
        };
        assert_eq!([made("tried").tries(), Store::of(attempt.path(), "tried").tries()], [1, 2]);
        Store::of(attempt.path(), "tried").done().unwrap();
        let (done, kept, unfinished) = (made("done"), made("kept"), made("unfinished"));
        done.done().unwrap();
        done.done().unwrap();
        kept.keep().unwrap();
        fs::create_dir(Store::of(attempt.path(), "early").root).unwrap(); // killed before the record was written
        tidy(attempt.path());
        let there = |repo: &str| Store::of(attempt.path(), repo).root.exists();
        assert_eq!(["done", "kept", "unfinished", "early"].map(there), [false, true, true, false]);
        unfinished.done().unwrap();
        fs::remove_dir_all(&kept.root).unwrap();
        tidy(attempt.path());
        assert!(!folder(attempt.path()).exists());
        assert_eq!(kept.quarantine(), attempt.path().join("quarantine/kept"));
    }
}
