//! `link FROM TO` makes a hard link, `symlink TARGET PATH` a symbolic one. The path that is made is
//! the report's target; what it leads to can then be tried with `read` or `write`.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Makes a hard link; a link as FROM is not followed.
pub struct Link {
    from: OsString,
    to: OsString,
}

impl Link {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [from, to] = words.exactly(["FROM", "TO"])?;
        Ok(Self { from, to })
    }
}

impl Action for Link {
    fn target(&self) -> String {
        self.to.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let detail = Json::object([("from", Json::from(self.from.as_os_str()))]);
        Seen::tried(fs::hard_link(&self.from, &self.to), detail)
    }
}

/// Makes a symbolic link.
pub struct Symlink {
    leads_to: OsString,
    path: OsString,
}

impl Symlink {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [leads_to, path] = words.exactly(["TARGET", "PATH"])?;
        Ok(Self { leads_to, path })
    }
}

impl Action for Symlink {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let detail = Json::object([("leads_to", Json::from(self.leads_to.as_os_str()))]);
        Seen::tried(symlink(&self.leads_to, &self.path), detail)
    }
}
