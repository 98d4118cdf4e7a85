//! `tiocsti FD TEXT [--high]` types TEXT into a terminal, as if its user had. `tioclinux FD [--high]` asks a console
//! for something harmless, by the call that can also paste into it. With `--high`, the request's number has a bit that
//! the kernel does not look at (CVE-2019-10063).

#![allow(unsafe_code)]

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;

use super::line::{Given, Line};
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// The subcode that gets the state of the shift keys (ioctl_console(2)).
const SHIFT_STATE: u8 = 6;

/// Types.
pub struct Tiocsti {
    high: bool,
    line: Line,
    text: OsString,
}

impl Tiocsti {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let high = words.flag("--high");
        let [line, text] = words.exactly(["FD", "TEXT"])?;
        Ok(Self { high, line: Line::parse(&line), text })
    }

    fn typed(&self, pushed: &mut usize) -> io::Result<()> {
        let open = self.line.open()?;
        for mut byte in self.text.as_bytes().iter().copied() {
            // SAFETY: the request reads one byte.
            unsafe { open.ioctl(libc::TIOCSTI, self.high, Given::Place(&mut byte))? };
            *pushed += 1;
        }
        Ok(())
    }
}

impl Action for Tiocsti {
    fn target(&self) -> String {
        self.line.to_string()
    }

    fn run(&self) -> Seen {
        let mut pushed = 0;
        let typed = self.typed(&mut pushed);
        Seen::tried(typed, Json::object([("pushed", Json::count(pushed))]))
    }
}

/// Asks.
pub struct Tioclinux {
    high: bool,
    line: Line,
}

impl Tioclinux {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let high = words.flag("--high");
        let [line] = words.exactly(["FD"])?;
        Ok(Self { high, line: Line::parse(&line) })
    }

    fn asked(&self) -> io::Result<()> {
        // SAFETY: the request reads the subcode, which is one byte, and writes its answer, which is one byte, over it.
        unsafe { self.line.open()?.ioctl(libc::TIOCLINUX, self.high, Given::Place(&mut [SHIFT_STATE])) }
    }
}

impl Action for Tioclinux {
    fn target(&self) -> String {
        self.line.to_string()
    }

    fn run(&self) -> Seen {
        Seen::of(self.asked())
    }
}
