//! `sem KEY` shows the value of the first semaphore of a System V set, `sem-add KEY N` adds N to it, and never waits.

#![allow(unsafe_code)]

use std::ffi::{c_int, c_short};
use std::io;

use nix::errno::Errno;

use super::key::Key;
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words, number};

/// Reads it.
pub struct Sem {
    key: Key,
}

impl Sem {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [key] = words.exactly(["KEY"])?;
        Ok(Self { key: Key::parse(&key)? })
    }

    fn value(&self) -> io::Result<c_int> {
        // SAFETY: plain numbers only; GETVAL takes no fourth argument.
        Ok(Errno::result(unsafe { libc::semctl(get(self.key)?, 0, libc::GETVAL) })?)
    }
}

impl Action for Sem {
    fn target(&self) -> String {
        self.key.to_string()
    }

    fn run(&self) -> Seen {
        match self.value() {
            Ok(value) => Seen::ok(Json::object([("value", Json::Number(value.into()))])),
            Err(error) => error.into(),
        }
    }
}

/// Changes it.
pub struct SemAdd {
    key: Key,
    by: c_short,
}

impl SemAdd {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [key, by] = words.exactly(["KEY", "N"])?;
        Ok(Self { key: Key::parse(&key)?, by: number(&by, "N", c_short::MIN..=c_short::MAX)? })
    }

    fn added(&self) -> io::Result<()> {
        let flags = libc::IPC_NOWAIT as c_short;
        let mut operation = libc::sembuf { sem_num: 0, sem_op: self.by, sem_flg: flags };
        // SAFETY: one operation is read, and it outlives the call.
        Errno::result(unsafe { libc::semop(get(self.key)?, &raw mut operation, 1) })?;
        Ok(())
    }
}

impl Action for SemAdd {
    fn target(&self) -> String {
        self.key.to_string()
    }

    fn run(&self) -> Seen {
        Seen::of(self.added())
    }
}

fn get(key: Key) -> io::Result<c_int> {
    // SAFETY: plain numbers only.
    Ok(Errno::result(unsafe { libc::semget(key.0, 1, 0) })?)
}
