//! `ids`: the numbers of this process, its parent, session and groups, and the name of the host. `foreground` is the
//! group that has the terminal on stdin, null where there is none.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::parent_id;
use std::process;

use nix::unistd::{gethostname, getpgrp, getsid, tcgetpgrp};

use crate::action::Action;
use crate::json::Json;
use crate::seen::{Seen, or_errno};
use crate::words::{Usage, Words};

/// Shows the numbers.
pub struct Ids;

impl Ids {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [] = words.exactly([])?;
        Ok(Self)
    }
}

impl Action for Ids {
    fn target(&self) -> String {
        String::new()
    }

    fn run(&self) -> Seen {
        let session = getsid(None).map(|pid| Json::Number(pid.as_raw().into()));
        let foreground = tcgetpgrp(io::stdin()).map_or(Json::Null, |pid| Json::Number(pid.as_raw().into()));
        Seen::ok(Json::object([
            ("pid", Json::count(process::id())),
            ("ppid", Json::count(parent_id())),
            ("sid", or_errno(session.map_err(io::Error::from))),
            ("pgrp", Json::Number(getpgrp().as_raw().into())),
            ("foreground", foreground),
            ("hostname", or_errno(hostname().map(|name| Json::from(name.as_os_str())))),
        ]))
    }
}

pub fn hostname() -> io::Result<OsString> {
    Ok(gethostname()?)
}
