//! The worktree's index after its branch has moved: that of the new commit, with what git knows of unchanged files. The step's
//! own index is never read. No file of the worktree is touched or looked at, and no filter runs.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::code::{Code, Fault};
use crate::git::command::Git;
use crate::git::record::Record;
use crate::git::store::Store;

/// Whether the worktree's own folder still is: once git has pruned it, another worktree may have its name. Its `gitdir` names the
/// worktree's `.git`, from where it is or from there: gitrepository-layout(5).
pub fn is_own(record: &Record) -> bool {
    let Ok(text) = fs::read(record.admin.join("gitdir")) else { return false };
    let named = text.strip_suffix(b"\n").unwrap_or(&text);
    let named = record.admin.join(OsStr::from_bytes(named));
    let of = record.worktree.join(".git");
    let above = |path: &Path| path.parent().and_then(|above| above.canonicalize().ok());
    named == of || named.file_name() == of.file_name() && above(&named).is_some_and(|is| Some(is) == above(&of))
}

/// Makes the index of `tip`, elsewhere, and puts it in place in one step: killed in between, git's lock is not left behind.
///
/// # Errors
/// When git or a file fails. A worktree that is gone has no index, and of somebody else's it is left alone.
pub fn rebuild(store: &Store, record: &Record, tip: &str) -> Result<(), Fault> {
    let place = record.admin.join("index");
    if !place.is_file() || !record.worktree.is_dir() || !is_own(record) {
        return Ok(());
    }
    let (made, nothing) = (store.import().join("index"), store.import().join("nothing"));
    let written = fs::copy(&place, &made).and_then(|_| fs::create_dir_all(&nothing));
    let written = written.and_then(|()| fs::metadata(&place)?.modified()).map_err(Fault::failed(made.display()))?;
    // The worktree is one without files: git reads what is as new as the index, and the user's filters with it.
    let git = Git::of(&record.admin).with("GIT_INDEX_FILE", &made).with("GIT_WORK_TREE", &nothing);
    // Without -u: only the index. A split index would lie in the worktree's folder.
    git.run(["-c", "core.splitIndex=false", "read-tree", "--reset", tip])
        .map_err(|said| Fault::new(Code::Failed, format!("read-tree: {said}")))?;
    let beside = beside(record);
    // As git has it: an index is not synced, it can be made anew. It is as old as the one before: what was as new as that one is
    // compared by the user's next git.
    fs::copy(&made, &beside)
        .and_then(|_| File::options().write(true).open(&beside)?.set_modified(written))
        .and_then(|()| fs::rename(&beside, &place))
        .map_err(Fault::failed(place.display()))
}

/// The new index, before it takes the old one's place.
pub fn beside(record: &Record) -> PathBuf {
    record.admin.join("index.kusaw")
}
