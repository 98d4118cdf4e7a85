//! `mount --tmpfs PATH`, `mount --proc PATH` and `mount --bind FROM TO` (all below FROM too), and `umount PATH
//! [--detach]`.

use std::ffi::OsString;

use nix::mount::{MntFlags, MsFlags, mount, umount2};

use crate::action::Action;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Mounts.
pub struct Mount {
    kind: Kind,
    at: OsString,
}

enum Kind {
    New(&'static str),
    Bind(OsString),
}

impl Mount {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        match (words.flag("--tmpfs"), words.flag("--proc"), words.flag("--bind")) {
            (true, false, false) => Self::new(words, "tmpfs"),
            (false, true, false) => Self::new(words, "proc"),
            (false, false, true) => {
                let [from, at] = words.exactly(["FROM", "TO"])?;
                Ok(Self { kind: Kind::Bind(from), at })
            }
            _ => Err(Usage("expected one of --tmpfs PATH, --proc PATH, --bind FROM TO".to_owned())),
        }
    }

    fn new(words: Words, kind: &'static str) -> Result<Self, Usage> {
        let [at] = words.exactly(["PATH"])?;
        Ok(Self { kind: Kind::New(kind), at })
    }
}

impl Action for Mount {
    fn target(&self) -> String {
        self.at.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let (none, at) = (None::<&str>, self.at.as_os_str());
        Seen::of(match &self.kind {
            Kind::New(kind) => mount(Some(*kind), at, Some(*kind), MsFlags::empty(), none),
            Kind::Bind(from) => mount(Some(from.as_os_str()), at, none, MsFlags::MS_BIND | MsFlags::MS_REC, none),
        })
    }
}

/// Takes a mount away; with `--detach`, also one in use.
pub struct Umount {
    detach: bool,
    at: OsString,
}

impl Umount {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let detach = words.flag("--detach");
        let [at] = words.exactly(["PATH"])?;
        Ok(Self { detach, at })
    }
}

impl Action for Umount {
    fn target(&self) -> String {
        self.at.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let flags = if self.detach { MntFlags::MNT_DETACH } else { MntFlags::empty() };
        Seen::of(umount2(self.at.as_os_str(), flags))
    }
}
