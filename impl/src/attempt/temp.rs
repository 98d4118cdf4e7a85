//! The private temp folder: made with its parts before the launch, removed when the sandbox is dead.
//! Removal works by descriptor, opens what the step closed to it, takes any depth, and must never follow
//! a link out of the folder.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::time::Duration;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag, openat, renameat};
use nix::sys::stat::{Mode, fchmod, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::reach::Temp;
use crate::stderr;

/// Owns the folder on the host; dropping it removes it.
#[derive(Debug)]
pub struct TempFolder {
    /// Its parts.
    pub temp: Temp,
    /// Locked as long as this process lives: a folder without a holder was left by one that was killed.
    _lock: Flock<File>,
}

const PREFIX: &str = "kusaw-";

/// Only a folder with this file, or the next, is ever taken for one of ours.
const LOCK: &str = "kusaw-private-temp.lock";

/// Its name until it is locked.
const LOCK_NEW: &str = "kusaw-private-temp.new";

/// Longer than it takes from making the folder to locking it.
const UNLOCKED: Duration = Duration::from_secs(60);

impl TempFolder {
    /// Makes the folder below the system's temp folder, a short path, entered by its owner only.
    pub fn make() -> io::Result<TempFolder> {
        sweep(&std::env::temp_dir());
        let private = Permissions::from_mode(0o700);
        let made = tempfile::Builder::new().prefix(PREFIX).permissions(private).tempdir()?;
        let root = made.path().canonicalize()?;
        // Locked before it has its name: nobody can find it unheld.
        let lock = lock(&File::create_new(root.join(LOCK_NEW))?)?;
        std::fs::rename(root.join(LOCK_NEW), root.join(LOCK))?;
        let folder = TempFolder { temp: Temp { root }, _lock: lock };
        let _ = made.keep();
        let temp = &folder.temp;
        let inner = [temp.tmpdir(), temp.cache(), temp.runtime()].map(|p| temp.on_host(&p));
        for part in [temp.home()].iter().chain(&inner) {
            DirBuilder::new().mode(0o700).recursive(true).create(part)?;
        }
        std::fs::set_permissions(temp.slash_tmp(), Permissions::from_mode(0o1777))?;
        Ok(folder)
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if let Err(e) = remove(&self.temp.root) {
            stderr::warn(format!("{} could not be removed: {e}", self.temp.root.display()));
        }
    }
}

fn lock(file: &File) -> io::Result<Flock<File>> {
    Flock::lock(file.try_clone()?, FlockArg::LockExclusiveNonblock).map_err(|(_, e)| e.into())
}

/// Removes what killed ones left behind. What cannot be removed, or is not this user's, is left alone.
fn sweep(folder: &Path) {
    let Ok(list) = std::fs::read_dir(folder) else { return };
    let ours = list.flatten().filter(|e| e.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()));
    for entry in ours {
        let Ok(meta) = entry.metadata() else {
            continue;
        };
        let own = meta.is_dir() && meta.uid() == nix::unistd::geteuid().as_raw();
        let old = meta.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > UNLOCKED));
        if own && is_left(&entry.path()) {
            let _ = remove(&entry.path());
        } else if own && old && std::fs::remove_file(entry.path().join(LOCK_NEW)).is_ok() {
            // Killed before the lock had its name: then there is nothing else in it, or this fails.
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

fn is_left(folder: &Path) -> bool {
    let mut open = File::options();
    open.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    open.open(folder.join(LOCK)).is_ok_and(|file| lock(&file).is_ok())
}

/// Removes `root` and all below it. Every folder found further down is first moved up into `root`, so no path is
/// ever longer than one name and a tree of any depth needs neither stack nor descriptors.
pub fn remove(root: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (root.parent(), root.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = nix::fcntl::open(parent, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_RDONLY, Mode::empty())?;
    let top = open_folder(&parent, name.as_bytes())?;
    let mut moved = 0u64;
    let mut waiting: Vec<Vec<u8>> = Vec::new();
    empty(&top, &top, &mut waiting, &mut moved)?;
    while let Some(name) = waiting.pop() {
        let folder = open_folder(&top, &name)?;
        empty(&top, &folder, &mut waiting, &mut moved)?;
        unlinkat(&top, &name[..], UnlinkatFlags::RemoveDir)?;
    }
    // The lock last: whoever finds half a removal can go on with it.
    let _ = unlinkat(&top, LOCK, UnlinkatFlags::NoRemoveDir);
    Ok(unlinkat(&parent, name, UnlinkatFlags::RemoveDir)?)
}

/// Unlinks what is no folder in `folder` and moves its folders up into `top`, to wait there.
fn empty(top: &OwnedFd, folder: &OwnedFd, waiting: &mut Vec<Vec<u8>>, moved: &mut u64) -> io::Result<()> {
    let mut list = Dir::openat(folder, ".", OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
    let names: Vec<Vec<u8>> = list
        .iter()
        .filter_map(|entry| entry.ok().map(|e| e.file_name().to_bytes().to_vec()))
        .filter(|name| name != b"." && name != b".." && !(std::ptr::eq(top, folder) && name == LOCK.as_bytes()))
        .collect();
    for name in names {
        match unlinkat(folder, &name[..], UnlinkatFlags::NoRemoveDir) {
            Ok(()) | Err(Errno::ENOENT) => continue,
            Err(Errno::EISDIR | Errno::EPERM) => {}
            Err(e) => return Err(e.into()),
        }
        if unlinkat(folder, &name[..], UnlinkatFlags::RemoveDir).is_ok() {
            continue;
        }
        if std::ptr::eq(top, folder) {
            waiting.push(name);
            continue;
        }
        // A folder can only be moved elsewhere when it is writable itself.
        drop(open_folder(folder, &name)?);
        let free = loop {
            *moved += 1;
            let free = format!(".kusaw-removed-{moved}").into_bytes();
            let plain = nix::fcntl::RenameFlags::RENAME_NOREPLACE;
            match nix::fcntl::renameat2(folder, &name[..], top, &free[..], plain) {
                Ok(()) => break free,
                Err(Errno::EEXIST) => {}
                Err(Errno::EINVAL | Errno::ENOSYS) => {
                    renameat(folder, &name[..], top, &free[..])?;
                    break free;
                }
                Err(e) => return Err(e.into()),
            }
        };
        waiting.push(free);
    }
    Ok(())
}

/// The folder `name` in `parent`, made readable and writable for its owner if it is not; never a link.
fn open_folder(parent: &OwnedFd, name: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    match openat(parent.as_fd(), name, flags | OFlag::O_RDONLY, Mode::empty()) {
        Ok(folder) => {
            let open = Mode::S_IRWXU;
            if fstat(&folder)?.st_mode & open.bits() != open.bits() {
                fchmod(&folder, open)?;
            }
            Ok(folder)
        }
        Err(Errno::EACCES) => {
            let handle = openat(parent.as_fd(), name, flags | OFlag::O_PATH, Mode::empty())?;
            let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
            std::fs::set_permissions(&path, Permissions::from_mode(0o700))?;
            Ok(openat(handle.as_fd(), ".", flags | OFlag::O_RDONLY, Mode::empty())?)
        }
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_folder_is_left_when_nobody_holds_its_lock() {
        let folder = TempFolder::make().unwrap();
        assert!(!is_left(&folder.temp.root), "held by this process");
        let other = tempfile::tempdir().unwrap();
        assert!(!is_left(other.path()), "not one of ours");
        fs::write(other.path().join(LOCK), "").unwrap();
        assert!(is_left(other.path()));
    }

    #[test]
    fn only_what_was_ours_is_swept() {
        let folder = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * UNLOCKED;
        for (name, file) in
            [("killed", Some(LOCK)), ("killed-early", Some(LOCK_NEW)), ("other", Some("x")), ("empty", None)]
        {
            let path = folder.path().join(format!("{PREFIX}{name}"));
            fs::create_dir(&path).unwrap();
            file.into_iter().for_each(|file| fs::write(path.join(file), "").unwrap());
            File::open(&path).unwrap().set_modified(old).unwrap();
        }
        sweep(folder.path());
        let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["kusaw-empty", "kusaw-other"]);
    }

    #[test]
    fn nothing_a_step_does_keeps_the_folder_or_leads_out_of_it() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("precious"), "x").unwrap();
        let folder = TempFolder::make().unwrap();
        let root = folder.temp.root.clone();
        let tmp = folder.temp.on_host(&folder.temp.tmpdir());
        symlink(outside.path(), tmp.join("out")).unwrap();
        symlink("/", folder.temp.home().join("root")).unwrap();
        fs::create_dir_all(tmp.join("closed/inner")).unwrap();
        fs::write(tmp.join("closed/inner/file"), "x").unwrap();
        symlink(outside.path(), tmp.join("closed/inner/out")).unwrap();
        for (path, mode) in [("closed/inner", 0o000), ("closed", 0o500)] {
            fs::set_permissions(tmp.join(path), Permissions::from_mode(mode)).unwrap();
        }
        let mut deep = fs::File::open(&tmp).map(OwnedFd::from).unwrap();
        for _ in 0..3_000 {
            nix::sys::stat::mkdirat(&deep, "d", Mode::S_IRWXU).unwrap();
            deep = openat(&deep, "d", OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty()).unwrap();
        }
        drop((folder, deep));
        assert!(!root.exists());
        assert!(outside.path().join("precious").exists());
    }
}
