//! `spawn N MARK [--seconds S]`: starts N processes that sleep, and does not end them: they end after S seconds, or
//! with their PID namespace. They hold nothing open. It stops at the first error. MARK is seen in their command lines,
//! which are this one's.

#![allow(unsafe_code)]

use std::ffi::{OsString, c_uint};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

use nix::errno::Errno;

use crate::action::Action;
use crate::json::Json;
use crate::seen::{Seen, errno};
use crate::words::{Usage, Words, number};

const MAX: u32 = 50_000;
const SECONDS: c_uint = 60;
/// The longest sleep, in seconds.
const MAX_SECONDS: c_uint = 600;

/// Starts many.
pub struct Spawn {
    times: u32,
    mark: OsString,
    seconds: c_uint,
}

impl Spawn {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let seconds = words.number("--seconds", SECONDS)?.min(MAX_SECONDS);
        let [times, mark] = words.exactly(["N", "MARK"])?;
        Ok(Self { times: number(&times, "N", 1..=MAX)?, mark, seconds })
    }

    fn started(&self) -> (u32, io::Result<()>) {
        let null = match OpenOptions::new().read(true).write(true).open("/dev/null") {
            Ok(null) => null,
            Err(error) => return (0, Err(error)),
        };
        for count in 0..self.times {
            if let Err(error) = asleep(&null, self.seconds) {
                return (count, Err(error));
            }
        }
        (self.times, Ok(()))
    }
}

impl Action for Spawn {
    fn target(&self) -> String {
        self.mark.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let (count, result) = self.started();
        let symbol = result.as_ref().err().map_or(Json::Null, |error| Json::from(errno(error)));
        Seen::tried(result, Json::object([("count", Json::count(count)), ("errno", symbol)]))
    }
}

fn asleep(null: &File, seconds: c_uint) -> io::Result<()> {
    // SAFETY: the child makes system calls only and ends by _exit, which runs nothing of this program's.
    unsafe {
        if Errno::result(libc::fork())? == 0 {
            for standard in 0..=2 {
                libc::dup2(null.as_raw_fd(), standard);
            }
            libc::sleep(seconds);
            libc::_exit(0);
        }
    }
    Ok(())
}
