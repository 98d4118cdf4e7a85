//! A descriptor that becomes readable when a child has ended. Only for children that are not reaped yet:
//! afterwards the number could be another process.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// pidfd_open(2), Linux 5.3.
pub fn open(pid: libc::pid_t) -> io::Result<OwnedFd> {
    // SAFETY: a raw system call with plain numbers; the result is a new descriptor or -1.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) } as RawFd;
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: just made by the kernel, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
