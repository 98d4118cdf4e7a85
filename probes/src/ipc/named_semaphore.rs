//! `sem-named NAME`: the value of a POSIX semaphore: the first word of its file in /dev/shm, where glibc and musl keep
//! it (sem_overview(7)).

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::action::Action;
use crate::files::read;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Reads it.
pub struct SemNamed {
    name: OsString,
}

impl SemNamed {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [name] = words.exactly(["NAME"])?;
        Ok(Self { name })
    }

    fn file(&self) -> io::Result<File> {
        let mut name = OsString::from("sem.");
        name.push(&self.name);
        read::open(&Path::new("/dev/shm").join(name), 0)
    }
}

impl Action for SemNamed {
    fn target(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let mut word = [0; 4];
        match self.file().and_then(|mut file| file.read_exact(&mut word)) {
            Ok(()) => Seen::ok(Json::object([("value", Json::Number(u32::from_ne_bytes(word).into()))])),
            Err(error) => error.into(),
        }
    }
}
