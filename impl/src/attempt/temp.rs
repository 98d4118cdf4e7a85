//! The private temp folder: made with its parts before the launch, removed when the sandbox is dead.
//! Removal works by descriptor, opens what the step closed to it, takes any depth, and must never follow
//! a link out of the folder.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

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
    /// flock(2) on the folder as long as this process lives.
    _lock: Flock<File>,
}

/// Six letters or digits follow. A folder of the user's can be called like this as well: see `leftover`.
pub const PREFIX: &str = "kusaw-private-";

/// Folders that are made and swept by another before one is held.
const TURNS: u32 = 16;

/// What removal calls a folder that it has found further down; a number follows.
pub const MOVED: &str = ".kusaw-removed-";

impl TempFolder {
    /// Makes the folder below the system's temp folder, a short path, entered by its owner only. What is in it besides the
    /// home and /tmp, `furnish` makes.
    pub fn make() -> io::Result<TempFolder> {
        let private = Permissions::from_mode(0o700);
        let above = std::env::temp_dir().canonicalize()?;
        let (root, lock) = some_turns(|| {
            let root = tempfile::Builder::new().prefix(PREFIX).permissions(private.clone()).tempdir_in(&above)?.keep();
            Ok(hold(&root)?.map(|lock| (root, lock)))
        })?;
        let folder = TempFolder { temp: Temp { root }, _lock: lock };
        [folder.temp.home(), folder.temp.slash_tmp()].iter().try_for_each(|part| private_folder(part))?;
        Ok(folder)
    }

    /// Makes what the step needs in it and bubblewrap does not: there is time for that while bubblewrap starts.
    pub fn furnish(&self) -> io::Result<()> {
        for inner in [self.temp.tmpdir(), self.temp.cache(), self.temp.runtime()] {
            private_folder(&self.temp.on_host(&inner))?;
        }
        std::fs::set_permissions(self.temp.slash_tmp(), Permissions::from_mode(0o1777))?;
        Ok(())
    }
}

fn private_folder(at: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(at)
}

/// Until there is one: whoever sweeps can come between making and locking, but not time after time.
fn some_turns<T>(mut make: impl FnMut() -> io::Result<Option<T>>) -> io::Result<T> {
    for _ in 0..TURNS {
        if let Some(made) = make()? {
            return Ok(made);
        }
    }
    Err(io::Error::other(format!("made {TURNS} times, and each time something removed it before it was locked")))
}

/// Locks a folder that has just been made; none when it was swept before that.
pub fn hold(root: &Path) -> io::Result<Option<Flock<File>>> {
    let opened = match File::open(root) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let lock = Flock::lock(opened, FlockArg::LockExclusive).map_err(|(_, e)| e)?;
    let held = lock.metadata()?;
    let there = root.symlink_metadata().is_ok_and(|meta| (meta.dev(), meta.ino()) == (held.dev(), held.ino()));
    Ok(there.then_some(lock))
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if let Err(e) = remove(&self.temp.root) {
            stderr::warn(format!("{} could not be removed: {e}", self.temp.root.display()));
        }
    }
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
    Ok(unlinkat(&parent, name, UnlinkatFlags::RemoveDir)?)
}

/// Unlinks what is no folder in `folder` and moves its folders up into `top`, to wait there.
fn empty(top: &OwnedFd, folder: &OwnedFd, waiting: &mut Vec<Vec<u8>>, moved: &mut u64) -> io::Result<()> {
    let mut list = Dir::openat(folder, ".", OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
    let names: Vec<Vec<u8>> = list
        .iter()
        .filter_map(|entry| entry.ok().map(|e| e.file_name().to_bytes().to_vec()))
        .filter(|name| name != b"." && name != b"..")
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
            let free = format!("{MOVED}{moved}").into_bytes();
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
    fn a_folder_that_is_removed_each_time_it_is_made_is_an_error() {
        let mut turns = 0;
        let never = some_turns(|| {
            turns += 1;
            Ok(None::<()>)
        });
        assert!(never.unwrap_err().to_string().starts_with("made 16 times"));
        assert_eq!((turns, some_turns(|| Ok(Some(3))).unwrap()), (16, 3));
    }

    /// Whoever is swept between making its folder and locking it makes another.
    #[test]
    fn many_at_once_sweep_nothing_that_is_used() {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..40 {
                        let folder = TempFolder::make().unwrap();
                        folder.furnish().unwrap();
                        crate::attempt::leftover::sweep();
                        assert!(folder.temp.on_host(&folder.temp.tmpdir()).is_dir());
                    }
                });
            }
        });
    }

    #[test]
    fn nothing_a_step_does_keeps_the_folder_or_leads_out_of_it() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("precious"), "x").unwrap();
        let folder = TempFolder::make().unwrap();
        folder.furnish().unwrap();
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
