//! A program of the host that is started apart from the user's terminal: it cannot ask there, be stopped for trying, or get the
//! keys that end others; and it does not outlive a kusaw that is killed.
#![allow(unsafe_code)]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Has it started as the leader of a session and a process group of its own, with the thread's death as its own (prctl(2),
/// PR_SET_PDEATHSIG): only for the main thread.
pub fn apart(command: &mut Command) -> &mut Command {
    let alone = || {
        nix::unistd::setsid()?;
        // SAFETY: takes two numbers, and sets what this process gets when its parent is gone.
        match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    // SAFETY: runs between fork and exec and only makes system calls.
    unsafe { command.pre_exec(alone) }
}
