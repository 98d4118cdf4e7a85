//! Opening and changing by name in a folder that is held: never through a link, also where its step has closed it.

use std::ffi::CStr;
use std::fs::Permissions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;

use nix::dir::Type;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, fchmod, fstat, fstatat};

/// The folder `name` in `parent`, never a link, readable and searchable for its owner.
pub fn open_folder<P: ?Sized + nix::NixPath>(parent: impl AsFd, name: &P) -> io::Result<(OwnedFd, FileStat)> {
    let flags = OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let folder = match openat(parent.as_fd(), name, flags | OFlag::O_RDONLY, Mode::empty()) {
        Err(Errno::EACCES) => {
            let handle = openat(parent.as_fd(), name, flags | OFlag::O_PATH, Mode::empty())?;
            set_mode(&handle, fstat(&handle)?.st_mode & 0o7777 | 0o700)?;
            openat(handle.as_fd(), ".", flags | OFlag::O_RDONLY, Mode::empty())?
        }
        folder => folder?,
    };
    let stat = fstat(&folder)?;
    if stat.st_mode & 0o500 != 0o500 {
        open_up(folder.as_fd())?;
    }
    Ok((folder, stat))
}

/// Everything in a folder is its owner's to do.
pub fn open_up(folder: BorrowedFd) -> io::Result<()> {
    let mode = fstat(folder)?.st_mode & 0o7777 | 0o700;
    Ok(fchmod(folder, Mode::from_bits_truncate(mode))?)
}

/// The mode of what a handle (O_PATH) holds, which must be no link.
pub fn set_mode(handle: &OwnedFd, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(format!("/proc/self/fd/{}", handle.as_raw_fd()), Permissions::from_mode(mode))
}

/// Not every file system says it with the name.
pub fn kind_of(folder: BorrowedFd, name: &CStr, kind: Option<Type>) -> io::Result<Type> {
    if let Some(kind) = kind {
        return Ok(kind);
    }
    let mode = fstatat(folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?.st_mode;
    Ok(match mode & libc::S_IFMT {
        libc::S_IFDIR => Type::Directory,
        libc::S_IFLNK => Type::Symlink,
        libc::S_IFIFO => Type::Fifo,
        libc::S_IFSOCK => Type::Socket,
        libc::S_IFBLK => Type::BlockDevice,
        libc::S_IFCHR => Type::CharacterDevice,
        _ => Type::File,
    })
}
