//! The private temp folder: made with its parts before the launch, removed when the sandbox is dead.
//! Removal works by descriptor, opens what the step closed to it, takes any depth, and must never follow
//! a link out of the folder.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag, openat, renameat};
use nix::sys::stat::{Mode, fchmod, fstat};
use nix::sys::statfs::{FUSE_SUPER_MAGIC, FsType, NFS_SUPER_MAGIC, SMB_SUPER_MAGIC, statfs};
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

/// Six letters or digits follow. A folder of the user's can be called like this as well: see `is_ours`.
const PREFIX: &str = "kusaw-private-";

/// Folders that are made and swept by another before one is held.
const TURNS: u32 = 16;

/// What removal calls a folder that it has found further down; a number follows.
const MOVED: &str = ".kusaw-removed-";

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

    /// Makes what the step needs in it and bubblewrap does not, and removes what killed ones left behind: there is time for
    /// both while bubblewrap starts.
    pub fn furnish(&self) -> io::Result<()> {
        for inner in [self.temp.tmpdir(), self.temp.cache(), self.temp.runtime()] {
            private_folder(&self.temp.on_host(&inner))?;
        }
        std::fs::set_permissions(self.temp.slash_tmp(), Permissions::from_mode(0o1777))?;
        sweep(&std::env::temp_dir());
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
fn hold(root: &Path) -> io::Result<Option<Flock<File>>> {
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

/// What cannot be removed, or was not made here, is left alone.
fn sweep(folder: &Path) {
    if !statfs(folder).is_ok_and(|fs| locks_are_seen_by_all(fs.filesystem_type())) {
        return;
    }
    let Ok(list) = std::fs::read_dir(folder) else { return };
    for entry in list.flatten().filter(|entry| is_name(entry.file_name().as_encoded_bytes())) {
        if let Some(held) = held_by_nobody(&entry.path())
            && is_ours(&held, &entry.path()).unwrap_or(false)
        {
            let _ = remove(&entry.path());
        }
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
        let is_moved = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(MOVED.as_bytes()));
        if !is_moved && path != parts.home() && path != parts.slash_tmp() {
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
        make("kusaw-private-early0", "", 0o700); // killed before it had a part
        let held = hold(&make("kusaw-private-Held00", "tmp", 0o700)).unwrap();
        // A user's own, by its name, by what is in it, and by who can enter it.
        make("kusaw-private-notes-of-mine", "home", 0o700);
        make("kusaw-private-short", "home", 0o700);
        make("other0", "home", 0o700);
        fs::write(make("kusaw-private-backup", "home", 0o700).join("thesis"), "years of work").unwrap();
        make("kusaw-private-photos", "home", 0o755);
        fs::write(folder.path().join("kusaw-private-a-file"), "").unwrap();
        sweep(folder.path());
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
