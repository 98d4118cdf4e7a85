//! The way into the quarantine: every move is written into the list there before it is done.

use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use nix::dir::Type;
use nix::errno::Errno;
use nix::fcntl::{AtFlags, OFlag, renameat};
use nix::sys::stat::{Mode, fstatat};

use super::open::{open_folder, open_up};
use super::walk::Place;
use crate::git::import::escape;

/// Places in the list of a quarantine; what is above is moved all the same.
const LISTED: usize = 1000;

/// What a quarantine holds, line by line.
pub const LIST: &str = "list";

/// Of a path, what a report shows of it at most, in bytes.
const SHOWN: usize = 2000;

pub struct Moving<'a> {
    to: &'a Path,
    folder: Option<OwnedFd>,
    next: u64,
    /// What the list says.
    pub done: Vec<String>,
}

impl Moving<'_> {
    /// Into `quarantine`, which need not be there; goes on with the list that an earlier one has begun.
    pub fn to(quarantine: &Path) -> Moving<'_> {
        let text = fs::read_to_string(quarantine.join(LIST)).unwrap_or_default();
        Moving { to: quarantine, folder: None, next: 0, done: text.lines().map(str::to_string).collect() }
    }

    /// Moves an entry out of its folder.
    pub fn take(&mut self, at: &Place, name: &CStr, kind: Type, what: &str) -> io::Result<()> {
        let quarantine = self.folder()?;
        let to = loop {
            self.next += 1;
            let to = CString::new(self.next.to_string())?;
            if fstatat(&quarantine, &*to, AtFlags::AT_SYMLINK_NOFOLLOW) == Err(Errno::ENOENT) {
                break to;
            }
        };
        self.note(format!("{}: {what}, moved to {}", relative(at, name), self.next))?;
        rename(at, name, kind, &quarantine, &to)
    }

    /// Before it is done: who is killed has the list all the same.
    pub fn note(&mut self, line: String) -> io::Result<()> {
        self.folder()?;
        if self.done.len() < LISTED && !self.done.contains(&line) {
            let mut list = File::options().append(true).create(true).open(self.to.join(LIST))?;
            list.write_all(format!("{line}\n").as_bytes())?;
            self.done.push(line);
        } else if self.done.len() == LISTED {
            self.done.push("and more".into());
        }
        Ok(())
    }

    fn folder(&mut self) -> io::Result<OwnedFd> {
        if self.folder.is_none() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(self.to)?;
            self.folder = Some(nix::fcntl::open(self.to, OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?);
        }
        self.folder.as_ref().ok_or(Errno::EBADF)?.try_clone()
    }
}

/// Renames, also out of a folder, and a folder, that its step has closed.
pub fn rename(at: &Place, name: &CStr, kind: Type, folder: impl AsFd, to: &CStr) -> io::Result<()> {
    match renameat(at.folder, name, folder.as_fd(), to) {
        // Of a folder that moves, the way up is changed as well.
        Err(Errno::EACCES) => {
            open_up(at.folder)?;
            if kind == Type::Directory {
                open_up(open_folder(at.folder, name)?.0.as_fd())?;
            }
            Ok(renameat(at.folder, name, folder.as_fd(), to)?)
        }
        renamed => Ok(renamed?),
    }
}

/// Where something is, from the root, as a report shows it.
pub fn relative(at: &Place, name: &CStr) -> String {
    let shown = &at.path[..at.path.len().min(SHOWN)];
    let slash: &[u8] = if shown.is_empty() { b"" } else { b"/" };
    escape(&[shown, slash, name.to_bytes()].concat())
}
