//! The file by which git knows a worktree. Inside it is a mount point.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::git::import::code::{Code, Fault};

/// Longest file `.git`, in bytes.
const LONGEST: u64 = 8192;

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
