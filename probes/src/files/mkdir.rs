//! `mkdir PATH`: a new folder, as open as the umask lets it be.

use std::ffi::OsString;
use std::fs;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Makes a folder.
pub struct Mkdir {
    path: OsString,
}

impl Mkdir {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { path })
    }
}

impl Action for Mkdir {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        Seen::tried(fs::create_dir(&self.path), Json::Object(Vec::new()))
    }
}
