//! `remove PATH`: takes a name away: rmdir(2) for a folder, which must be empty, unlink(2) for
//! everything else, a link included.

use std::ffi::OsString;
use std::fs;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Removes one path.
pub struct Remove {
    path: OsString,
}

impl Remove {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { path })
    }
}

impl Action for Remove {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let folder = match fs::symlink_metadata(&self.path) {
            Ok(it) => it.is_dir(),
            Err(error) => return error.into(),
        };
        let (call, removed) = match folder {
            true => ("rmdir", fs::remove_dir(&self.path)),
            false => ("unlink", fs::remove_file(&self.path)),
        };
        Seen::tried(removed, Json::object([("call", Json::from(call))]))
    }
}
