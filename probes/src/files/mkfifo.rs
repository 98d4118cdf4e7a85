//! `mkfifo PATH`: a new FIFO that only its owner may use.

use std::ffi::OsString;
use std::io;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Makes a FIFO.
pub struct Mkfifo {
    path: OsString,
}

impl Mkfifo {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { path })
    }
}

impl Action for Mkfifo {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let made = mkfifo(self.path.as_os_str(), Mode::S_IRUSR | Mode::S_IWUSR);
        Seen::tried(made.map_err(io::Error::from), Json::Object(Vec::new()))
    }
}
