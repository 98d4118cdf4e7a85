//! What a step has left in a worktree, or in its artifacts, that must not stay there: repositories, whose config any git that
//! comes by would obey; FIFOs, sockets and devices, which hold or reach whoever opens them; set-user-id and set-group-id bits.
//! No process of the step is there any more to exchange anything.

mod artifacts;
mod base;
mod disarm;
mod entry;
mod moving;
mod open;
mod pointer;
mod walk;

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use nix::dir::Type;

pub use artifacts::tame;
use base::Base;
use entry::Marks;
use moving::{Moving, relative};
use walk::{Look, Place, Seen, Trouble, walk};

use super::code::{Code, Fault};
use super::{escape, spelling};
use crate::git::record::Record;
use crate::git::store::Store;

/// Moves out of the worktree into the quarantine what no git may find there, and takes the bits away. The value names all that
/// this and earlier calls did: it outlives a crash.
///
/// # Errors
/// When the file `.git` of git's own does not lead to its folder, and when something cannot be looked at or moved. All else
/// was swept then.
pub fn sweep(store: &Store, record: &Record) -> (Vec<String>, Result<(), Fault>) {
    let quarantine = store.quarantine();
    let mut sweep = Sweep { moving: Moving::to(&quarantine), marks: Marks::default(), base: Base::of(record) };
    let swept = match pointer::place(store, record) {
        Some(place) => {
            let trouble = walk(&place, &mut sweep);
            // In any case: whatever became of its .git, somebody will look at it with git.
            fault(&place, trouble).and_then(|()| pointer::leads(&place, &record.admin))
        }
        None => {
            let at = escape(record.worktree.as_os_str().as_bytes());
            sweep.moving.done.push(format!("the worktree is not at {at} any more: nothing was swept"));
            Ok(())
        }
    };
    let disarmed = disarm::disarm(&quarantine);
    (sweep.moving.done, swept.and(disarmed))
}

/// What is reported of a file.
const TOOK: &str = "set-user-id and set-group-id taken away";

struct Sweep<'a> {
    moving: Moving<'a>,
    marks: Marks,
    base: Base<'a>,
}

impl Look for Sweep<'_> {
    fn look(&mut self, at: &Place, name: &CStr, kind: Type) -> io::Result<Seen> {
        if spelling::is_git(name.to_bytes()) {
            // The one at the top is git's own; the caller looks at what it is.
            let is_own = at.path.is_empty() && name == c".git";
            return Ok(if is_own { Seen::Passed } else { Seen::Taken("a name that git takes for .git") });
        }
        if let Some(what) = entry::special(kind) {
            return Ok(Seen::Taken(what));
        }
        self.marks.see(name, kind);
        let stat = if kind == Type::File { Some(entry::without_set_id(at, name)?) } else { None };
        if stat.as_ref().is_some_and(entry::has_set_id) {
            self.moving.note(format!("{}: {TOOK}", relative(at, name)))?;
        }
        Ok(entry::whole(name, kind, stat.as_ref()).map_or(Seen::Stays, Seen::Taken))
    }

    /// git takes a folder of certain names for a repository, and obeys its config. At the top it finds `.git` first.
    fn end(&mut self, at: &Place) -> Option<(CString, &'static str)> {
        let head = self.marks.head().filter(|_| !at.path.is_empty() && !self.base.has_repository(at))?;
        Some((head, "what makes its folder a repository"))
    }

    fn take(&mut self, at: &Place, name: &CStr, kind: Type, what: &'static str) -> io::Result<Option<CString>> {
        self.moving.take(at, name, kind, what).map(|()| None)
    }
}

fn fault(root: &Path, trouble: Trouble) -> Result<(), Fault> {
    let Some((at, e)) = trouble.first else { return Ok(()) };
    let at = String::from_utf8_lossy(&at);
    let more = if trouble.more > 0 { format!("; and {} more places", trouble.more) } else { String::new() };
    // The place last: a report cuts a long one.
    Err(Fault::new(Code::WorktreeUnreadable, format!("{e}{more}: {}/{}", root.display(), at.trim_matches('/'))))
}
