//! `kill PID [SIGNAL]` sends one signal, by default 0, which only asks; `flood PID SIGNAL N` sends N without a pause.
//! SIGNAL is a number or a name like TERM.

#![allow(unsafe_code)]

use std::ffi::{OsStr, c_int};
use std::io;
use std::time::{Duration, Instant};

use nix::errno::Errno;

use super::pid::Pid;
use crate::action::Action;
use crate::json::Json;
use crate::seen::{Seen, errno};
use crate::words::{Usage, Words, number};

/// The highest real-time signal of Linux (signal(7)).
const HIGHEST: c_int = 64;
const MAX_FLOOD: u32 = 10_000_000;
/// How long a flood may take.
const BOUND: Duration = Duration::from_secs(10);

/// The number of a signal.
pub fn parse(word: &OsStr) -> Result<c_int, Usage> {
    let name = word.to_string_lossy();
    let name = if name.starts_with("SIG") { name.into_owned() } else { format!("SIG{name}") };
    match name.parse::<nix::sys::signal::Signal>() {
        Ok(signal) => Ok(signal as c_int),
        Err(_) => number(word, "SIGNAL, where it is no name like TERM,", 0..=HIGHEST),
    }
}

/// Sends one.
pub struct Kill {
    pid: Pid,
    signal: c_int,
}

impl Kill {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        match &words.rest()[..] {
            [pid] => Ok(Self { pid: Pid::parse(pid)?, signal: 0 }),
            [pid, signal] => Ok(Self { pid: Pid::parse(pid)?, signal: parse(signal)? }),
            other => Err(Usage(format!("expected PID [SIGNAL], got {other:?}"))),
        }
    }
}

impl Action for Kill {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    fn run(&self) -> Seen {
        Seen::of(kill(self.pid, self.signal))
    }
}

/// Sends many.
pub struct Flood {
    pid: Pid,
    signal: c_int,
    times: u32,
}

impl Flood {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [pid, signal, times] = words.exactly(["PID", "SIGNAL", "N"])?;
        Ok(Self { pid: Pid::parse(&pid)?, signal: parse(&signal)?, times: number(&times, "N", 1..=MAX_FLOOD)? })
    }
}

impl Action for Flood {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    fn run(&self) -> Seen {
        let deadline = Instant::now() + BOUND;
        let (mut sent, mut last) = (0, None);
        for _ in 0..self.times {
            match kill(self.pid, self.signal) {
                _ if Instant::now() > deadline => {
                    last = Some("ETIMEDOUT".to_owned());
                    break;
                }
                Ok(()) => sent += 1,
                Err(error) => last = Some(errno(&error)),
            }
        }
        let symbol = last.clone().map_or(Json::Null, Json::from);
        Seen { errno: last, detail: Json::object([("sent", Json::Number(sent)), ("errno", symbol)]) }
    }
}

fn kill(pid: Pid, signal: c_int) -> io::Result<()> {
    // SAFETY: plain numbers only.
    Errno::result(unsafe { libc::kill(pid.number(), signal) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_has_a_number_and_maybe_a_name() {
        for (word, signal) in [("0", 0), ("TERM", 15), ("SIGTERM", 15), ("9", 9), ("KILL", 9), ("40", 40)] {
            assert_eq!(parse(word.as_ref()), Ok(signal), "{word}");
        }
        for word in ["", "65", "-1", "term", "NONE"] {
            assert!(parse(word.as_ref()).is_err(), "{word}");
        }
    }
}
