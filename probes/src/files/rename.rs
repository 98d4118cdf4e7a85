//! `rename FROM TO` moves a name, over TO where that exists; `exchange A B` swaps two names in one
//! step (renameat2(2), RENAME_EXCHANGE).

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Renames; a link is renamed itself.
pub struct Rename {
    from: OsString,
    to: OsString,
}

impl Rename {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [from, to] = words.exactly(["FROM", "TO"])?;
        Ok(Self { from, to })
    }
}

impl Action for Rename {
    fn target(&self) -> String {
        self.to.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let detail = Json::object([("from", Json::from(self.from.as_os_str()))]);
        Seen::tried(fs::rename(&self.from, &self.to), detail)
    }
}

/// Swaps two names; both must exist.
pub struct Exchange {
    one: OsString,
    other: OsString,
}

impl Exchange {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [one, other] = words.exactly(["A", "B"])?;
        Ok(Self { one, other })
    }
}

impl Action for Exchange {
    fn target(&self) -> String {
        self.one.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let detail = Json::object([("with", Json::from(self.other.as_os_str()))]);
        Seen::tried(exchange(&self.one, &self.other), detail)
    }
}

#[cfg(target_os = "linux")]
fn exchange(one: &OsStr, other: &OsStr) -> io::Result<()> {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    Ok(renameat2(AT_FDCWD, one, AT_FDCWD, other, RenameFlags::RENAME_EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_one: &OsStr, _other: &OsStr) -> io::Result<()> {
    Err(io::Error::from_raw_os_error(libc::ENOSYS))
}
