//! `setns PID KIND`: enters a namespace of another process, through its link in /proc; with the KIND `pidfd`, its user
//! and its mount namespace by a descriptor of the process, or only the latter where they share the former (setns(2)).

#![allow(unsafe_code)]

use std::ffi::{OsStr, c_int};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};

use nix::errno::Errno;

use crate::action::Action;
use crate::process::pid::Pid;
use crate::process::pidfd;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// The kinds as /proc names them, and their flags.
pub const KINDS: [(&str, c_int); 8] = [
    ("user", libc::CLONE_NEWUSER),
    ("pid", libc::CLONE_NEWPID),
    ("ipc", libc::CLONE_NEWIPC),
    ("uts", libc::CLONE_NEWUTS),
    ("mnt", libc::CLONE_NEWNS),
    ("net", libc::CLONE_NEWNET),
    ("cgroup", libc::CLONE_NEWCGROUP),
    ("time", libc::CLONE_NEWTIME),
];

/// The kind that a word names.
pub fn kind(word: &OsStr) -> Result<(&'static str, c_int), Usage> {
    let known = || KINDS.map(|(name, _)| name).join(", ");
    let found = KINDS.into_iter().find(|(name, _)| word == *name);
    found.ok_or_else(|| Usage(format!("KIND is one of {}, not {word:?}", known())))
}

/// Enters.
pub struct Setns {
    pid: Pid,
    /// None: by a descriptor of the process.
    kind: Option<(&'static str, c_int)>,
}

impl Setns {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [pid, word] = words.exactly(["PID", "KIND"])?;
        let kind = if word == "pidfd" { None } else { Some(kind(&word)?) };
        Ok(Self { pid: Pid::parse(&pid)?, kind })
    }

    fn entered(&self) -> io::Result<()> {
        let Some((name, flag)) = self.kind else {
            let process = pidfd::open(self.pid)?;
            let both = enter(process.as_raw_fd(), libc::CLONE_NEWUSER | libc::CLONE_NEWNS);
            // A process cannot enter the user namespace that it is in (EINVAL).
            return both.or_else(|error| match error.raw_os_error() {
                Some(libc::EINVAL) => enter(process.as_raw_fd(), libc::CLONE_NEWNS),
                _ => Err(error),
            });
        };
        enter(File::open(self.pid.folder().join("ns").join(name))?.as_raw_fd(), flag)
    }
}

impl Action for Setns {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    fn run(&self) -> Seen {
        Seen::of(self.entered())
    }
}

fn enter(fd: RawFd, flags: c_int) -> io::Result<()> {
    // SAFETY: plain numbers only, one of them of a descriptor that is open.
    Errno::result(unsafe { libc::setns(fd, flags) })?;
    Ok(())
}
