//! `write PATH TEXT` creates or truncates a file and writes it, `append PATH TEXT` writes behind the
//! end of a file that exists, `create PATH` makes an empty one that must not exist (O_EXCL).
//! `open-write PATH` only opens for writing: no byte, no O_CREAT, no O_TRUNC, so that it may be asked
//! of machine-global files (a sysctl, core_pattern) without changing them.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
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
        written(never_waiting().create(true).truncate(true).open(&self.path), &self.text)
    }
}

/// Writes behind the end of a file.
pub struct Append {
    path: OsString,
    text: OsString,
}

impl Append {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path, text] = words.exactly(["PATH", "TEXT"])?;
        Ok(Self { path, text })
    }
}

impl Action for Append {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        written(never_waiting().append(true).open(&self.path), &self.text)
    }
}

/// Makes a file.
pub struct Create {
    path: OsString,
}

impl Create {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { path })
    }
}

impl Action for Create {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        Seen::tried(never_waiting().create_new(true).open(&self.path), Json::Object(Vec::new()))
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
        Seen::tried(never_waiting().open(&self.path), Json::Object(Vec::new()))
    }
}

fn written(file: io::Result<File>, text: &OsStr) -> Seen {
    let text = text.as_bytes();
    match file.and_then(|mut file| file.write_all(text)) {
        Ok(()) => Seen::ok(Json::object([("bytes", Json::count(text.len()))])),
        Err(error) => error.into(),
    }
}

/// A FIFO without a reader is ENXIO instead of a wait for ever.
fn never_waiting() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    options
}
