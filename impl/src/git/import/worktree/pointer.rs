//! Where a worktree is now, and the file by which git knows it. Inside it is a mount point.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::git::import::code::{Code, Fault};
use crate::git::record::Record;
use crate::git::store::Store;

/// Longest file `.git`, in bytes.
const LONGEST: u64 = 8192;

/// The worktree, as a real path: beside the store, where it was made, also when the whole factory was moved; else where git
/// knows it, which `git worktree move` changes; else where it was. Elsewhere than beside the store it must lead to its git folder.
pub fn place(store: &Store, record: &Record) -> Option<PathBuf> {
    let folder = |at: PathBuf| at.canonicalize().ok().filter(|at| at.is_dir());
    let is_ours = |at: &PathBuf| leads(at, &record.admin).is_ok();
    let known = || {
        let text = std::fs::read(record.admin.join("gitdir")).ok()?;
        // Relative to the folder with extensions.relativeWorktrees (git 2.48).
        let file = record.admin.join(Path::new(std::ffi::OsStr::from_bytes(text.trim_ascii_end())));
        folder(file.parent()?.to_path_buf()).filter(is_ours)
    };
    let was = || folder(record.worktree.clone()).filter(is_ours);
    folder(store.worktree()).or_else(known).or_else(was)
}

/// Whether the worktree's `.git` is a file that leads to `admin`.
///
/// # Errors
/// When not.
pub fn leads(worktree: &Path, admin: &Path) -> Result<(), Fault> {
    let at = worktree.join(".git");
    let wrong = |what: String| Fault::new(Code::GitFile, format!("{}: {what}", at.display()));
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(&at).map_err(|e| wrong(e.to_string()))?;
    let mut text = Vec::new();
    let is_file = file.metadata().is_ok_and(|meta| meta.is_file());
    if !is_file || file.take(LONGEST).read_to_end(&mut text).is_err() {
        return Err(wrong("no file".into()));
    }
    let named = text.strip_prefix(b"gitdir: ").map(|rest| rest.trim_ascii_end());
    let leads = named.map(|named| worktree.join(Path::new(std::ffi::OsStr::from_bytes(named))));
    // The admin folder may be gone: `git worktree prune`.
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| PathBuf::from(path));
    match leads.is_some_and(|leads| real(&leads) == real(admin)) {
        true => Ok(()),
        false => Err(wrong(format!("it does not lead to {}", admin.display()))),
    }
}
