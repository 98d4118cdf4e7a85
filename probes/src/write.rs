//! `write PATH TEXT` creates or truncates a file and writes it. `open-write PATH` only opens for
//! writing: no byte, no O_CREAT, no O_TRUNC, so that it may be asked of machine-global files (a
//! sysctl, core_pattern) without changing them.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Writes a file.
pub struct Write {
    path: OsString,
    text: OsString,
}

impl Write {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path, text] = words.exactly(["PATH", "TEXT"])?;
        Ok(Self { path, text })
    }
}

impl Action for Write {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let text = self.text.as_bytes();
        let wrote: io::Result<()> =
            never_waiting().create(true).truncate(true).open(&self.path).and_then(|mut file| file.write_all(text));
        match wrote {
            Ok(()) => Seen::ok(Json::object([("bytes", Json::count(text.len()))])),
            Err(error) => error.into(),
        }
    }
}

/// Opens a file for writing and closes it.
pub struct OpenWrite {
    path: OsString,
}

impl OpenWrite {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { path })
    }
}

impl Action for OpenWrite {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        match never_waiting().open(&self.path) {
            Ok(_) => Seen::ok(Json::Object(Vec::new())),
            Err(error) => error.into(),
        }
    }
}

/// A FIFO without a reader is ENXIO instead of a wait for ever.
fn never_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    options
}
