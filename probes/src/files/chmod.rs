//! `chmod MODE PATH`: sets the mode, in octal and with setuid, setgid and sticky where asked for. A
//! kernel may take bits away in silence, so the mode is looked at before and after.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use crate::action::Action;
use crate::json::Json;
use crate::seen::{Seen, or_errno};
use crate::words::{Usage, Words};

/// Changes the mode of what a path leads to; chmod(2) follows links.
pub struct Chmod {
    mode: u32,
    path: OsString,
}

impl Chmod {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [mode, path] = words.exactly(["MODE", "PATH"])?;
        let mode = mode.to_string_lossy();
        match u32::from_str_radix(&mode, 8) {
            Ok(octal) if octal <= 0o7777 => Ok(Self { mode: octal, path }),
            _ => Err(Usage(format!("MODE is octal, 0 to 7777, not {mode:?}"))),
        }
    }

    fn now(&self) -> Json {
        let mode = fs::metadata(&self.path).map(|it| it.permissions().mode() & 0o7777);
        or_errno(mode.map(|mode| Json::from(format!("{mode:04o}"))))
    }
}

impl Action for Chmod {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let before = self.now();
        let changed = fs::set_permissions(&self.path, Permissions::from_mode(self.mode));
        Seen::tried(changed, Json::object([("before", before), ("after", self.now())]))
    }
}
