//! `daemon MARK [--setsid] [--double] [--keep] [--ignore-term] [--signs FILE] [--seconds N]`: leaves a process behind
//! that `linger`s, in a session of its own with `--setsid`, as nobody's child with `--double` (two forks), and with the
//! probe's stdin, stdout and stderr with `--keep`. It is this program again, so that MARK stands in its command line.

#![allow(unsafe_code)]

use std::env;
use std::ffi::c_int;
use std::io::{self, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::errno::Errno;

use super::linger::{Linger, ignore_term};
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Leaves a process behind.
pub struct Daemon {
    setsid: bool,
    double: bool,
    keep: bool,
    linger: Linger,
}

impl Daemon {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let (setsid, double, keep) = (words.flag("--setsid"), words.flag("--double"), words.flag("--keep"));
        Ok(Self { setsid, double, keep, linger: Linger::parse(words)? })
    }

    fn command(&self) -> Command {
        let own = env::current_exe().ok().or_else(|| env::args_os().next().map(Into::into)).unwrap_or_default();
        let mut command = Command::new(own);
        command.args(self.linger.words());
        if !self.keep {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        }
        command
    }

    /// The number of the process that stays.
    fn left(&self) -> io::Result<i32> {
        let (mut told, tell) = io::pipe()?;
        let mut command = self.command();
        let (setsid, double, ignore) = (self.setsid, self.double, self.linger.ignore_term);
        let teller = tell.try_clone()?;
        // SAFETY: between fork and exec only system calls are made, and nothing is allocated.
        unsafe {
            command.pre_exec(move || {
                if setsid {
                    Errno::result(libc::setsid())?;
                }
                if double {
                    forked_again(&teller)?;
                }
                if ignore {
                    ignore_term();
                }
                Ok(())
            })
        };
        let mut child = command.spawn()?;
        if !double {
            return Ok(child.id().cast_signed());
        }
        child.wait()?;
        drop((command, tell));
        let mut number = [0; 4];
        told.read_exact(&mut number)?;
        Ok(i32::from_ne_bytes(number))
    }
}

impl Action for Daemon {
    fn target(&self) -> String {
        self.linger.mark.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        match self.left() {
            Ok(pid) => Seen::ok(Json::object([("pid", Json::Number(pid.into()))])),
            Err(error) => error.into(),
        }
    }
}

/// Returns in the child; the process between tells its number and ends.
fn forked_again(teller: &PipeWriter) -> io::Result<()> {
    // SAFETY: this is the one thread of a process that will execute another program; what is written are the four bytes
    // of a number that lives as long as the call, and _exit runs nothing of this program's.
    unsafe {
        let child: c_int = Errno::result(libc::fork())?;
        if child != 0 {
            libc::write(teller.as_raw_fd(), (&raw const child).cast(), size_of::<c_int>());
            libc::_exit(0);
        }
    }
    Ok(())
}
