//! `userns`: puts this process into a user and a mount namespace of its own, as their root: its user and its group are
//! mapped to 0, by the process itself as user_namespaces(7) allows it to anyone. Later actions run there.

use std::fs;
use std::io;

use nix::unistd::{getegid, geteuid};

use super::unshare::unshared;
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Becomes root of its own.
pub struct Userns;

impl Userns {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [] = words.exactly([])?;
        Ok(Self)
    }
}

impl Action for Userns {
    fn target(&self) -> String {
        String::new()
    }

    /// `maps` tells a namespace that could not be made from maps that could not be written.
    fn run(&self) -> Seen {
        let (user, group) = (geteuid(), getegid());
        if let Err(error) = unshared(libc::CLONE_NEWUSER | libc::CLONE_NEWNS) {
            return Seen::tried(Err::<(), _>(error), Json::object([("maps", Json::Bool(false))]));
        }
        let mapped = mapped(user.as_raw(), group.as_raw());
        let maps = Json::Bool(mapped.is_ok());
        Seen::tried(mapped, Json::object([("maps", maps)]))
    }
}

fn mapped(user: u32, group: u32) -> io::Result<()> {
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}
