//! What lies in the quarantine is no repository for a git that comes by there, nothing in it holds whoever opens it, and
//! nothing runs as somebody else. It stays where its step had it, so that its user can look at all of it.

use std::ffi::{CStr, CString};
use std::io;
use std::path::Path;

use nix::dir::Type;
use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::sys::stat::fstatat;

use super::entry::{self, Marks};
use super::fault;
use super::moving::{LIST, rename};
use super::walk::{Look, Place, Seen, walk};
use crate::git::import::code::Fault;
use crate::git::import::spelling;

/// Goes through all of a quarantine, also what a killed one has moved there. Without one there is nothing to do.
///
/// # Errors
/// When something cannot be looked at or changed; all else was done.
pub fn disarm(quarantine: &Path) -> Result<(), Fault> {
    if !quarantine.is_dir() {
        return Ok(());
    }
    fault(quarantine, walk(quarantine, &mut Disarm { marks: Marks::default(), next: 0 }))
}

struct Disarm {
    marks: Marks,
    next: u64,
}

impl Look for Disarm {
    fn look(&mut self, at: &Place, name: &CStr, kind: Type) -> io::Result<Seen> {
        self.marks.see(name, kind);
        if spelling::is_git(name.to_bytes()) {
            return Ok(Seen::Taken("git"));
        }
        if entry::special(kind).is_some() {
            entry::close(at, name)?;
        } else if kind == Type::File && !(at.path.is_empty() && name.to_bytes() == LIST.as_bytes()) {
            entry::without_set_id(at, name)?;
        }
        Ok(Seen::Stays)
    }

    fn end(&mut self, _: &Place) -> Option<(CString, &'static str)> {
        self.marks.head().map(|head| (head, "HEAD"))
    }

    /// Called something else, in its folder.
    fn take(&mut self, at: &Place, name: &CStr, kind: Type, what: &'static str) -> io::Result<Option<CString>> {
        let to = loop {
            self.next += 1;
            let to = CString::new(format!("{what}-{}", self.next))?;
            if fstatat(at.folder, &*to, AtFlags::AT_SYMLINK_NOFOLLOW) == Err(Errno::ENOENT) {
                break to;
            }
        };
        rename(at, name, kind, at.folder, &to)?;
        if entry::special(kind).is_some() {
            entry::close(at, &to)?;
        } else if kind == Type::File {
            entry::without_set_id(at, &to)?;
        }
        Ok(Some(to))
    }
}
