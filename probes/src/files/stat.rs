//! `stat PATH`: lstat(2), never through a link.

use std::ffi::OsString;
use std::fs::{self, FileType};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Looks at one path.
pub struct Stat {
    path: OsString,
}

impl Stat {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { path })
    }
}

impl Action for Stat {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        match fs::symlink_metadata(&self.path) {
            Ok(it) => Seen::ok(Json::object([
                ("kind", Json::from(kind(it.file_type()))),
                ("size", Json::count(it.size())),
                ("mode", Json::from(format!("{:04o}", it.mode() & 0o7777))),
                ("uid", Json::count(it.uid())),
                ("mtime", Json::Number(it.mtime())),
            ])),
            Err(error) => error.into(),
        }
    }
}

/// The word for a kind of file.
pub fn kind(of: FileType) -> &'static str {
    match of {
        _ if of.is_file() => "file",
        _ if of.is_dir() => "folder",
        _ if of.is_symlink() => "symlink",
        _ if of.is_socket() => "socket",
        _ if of.is_fifo() => "fifo",
        _ if of.is_char_device() => "char",
        _ if of.is_block_device() => "block",
        _ => "unknown",
    }
}
