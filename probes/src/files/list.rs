//! `list PATH`: the names in a folder.

use std::ffi::OsString;
use std::fs;
use std::io;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

const CAP: usize = 10_000;

/// Lists a folder.
pub struct List {
    path: OsString,
}

impl List {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { path })
    }

    fn names(&self) -> io::Result<Vec<OsString>> {
        let entries = fs::read_dir(&self.path)?.take(CAP);
        let mut names = entries.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }
}

impl Action for List {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        match self.names() {
            Ok(names) => {
                let names = Json::list(names.iter().map(OsString::as_os_str));
                Seen::ok(Json::object([("names", names)]))
            }
            Err(error) => error.into(),
        }
    }
}
