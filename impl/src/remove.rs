//! Removal of a folder that a step could write. It works by descriptor, opens what the step closed to it, takes any depth, and
//! must never follow a link out of the folder.

use std::fs::Permissions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, renameat};
use nix::sys::stat::{Mode, fchmod, fstat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// What removal calls a folder that it has found further down; a number follows.
pub const MOVED: &str = ".kusaw-removed-";

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

/// For whoever wants something to be gone: it may be already.
pub fn absent_is_fine(e: io::Error) -> io::Result<()> {
    if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) }
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
    fn nothing_a_step_does_keeps_the_folder_or_leads_out_of_it() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("precious"), "x").unwrap();
        let above = tempfile::tempdir().unwrap();
        let root = above.path().join("root");
        let tmp = root.join("tmp");
        fs::create_dir_all(&tmp).unwrap();
        symlink(outside.path(), tmp.join("out")).unwrap();
        symlink("/", root.join("link")).unwrap();
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
        drop(deep);
        remove(&root).unwrap();
        assert!(!root.exists());
        assert!(outside.path().join("precious").exists());
    }
}
