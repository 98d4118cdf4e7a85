//! `unshare KIND..`: leaves namespaces for new ones, all in one call (unshare(2)). Later actions run there; no user is
//! mapped into a new user namespace: that does `userns`.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io;

use nix::errno::Errno;

use super::setns::kind;
use crate::action::Action;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Leaves.
pub struct Unshare {
    names: Vec<&'static str>,
    flags: c_int,
}

impl Unshare {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let kinds = words.rest().iter().map(|word| kind(word)).collect::<Result<Vec<_>, _>>()?;
        if kinds.is_empty() {
            return Err(Usage("expected KIND.., got nothing".to_owned()));
        }
        let (names, flags): (Vec<_>, Vec<_>) = kinds.into_iter().unzip();
        Ok(Self { names, flags: flags.into_iter().fold(0, |all, flag| all | flag) })
    }
}

impl Action for Unshare {
    fn target(&self) -> String {
        self.names.join(" ")
    }

    fn run(&self) -> Seen {
        Seen::of(unshared(self.flags))
    }
}

pub fn unshared(flags: c_int) -> io::Result<()> {
    // SAFETY: plain numbers only.
    Errno::result(unsafe { libc::unshare(flags) })?;
    Ok(())
}
