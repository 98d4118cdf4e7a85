//! `pivot-root NEW OLD` and `chroot PATH`: another root for this process, in which later actions run, from its `/`.

use std::env;
use std::ffi::OsString;
use std::io;

use nix::unistd::{chroot, pivot_root};

use crate::action::Action;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Changes the root of the mount namespace; the old one is seen at OLD, below NEW.
pub struct PivotRoot {
    new: OsString,
    old: OsString,
}

impl PivotRoot {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [new, old] = words.exactly(["NEW", "OLD"])?;
        Ok(Self { new, old })
    }
}

impl Action for PivotRoot {
    fn target(&self) -> String {
        self.new.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let changed = pivot_root(self.new.as_os_str(), self.old.as_os_str());
        Seen::of(changed.map_err(io::Error::from).and_then(|()| env::set_current_dir("/")))
    }
}

/// Changes the root of the process.
pub struct Chroot {
    path: OsString,
}

impl Chroot {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { path })
    }
}

impl Action for Chroot {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let changed = chroot(self.path.as_os_str());
        Seen::of(changed.map_err(io::Error::from).and_then(|()| env::set_current_dir("/")))
    }
}
