//! `pidfd PID FD`: takes the descriptor FD out of another process (pidfd_getfd(2)) and reads the beginning of what it
//! is.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;

use super::pid::Pid;
use crate::action::Action;
use crate::descriptor;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words, number};

const MAX: usize = 4096;

/// Takes a descriptor.
pub struct Pidfd {
    pid: Pid,
    number: c_int,
}

impl Pidfd {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [pid, fd] = words.exactly(["PID", "FD"])?;
        Ok(Self { pid: Pid::parse(&pid)?, number: number(&fd, "FD", 0..=c_int::MAX)? })
    }

    fn taken(&self) -> io::Result<File> {
        let process = open(self.pid)?;
        // SAFETY: plain numbers only, one of them of a descriptor that is open; the answer is a new one, of this
        // process.
        let taken =
            unsafe { descriptor::made(libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), self.number, 0))? };
        Ok(taken.into())
    }
}

impl Action for Pidfd {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    /// A pipe is taken and cannot be read at 0 (ESPIPE): `taken` tells that apart.
    fn run(&self) -> Seen {
        let file = match self.taken() {
            Ok(file) => file,
            Err(error) => return Seen::tried(Err::<(), _>(error), Json::object([("taken", Json::Bool(false))])),
        };
        let mut bytes = [0; MAX];
        let read = file.read_at(&mut bytes, 0);
        let text = read.as_ref().map_or(Json::Null, |length| Json::from(&bytes[..*length]));
        Seen::tried(read, Json::object([("taken", Json::Bool(true)), ("text", text)]))
    }
}

/// A descriptor of a process.
pub fn open(pid: Pid) -> io::Result<OwnedFd> {
    // SAFETY: plain numbers only; the answer is a new descriptor of this process.
    unsafe { descriptor::made(libc::syscall(libc::SYS_pidfd_open, pid.number(), 0)) }
}
