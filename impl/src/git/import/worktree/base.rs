//! Folders that git takes for bare repositories and that were there before the step: test suites keep such.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;

use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, fstatat};

use super::walk::Place;
use crate::git::command::Git;
use crate::git::record::Record;

/// Folders that are looked up: each starts git three times at most. What is above counts as the step's.
const MOST: u32 = 200;

/// Of a config, in bytes.
const LONGEST: u64 = 65_536;

/// The commit that the worktree was made at.
pub struct Base<'a> {
    record: &'a Record,
    left: u32,
}

impl Base<'_> {
    /// That of a worktree. The real repository is asked, nothing of the step's.
    pub fn of(record: &Record) -> Base<'_> {
        Base { record, left: MOST }
    }

    /// Whether the folder was a repository there, of the same config, and has no hooks that it had not.
    pub fn has_repository(&mut self, at: &Place) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        let Some(tree) = self.tree(at.path) else { return false };
        let is_there = |name: &str| fstatat(at.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW) != Err(Errno::ENOENT);
        let is_same = |name: &str| match tree.get(name.as_bytes()) {
            None => !is_there(name),
            Some(id) => {
                self.git().run(["cat-file", "blob", id]).is_ok_and(|old| read(at, name).is_ok_and(|new| new == old))
            }
        };
        tree.contains_key(&b"HEAD"[..])
            && (tree.contains_key(&b"hooks"[..]) || !is_there("hooks"))
            && ["config", "config.worktree", "commondir"].into_iter().all(is_same)
    }

    /// Names and ids in a folder of the base.
    fn tree(&self, path: &[u8]) -> Option<BTreeMap<Vec<u8>, String>> {
        let tree = OsString::from_vec([self.record.base.as_bytes(), b":", path].concat());
        let listed = self.git().run(["ls-tree".into(), "-z".into(), tree]).ok()?;
        let entries = listed.split(|byte| *byte == 0).filter_map(|entry| {
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let id = str::from_utf8(&entry[..tab]).ok()?.rsplit(' ').next()?;
            Some((entry[tab + 1..].to_vec(), id.to_string()))
        });
        Some(entries.collect())
    }

    fn git(&self) -> Git {
        Git::of(&self.record.common)
    }
}

/// A file of the step's, by itself: never a link, and nothing that holds who opens it.
fn read(at: &Place, name: &str) -> io::Result<Vec<u8>> {
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let file = File::from(openat(at.folder, name, flags, Mode::empty())?);
    let mut bytes = Vec::new();
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
