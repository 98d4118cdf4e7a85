//! After the attempt: the step's commits are taken out of its private store, checked, and put on the attempt's own branch.
//! Only a git in a box reads what the step wrote, and only the bytes of a pack come out of it; they are checked in a
//! quarantine before anything of them is in the repository. Killed at any point and called again, it comes to the same end.

mod bare;
mod batch;
mod boxed;
mod changes;
mod check;
mod code;
mod commit;
mod index;
mod lines;
mod links;
mod names;
mod objects;
mod policy;
mod refs;
mod run;
mod settle;
mod signing;
mod spelling;
mod sweep;
mod trees;
mod weight;
mod worktree;

use std::path::Path;

pub use code::Code;
use code::Fault;
pub use worktree::tame;

use self::objects::Quarantine;
use self::run::Watch;
use super::lock::Lock;
use super::record::Record;
use super::store::Store;

/// What was imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Where the attempt's own branch stands now, in hex: the base, if the step made no commit.
    pub tip: String,
    /// Its further branches: full name and id.
    pub branches: Vec<(String, String)>,
    /// How many commits were signed.
    pub signed: usize,
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

/// Imports what a step has committed. No process of the step lives. When `stop` says true, because the user wants kusaw to end,
/// the import ends soon, and another call begins it again; only a git that writes the repository is waited for.
///
/// The repository is locked while it is written or cleaned, and not while a step's objects are looked through: that may take
/// its time, and others work in the repository. Whether the branches stand where they did is checked by the transaction that
/// moves them.
///
/// # Errors
/// When anything is not as it must be; then no branch has moved.
pub fn import(store: &Store, record: &Record, stop: &dyn Fn() -> bool) -> Result<Imported, Rejected> {
    // First, and before any branch moves: whatever becomes of the commits, somebody will look at the worktree with git.
    let (quarantined, swept) = worktree::sweep(store, record);
    match swept.and_then(|()| commits(store, record, stop)) {
        Ok((refs::Wanted { tip, branches, left }, signed)) => Ok(Imported { tip, branches, signed, left, quarantined }),
        Err(Fault { code, detail }) => Err(Rejected { code, detail, quarantined }),
    }
}

/// What was imported, and how many commits of that are signed.
fn commits(store: &Store, record: &Record, stop: &dyn Fn() -> bool) -> Result<(refs::Wanted, usize), Fault> {
    // What a killed import has started ends soon, and holds this until then.
    let _alone = lock(&store.root, stop)?;
    settle::clear(store)?;
    sweep::sweep(&store.git())?;
    let view = bare::view(store, record)?;
    let watch = Watch::new(stop);
    let mut wanted = refs::wanted(&refs::of_step(&view, record, &watch)?, &refs::at_start(store)?, record)?;
    let mut signed = 0;
    if wanted.tip != record.base || !wanted.branches.is_empty() {
        let there = {
            let _lock = lock(&record.common, stop)?;
            settle::clean(record)?;
            refs::there(record, &watch)?
        };
        refs::fit(&mut wanted, &there);
        let before = signing::Signed::before(store, record, &watch)?;
        let before = before.and_then(|before| Some((before.of(&wanted)?, before.commits)));
        let is_signed = before.is_some();
        if let Some(before) = before {
            (wanted, signed) = before;
        }
        refs::can_move(&there, &wanted, record)?;
        // Else a killed import has come that far: all of it was checked.
        let mut packs = Vec::new();
        if !is_signed && !refs::are_there(&there, &wanted, record) {
            let quarantine = Quarantine::fill(&view, store, record, &wanted, &watch)?;
            check::all(&quarantine, &wanted, record, &watch)?;
            match &record.sign {
                None => packs = quarantine.packs().map_err(Fault::failed("quarantine"))?,
                Some(key) => {
                    let made = signing::all(&quarantine, &wanted, (store, record), key, &Watch::new(stop))?;
                    (wanted, signed) = (made.0.of(&wanted).unwrap_or(wanted), made.0.commits);
                    packs = made.1;
                }
            }
        }
        let _lock = lock(&record.common, stop)?;
        settle::settle(&packs, &there, &wanted, record, &Watch::new(stop))?;
        index::rebuild(store, record, &wanted.tip)?;
    }
    settle::clear(store)?;
    Ok((wanted, signed))
}

fn lock(folder: &Path, stop: &dyn Fn() -> bool) -> Result<Lock, Fault> {
    let locked = Lock::take_unless(folder, stop)
        .map_err(|e| Fault::new(Code::Failed, format!("{}: lock: {e}", folder.display())))?;
    locked.ok_or_else(|| Fault::new(Code::Interrupted, format!("{}: waiting for the lock", folder.display())))
}

/// A path of a step, and the commit that has it.
fn at(path: &[u8], commit: &str) -> String {
    format!("{} in {}", String::from_utf8_lossy(path), &commit[..commit.len().min(12)])
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
