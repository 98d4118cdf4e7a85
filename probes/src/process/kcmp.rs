//! `kcmp PID`: whether this process and another share their memory, by the order of kernel addresses (kcmp(2)): the
//! call needs the rights of a tracer.

#![allow(unsafe_code)]

use nix::errno::Errno;

use super::pid::Pid;
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// KCMP_VM of linux/kcmp.h.
const VM: i32 = 1;

/// Compares.
pub struct Kcmp {
    pid: Pid,
}

impl Kcmp {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [pid] = words.exactly(["PID"])?;
        Ok(Self { pid: Pid::parse(&pid)? })
    }
}

impl Action for Kcmp {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    fn run(&self) -> Seen {
        // SAFETY: plain numbers only.
        let order = unsafe { libc::syscall(libc::SYS_kcmp, Pid::Own.number(), self.pid.number(), VM, 0, 0) };
        match Errno::result(order) {
            Ok(order) => Seen::ok(Json::object([("result", Json::Number(order))])),
            Err(error) => error.into(),
        }
    }
}
