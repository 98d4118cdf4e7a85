//! `fill PATH BYTES [--leave]`: writes zeros into a new file, in pieces, until there are so many or no more can be
//! written, and removes it; with `--leave` it stays.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words, number};

const PIECE: usize = 1 << 20;
const MAX: usize = 1 << 34;

/// Fills a file.
pub struct Fill {
    leave: bool,
    path: OsString,
    bytes: usize,
}

impl Fill {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let leave = words.flag("--leave");
        let [path, bytes] = words.exactly(["PATH", "BYTES"])?;
        Ok(Self { leave, path, bytes: number(&bytes, "BYTES", 0..=MAX)? })
    }

    fn filled(&self, written: &mut usize) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&self.path)?;
        let zeros = vec![0; PIECE];
        let mut result = Ok(());
        while *written < self.bytes && result.is_ok() {
            result = file.write(&zeros[..PIECE.min(self.bytes - *written)]).map(|length| *written += length);
        }
        if !self.leave {
            fs::remove_file(&self.path)?;
        }
        result
    }
}

impl Action for Fill {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let mut written = 0;
        let filled = self.filled(&mut written);
        Seen::tried(filled, Json::object([("written", Json::count(written))]))
    }
}
