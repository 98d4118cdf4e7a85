//! After the attempt: the step's commits are taken out of its private store, checked, and put on the attempt's own branch.
//! Only a git in a box reads what the step wrote, and only the bytes of a pack come out of it; they are checked in a
//! quarantine before anything of them is in the repository. Killed at any point and called again, it comes to the same end.

mod bare;
mod boxed;
mod check;
mod code;
mod index;
mod objects;
mod policy;
mod refs;
mod run;
mod settle;
mod spelling;
mod sweep;
mod worktree;

use std::io;
use std::path::Path;

pub use code::Code;
use code::Fault;
pub use worktree::tame;

use self::objects::Quarantine;
use super::record::Record;
use super::store::Store;

/// What was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Where the attempt's own branch stands now, in hex: the base, if the step made no commit.
    pub tip: String,
    /// Its further branches: full name and id.
    pub branches: Vec<(String, String)>,
    /// Names of what was not imported: tags, other branches, stashes; escaped, and not all if there are many.
    pub left: Vec<String>,
    /// What was moved out of the worktree or taken off it: places in it and what became of them, escaped.
    pub quarantined: Vec<String>,
}

/// Why nothing was imported: the repository is as it was.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {detail}")]
pub struct Rejected {
    /// The typed reason.
    pub code: Code,
    /// What and where, escaped.
    pub detail: String,
    /// As in [`Imported`].
    pub quarantined: Vec<String>,
}

impl Rejected {
    /// Somebody else is at the repository, or its folder is gone.
    pub fn locked(common: &Path, e: &io::Error) -> Rejected {
        Rejected {
            code: Code::Failed,
            detail: escape(format!("{}: lock: {e}", common.display()).as_bytes()),
            quarantined: Vec::new(),
        }
    }
}

/// Imports what a step has committed. The caller holds the lock of the repository, and no process of the step lives.
///
/// # Errors
/// When anything is not as it must be; then nothing was imported.
pub fn import(store: &Store, record: &Record) -> Result<Imported, Rejected> {
    // First, and before any branch moves: whatever becomes of the commits, somebody will look at the worktree with git.
    let (quarantined, swept) = worktree::sweep(store, record);
    match swept.and_then(|()| commits(store, record)) {
        Ok(refs::Wanted { tip, branches, left }) => Ok(Imported { tip, branches, left, quarantined }),
        Err(Fault { code, detail }) => Err(Rejected { code, detail, quarantined }),
    }
}

fn commits(store: &Store, record: &Record) -> Result<refs::Wanted, Fault> {
    settle::clean(store, record)?;
    sweep::sweep(&store.git())?;
    let view = bare::view(store, record)?;
    let wanted = refs::wanted(&refs::of_step(&view, record)?, &refs::at_start(store)?, record)?;
    if wanted.tip != record.base || !wanted.branches.is_empty() {
        let there = refs::there(record)?;
        refs::can_move(&there, &wanted, record)?;
        // Else a killed import has come that far: all of it was checked.
        if !refs::are_there(&there, &wanted, record) {
            let quarantine = Quarantine::fill(&view, store, record, &wanted)?;
            check::all(&quarantine, &wanted, record)?;
            settle::settle(&quarantine, &there, &wanted, record)?;
        }
        index::rebuild(store, record, &wanted.tip)?;
    }
    settle::clean(store, record)?;
    Ok(wanted)
}

/// Most characters of a name in a report.
const MOST: usize = 400;

/// Bytes of a step as a report has them: on one line, and nothing in it that a terminal obeys.
fn escape(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let cut = text.char_indices().nth(MOST).map_or(text.len(), |(at, _)| at);
    let one = |c: char| match c {
        '"' | '\'' => c.to_string(),
        c => c.escape_debug().collect(),
    };
    let escaped: String = text[..cut].chars().map(one).collect();
    if cut < text.len() { escaped + "…" } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_step_names_is_harmless_in_a_report() {
        assert_eq!(escape(b"a\x1b[31m\nb"), "a\\u{1b}[31m\\nb");
        assert_eq!(escape("ä'\u{202e}".as_bytes()), "ä'\\u{202e}");
        assert_eq!(escape(b"\xff"), "\u{fffd}");
        assert_eq!(escape(&[b'a'; 500]).chars().count(), 401);
    }
}
