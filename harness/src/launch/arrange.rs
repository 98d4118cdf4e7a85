//! What a caller does between fork and exec of a launch: descriptors that it leaves open or closed, signals that it ignores.
#![allow(unsafe_code)] // pre_exec, with its SAFETY sentences

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, signal, sigprocmask};
use tokio::process::Command;

use crate::caller::Caller;
use crate::lab::HOME;

/// Has a process started as the caller starts it.
///
/// # Errors
/// When what it leaves open cannot be opened.
pub fn arrange(command: &mut Command, caller: &Caller) -> io::Result<()> {
    if caller.inherits {
        leave_open(command)?;
    }
    if caller.no_input {
        // SAFETY: runs between fork and exec and makes one system call. The 0 that is closed is the child's own.
        unsafe { command.pre_exec(|| nix::unistd::close(0).map_err(io::Error::from)) };
    }
    let deaf = caller.deaf;
    // SAFETY: runs between fork and exec and only makes system calls.
    unsafe { command.pre_exec(move || if deaf { deafen() } else { heed() }.map_err(io::Error::from)) };
    Ok(())
}

/// What whoever started the suite ignores, as nohup(1) and background jobs do, is not the affair of what it starts. For
/// between fork and exec.
///
/// # Errors
/// When a signal cannot be reset.
pub fn heed() -> nix::Result<()> {
    for heeded in IGNORED {
        // SAFETY: no handler is replaced: the child has none, and becomes another program.
        unsafe { signal(heeded, SigHandler::SigDfl) }?;
    }
    Ok(())
}

/// Signals that callers ignore.
const IGNORED: [Signal; 6] =
    [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGPIPE, Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGHUP];

/// As a terminal multiplexer, a job runner or nohup(1) may leave them.
fn deafen() -> nix::Result<()> {
    for ignored in IGNORED {
        // SAFETY: no handler is replaced: the child has none, and becomes another program.
        unsafe { signal(ignored, SigHandler::SigIgn) }?;
    }
    let mut blocked = SigSet::all();
    blocked.remove(Signal::SIGSEGV);
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&blocked), None)
}

/// Leaves descriptors open in a process, as a careless caller does: 7 on a key, 9 on the home.
fn leave_open(command: &mut Command) -> io::Result<()> {
    const NUMBERS: [i32; 2] = [7, 9];
    let files = [open_above(NUMBERS[1], &format!("{HOME}/.ssh/id_ed25519"))?, open_above(NUMBERS[1], HOME)?];
    // SAFETY: runs between fork and exec and only makes system calls. The files lie above both numbers, so each dup2 makes a
    // copy, which is not closed on exec, and none covers a file that is still to be copied.
    unsafe {
        command.pre_exec(move || {
            for (file, number) in files.iter().zip(NUMBERS) {
                if libc::dup2(file.as_raw_fd(), number) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    Ok(())
}

/// Opens a file as a descriptor above `number`.
///
/// # Errors
/// When it cannot be opened.
pub fn open_above(number: i32, path: &str) -> io::Result<File> {
    let mut below = Vec::new();
    loop {
        let file = File::open(path)?;
        if file.as_raw_fd() > number {
            return Ok(file);
        }
        below.push(file); // keeps its number taken
    }
}
