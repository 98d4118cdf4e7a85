//! A descriptor that a system call makes.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_long};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use nix::errno::Errno;

/// What the call answered: -1, or the number of the descriptor.
///
/// # Safety
/// The descriptor is new, and nobody else has it.
pub unsafe fn made(answer: c_long) -> io::Result<OwnedFd> {
    let number = Errno::result(answer)? as c_int;
    // SAFETY: the caller's promise.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
