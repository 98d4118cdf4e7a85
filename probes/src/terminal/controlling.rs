//! `open-tty` opens the controlling terminal. `tiocsctty FD [--setsid] [--steal]` makes a terminal the controlling one,
//! in a new session with `--setsid`, and taken from the session that has it with `--steal`, which only root may do.

#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::io;

use nix::unistd::setsid;

use super::line::{Given, Line};
use crate::action::Action;
use crate::json::Json;
use crate::seen::{Seen, errno};
use crate::words::{Usage, Words};

const CONTROLLING: &str = "/dev/tty";

/// Opens it.
pub struct OpenTty;

impl OpenTty {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [] = words.exactly([])?;
        Ok(Self)
    }
}

impl Action for OpenTty {
    fn target(&self) -> String {
        CONTROLLING.to_owned()
    }

    fn run(&self) -> Seen {
        Seen::of(Line::parse(OsStr::new(CONTROLLING)).open())
    }
}

/// Takes one.
pub struct Tiocsctty {
    setsid: bool,
    steal: bool,
    line: Line,
}

impl Tiocsctty {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let (setsid, steal) = (words.flag("--setsid"), words.flag("--steal"));
        let [line] = words.exactly(["FD"])?;
        Ok(Self { setsid, steal, line: Line::parse(&line) })
    }

    fn taken(&self) -> io::Result<()> {
        let open = self.line.open()?;
        // SAFETY: the request takes a number.
        unsafe { open.ioctl(libc::TIOCSCTTY, false, Given::<()>::Number(self.steal.into())) }
    }
}

impl Action for Tiocsctty {
    fn target(&self) -> String {
        self.line.to_string()
    }

    /// `setsid` is the errno of that call, if it was made and failed: the leader of a group cannot (setsid(2)).
    fn run(&self) -> Seen {
        let session = if self.setsid { setsid().err() } else { None };
        let symbol = session.map_or(Json::Null, |error| Json::from(errno(&error.into())));
        Seen::tried(self.taken(), Json::object([("setsid", symbol)]))
    }
}
