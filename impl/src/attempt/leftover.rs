//! Temp folders that a kusaw left which was killed. They are removed once a step is over, not before one: there is no telling
//! how much a step has left in them. Must never remove what a living kusaw holds, or what the user has made.

use std::fs::File;
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg};
use nix::sys::statfs::{FUSE_SUPER_MAGIC, FsType, NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, statfs};

use super::temp::{PREFIX, STATE};
use crate::process::signals::Signals;
use crate::reach::Temp;
use crate::remove::{MOVED, remove};

/// Between two looks at the signals.
const LOOK: Duration = Duration::from_millis(50);

/// Removes them from the system's temp folder. A signal that asks ends the wait for that, and the end of the process the
/// removal: the next one goes on with it.
pub fn sweep() {
    let left = left_in(&std::env::temp_dir());
    if left.is_empty() {
        return;
    }
    let Ok(signals) = Signals::take() else { return };
    let (done, ended) = channel::<()>();
    let remove = move || {
        left.iter().for_each(|folder| remove_if_left(folder));
        drop(done);
    };
    if thread::Builder::new().name("kusaw-sweep".into()).spawn(remove).is_err() {
        return;
    }
    while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        if matches!(signals.asked(), Ok(Some(_))) {
            return;
        }
    }
}

/// What is called as kusaw's are and held by nobody, where a lock tells.
fn left_in(folder: &Path) -> Vec<PathBuf> {
    if !statfs(folder).is_ok_and(|fs| locks_are_seen_by_all(fs.filesystem_type())) {
        return Vec::new();
    }
    let list = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = list.filter(|entry| is_name(entry.file_name().as_encoded_bytes())).map(|entry| entry.path());
    named.filter(|folder| held_by_nobody(folder).is_some()).collect()
}

/// What cannot be removed, or was not made by kusaw, is left alone.
fn remove_if_left(folder: &Path) {
    if let Some(held) = held_by_nobody(folder)
        && is_ours(&held, folder).unwrap_or(false)
    {
        let _ = remove(folder);
    }
}

/// Whether a kusaw of this user has made it: only its owner can enter it, and there is nothing in it but the parts, and what
/// a removal that was interrupted has moved up.
fn is_ours(held: &File, folder: &Path) -> io::Result<bool> {
    let meta = held.metadata()?;
    if meta.uid() != nix::unistd::geteuid().as_raw() || meta.mode() & 0o777 != 0o700 {
        return Ok(false);
    }
    let parts = Temp { root: folder.into() };
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let is_copy = name.strip_prefix(STATE.as_bytes()).is_some_and(|number| number.iter().all(u8::is_ascii_digit));
        if !name.starts_with(MOVED.as_bytes()) && !is_copy && path != parts.home() && path != parts.slash_tmp() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Not where another machine, or another kernel on this one, can have the folder too: flock(2) on a folder is local there,
/// and a living one would look left over. FUSE is also what virtiofs says it is.
fn locks_are_seen_by_all(filesystem: FsType) -> bool {
    // Those that statfs(2) and linux/magic.h have and nix has not.
    const CIFS: FsType = FsType(0xff53_4d42);
    const SMB2: FsType = FsType(0xfe53_4d42);
    const V9FS: FsType = FsType(0x0102_1997);
    ![NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, CIFS, SMB2, V9FS, FUSE_SUPER_MAGIC].contains(&filesystem)
}

fn is_name(name: &[u8]) -> bool {
    let rest = name.strip_prefix(PREFIX.as_bytes());
    rest.is_some_and(|rest| rest.len() == 6 && rest.iter().all(u8::is_ascii_alphanumeric))
}

/// Its lock, if nobody has it.
fn held_by_nobody(folder: &Path) -> Option<Flock<File>> {
    let mut open = File::options();
    open.read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW);
    Flock::lock(open.open(folder).ok()?, FlockArg::LockExclusiveNonblock).ok()
}

#[cfg(test)]
mod tests {
    use super::super::temp::hold;
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn only_what_was_ours_and_is_held_by_nobody_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, part: &str, mode| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.join(part)).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            path
        };
        make("kusaw-private-killed", "home", 0o700);
        make("kusaw-private-killed", "tmp/part", 0o700);
        make("kusaw-private-killed", ".kusaw-removed-3", 0o700);
        fs::write(folder.path().join("kusaw-private-killed/state-0"), "{}").unwrap();
        make("kusaw-private-early0", "", 0o700); // killed before it had a part
        let held = hold(&make("kusaw-private-Held00", "tmp", 0o700)).unwrap();
        // A user's own, by its name, by what is in it, and by who can enter it.
        make("kusaw-private-notes-of-mine", "home", 0o700);
        make("kusaw-private-short", "home", 0o700);
        make("other0", "home", 0o700);
        fs::write(make("kusaw-private-backup", "home", 0o700).join("thesis"), "years of work").unwrap();
        make("kusaw-private-photos", "home", 0o755);
        fs::write(folder.path().join("kusaw-private-a-file"), "").unwrap();
        left_in(folder.path()).iter().for_each(|folder| remove_if_left(folder));
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        let kept =
            ["Held00", "a-file", "backup", "notes-of-mine", "photos", "short"].map(|name| format!("{PREFIX}{name}"));
        let kept: Vec<_> = kept.into_iter().chain(["other0".into()]).map(std::ffi::OsString::from).collect();
        assert_eq!(left, kept);
        assert_eq!(fs::read(folder.path().join("kusaw-private-backup/thesis")).unwrap(), b"years of work");
        drop(held);
    }

    #[test]
    fn nothing_is_swept_where_another_machine_can_hold_it() {
        // nfs, smb, cifs, smb2, 9p, fuse; then ext, xfs, btrfs, tmpfs, overlayfs.
        let shared = [0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x0102_1997, 0x6573_5546];
        let local = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630];
        assert!(shared.into_iter().all(|magic| !locks_are_seen_by_all(FsType(magic))));
        assert!(local.into_iter().all(|magic| locks_are_seen_by_all(FsType(magic))));
    }
}
