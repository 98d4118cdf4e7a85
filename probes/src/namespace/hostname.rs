//! `sethostname NAME`: gives the host a name, in this process's UTS namespace (uts_namespaces(7)).

use std::ffi::OsString;

use nix::unistd::sethostname;

use crate::action::Action;
use crate::itself::ids::hostname;
use crate::json::Json;
use crate::seen::{Seen, or_errno};
use crate::words::{Usage, Words};

/// Renames the host.
pub struct SetHostname {
    name: OsString,
}

impl SetHostname {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [name] = words.exactly(["NAME"])?;
        Ok(Self { name })
    }
}

impl Action for SetHostname {
    fn target(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let set = sethostname(&self.name);
        let after = or_errno(hostname().map(|name| Json::from(name.as_os_str())));
        Seen::tried(set, Json::object([("hostname", after)]))
    }
}
