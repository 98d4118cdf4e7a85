//! `read PATH [--max N]`: the first N bytes of a file.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

const MAX: u64 = 65_536;

/// Reads a file.
pub struct Read {
    path: OsString,
    max: u64,
}

impl Read {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let max = words.number("--max", MAX)?;
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { path, max })
    }
}

impl Action for Read {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        match head(Path::new(&self.path), self.max) {
            Ok(bytes) => {
                Seen::ok(Json::object([("bytes", Json::count(bytes.len())), ("text", Json::from(&bytes[..]))]))
            }
            Err(error) => error.into(),
        }
    }
}

fn head(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path, 0)?.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Opens for reading and never waits: an open FIFO without a writer reads as empty, and no terminal
/// becomes the controlling one.
pub fn open(path: &Path, flags: i32) -> io::Result<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | flags;
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}
