//! The last stage: what has passed every check comes into the repository, its objects first, then in one transaction the
//! branches. And the first one: what a killed import has left is taken away.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::code::{Code, Fault};
use super::objects::Quarantine;
use super::refs::{self, Ids, Wanted};
use super::{index, run};
use crate::git::command::Git;
use crate::git::record::Record;
use crate::git::store::Store;

/// What the reflog says.
const MESSAGE: &str = "kusaw: import";

/// Who the reflog says it was.
const WHO: [(&str, &str); 2] = [("GIT_COMMITTER_NAME", "kusaw"), ("GIT_COMMITTER_EMAIL", "kusaw@localhost")];

/// Takes away what an import of this attempt has left half done, and what this one needs no more. Locks of others stay.
///
/// # Errors
/// Those of the file system.
pub fn clean(store: &Store, record: &Record) -> Result<(), Fault> {
    let import = store.import();
    absent_is_fine(fs::remove_dir_all(&import)).map_err(Fault::failed(import.display()))?;
    for pack in kept(record) {
        remove(&pack)?;
    }
    let branches = record.common.join(&record.namespace);
    let mut folders = vec![branches];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) if entry.path().extension().is_some_and(|is| is == "lock") => remove(&entry.path())?,
                _ => {}
            }
        }
    }
    remove(&record.admin.join("HEAD.lock"))?;
    remove(&index::beside(record))
}

/// Brings objects and branches into the repository. `there` is where its branches of the attempt stand.
///
/// # Errors
/// When a branch has been moved at the last moment: then the objects are taken out again.
pub fn settle(quarantine: &Quarantine, there: &Ids, wanted: &Wanted, record: &Record) -> Result<(), Fault> {
    let mut came = Vec::new();
    for pack in quarantine.packs().map_err(Fault::failed("quarantine"))? {
        came.extend(index_pack(&pack, quarantine, record)?);
    }
    let moved = branches(there, wanted, record);
    let kept = kept(record);
    if moved.is_err() {
        // Nobody names these objects; the index first, without it nobody reads the pack.
        let parts = came.iter().flat_map(|pack| ["idx", "rev", "pack"].map(|part| pack.with_extension(part)));
        parts.chain(kept).for_each(|part| drop(fs::remove_file(part)));
        return moved;
    }
    kept.iter().try_for_each(|keep| remove(keep))
}

/// A pack that the repository does not have yet, kept from any `gc` until the branches name its objects.
fn index_pack(pack: &Path, quarantine: &Quarantine, record: &Record) -> Result<Option<PathBuf>, Fault> {
    if quarantine.new.is_empty() {
        return Ok(None);
    }
    let failed = |said: String| Fault::new(Code::Failed, format!("{}: {said}", record.common.display()));
    let keep = format!("--keep={}", mark(record));
    let mut git = Git::of(&record.common).command(["index-pack", "--stdin", &keep]).map_err(failed)?;
    let pack = File::open(pack).map_err(Fault::failed(pack.display()))?;
    let bounds = crate::process::command::Bounds { time: run::TIME, said: 1000 };
    let said = crate::process::command::run(&mut git, Some(pack), bounds).map_err(Fault::failed("index-pack"))?;
    let said = said.map_err(failed)?;
    // "keep" or "pack", and the pack's id: git-index-pack(1). "pack" was there before.
    let name = String::from_utf8_lossy(&said).trim().strip_prefix("keep\t").map(|id| format!("pack-{id}.pack"));
    Ok(name.and_then(|name| Some(packs(record)?.join(name))))
}

/// One transaction: all branches, or none. Through the worktree's own folder, so that its HEAD has a line in its reflog.
fn branches(there: &Ids, wanted: &Wanted, record: &Record) -> Result<(), Fault> {
    let own = record.branch();
    let mut lines = String::new();
    if there.get(&own) != Some(&wanted.tip) {
        lines.push_str(&format!("update {own} {} {}\n", wanted.tip, record.base));
    }
    let more = wanted.branches.iter().filter(|(name, id)| there.get(name) != Some(id));
    more.for_each(|(name, id)| lines.push_str(&format!("create {name} {id}\n")));
    if lines.is_empty() {
        return Ok(());
    }
    let folder = if record.admin.is_dir() { &record.admin } else { &record.common };
    let git = WHO.iter().fold(Git::of(folder), |git, (name, value)| git.with(name, value));
    let moved =
        git.run_with(["update-ref", "--no-deref", "--create-reflog", "-m", MESSAGE, "--stdin"], lines.as_bytes());
    moved.map(drop).map_err(|said| {
        let code = match refs::there(record).and_then(|there| refs::can_move(&there, wanted, record)) {
            Err(moved) => moved.code,
            Ok(()) => Code::Failed,
        };
        Fault::new(code, format!("update-ref: {said}"))
    })
}

/// The files that keep packs of this attempt.
fn kept(record: &Record) -> Vec<PathBuf> {
    let list = packs(record).and_then(|packs| fs::read_dir(packs).ok());
    let paths = list.into_iter().flatten().flatten().map(|entry| entry.path());
    let keeps = paths.filter(|path| path.extension().is_some_and(|is| is == "keep"));
    keeps.filter(|path| fs::read_to_string(path).is_ok_and(|text| text.trim() == mark(record))).collect()
}

fn packs(record: &Record) -> Option<PathBuf> {
    record.objects.first().map(|objects| objects.join("pack"))
}

/// What stands in them.
fn mark(record: &Record) -> String {
    format!("kusaw-{}-{}", record.attempt, record.repo)
}

fn remove(file: &Path) -> Result<(), Fault> {
    absent_is_fine(fs::remove_file(file)).map_err(Fault::failed(file.display()))
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|e| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) })
}
