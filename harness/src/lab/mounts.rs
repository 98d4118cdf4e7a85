//! Mounts of the lab's root.
#![allow(unsafe_code)] // mount_setattr, with its SAFETY sentence

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::mount::{MsFlags, mount};

/// Binds `from`, with all that is mounted below it.
pub fn bind(from: &Path, to: &Path) -> io::Result<()> {
    mount(Some(from), to, None::<&str>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&str>)
        .map_err(|e| io::Error::other(format!("bind {}: {e}", from.display())))
}

/// Makes a bind mount and all below it read-only, without setuid and without devices (mount_setattr(2), Linux 5.12): the
/// lab's user may be the owner of what lies there on the host.
pub fn read_only(at: &Path) -> io::Result<()> {
    let path = CString::new(at.as_os_str().as_bytes())?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path and the attributes live until the call returns, and the size is that of the attributes.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result == 0 {
        return Ok(());
    }
    let e = io::Error::last_os_error();
    Err(io::Error::new(e.kind(), format!("read-only {}: {e} (Linux 5.12 is needed)", at.display())))
}

/// A tmpfs without setuid and devices.
pub fn tmpfs(at: &Path, options: &str) -> io::Result<()> {
    mount(Some("tmpfs"), at, Some("tmpfs"), MsFlags::MS_NOSUID | MsFlags::MS_NODEV, Some(options))
        .map_err(|e| io::Error::other(format!("tmpfs on {}: {e}", at.display())))
}

/// A tmpfs without devices, in which set-user-ID bits count, once [`sealed`](seal) read-only.
pub fn tmpfs_set_user_id(at: &Path) -> io::Result<()> {
    mount(Some("tmpfs"), at, Some("tmpfs"), MsFlags::MS_NODEV, Some("mode=0755"))
        .map_err(|e| io::Error::other(format!("tmpfs on {}: {e}", at.display())))
}

/// Makes that tmpfs read-only.
pub fn seal(at: &Path) -> io::Result<()> {
    let flags = MsFlags::MS_REMOUNT | MsFlags::MS_NODEV | MsFlags::MS_RDONLY;
    mount(None::<&str>, at, None::<&str>, flags, None::<&str>)
        .map_err(|e| io::Error::other(format!("read-only {}: {e}", at.display())))
}

/// The flags of a mount that holds no programs.
pub fn hardened() -> MsFlags {
    MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC
}
