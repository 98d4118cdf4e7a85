//! The artifacts: set-user-id and set-group-id bits are taken away, and FIFOs, sockets and devices are closed where they lie.
//! Repositories stay: a step may well keep one, and no git looks into artifacts by itself.

use std::ffi::{CStr, CString};
use std::io;
use std::path::Path;

use nix::dir::Type;

use super::entry;
use super::moving::relative;
use super::walk::{Look, Place, Seen, walk};
use super::{TOOK, fault};
use crate::git::import::code::Fault;

/// Makes all below `folder` harmless to open and to execute; the value names what it did.
///
/// # Errors
/// When something cannot be looked at or changed; all else was done.
pub fn tame(folder: &Path) -> (Vec<String>, Result<(), Fault>) {
    let mut artifacts = Artifacts { done: Vec::new(), more: 0 };
    let trouble = walk(folder, &mut artifacts);
    if artifacts.more > 0 {
        artifacts.done.push(format!("and {} more", artifacts.more));
    }
    (artifacts.done, fault(folder, trouble))
}

/// Places that are named.
const NAMED: usize = 100;

struct Artifacts {
    done: Vec<String>,
    more: u64,
}

impl Artifacts {
    fn note(&mut self, at: &Place, name: &CStr, what: &str) {
        if self.done.len() < NAMED {
            self.done.push(format!("{}: {what}", relative(at, name)));
        } else {
            self.more += 1;
        }
    }
}

impl Look for Artifacts {
    fn look(&mut self, at: &Place, name: &CStr, kind: Type) -> io::Result<Seen> {
        if let Some(what) = entry::special(kind) {
            entry::close(at, name)?;
            self.note(at, name, &format!("{what}, closed"));
        } else if kind == Type::File && entry::has_set_id(&entry::without_set_id(at, name)?) {
            self.note(at, name, TOOK);
        }
        Ok(Seen::Stays)
    }

    fn take(&mut self, _: &Place, _: &CStr, _: Type, _: &'static str) -> io::Result<Option<CString>> {
        Ok(None)
    }
}
