//! The last stage: what has passed every check comes into the repository, its objects first, then in one transaction the
//! branches. And the first one: what a killed import has left is taken away.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::code::{Code, Fault};
use super::index;
use super::refs::{self, Ids, Wanted};
use super::run::Watch;
use crate::git::command::Git;
use crate::git::record::Record;
use crate::git::store::Store;
use crate::process::command::{self, Bounds};

/// What the reflog says.
const MESSAGE: &str = "kusaw: import";

/// Longest for the pack to come into the repository: it has passed every check in less.
const TIME: Duration = Duration::from_secs(240);

/// Who the reflog says it was.
const WHO: [(&str, &str); 2] = [("GIT_COMMITTER_NAME", "kusaw"), ("GIT_COMMITTER_EMAIL", "kusaw@localhost")];

/// A ref's lock that is older was left by a git that was killed: one at work holds it for milliseconds. No git of ours is at
/// work, each has the repository's lock; but somebody's own may be, on these branches as well.
const FORGOTTEN: Duration = Duration::from_secs(60);

/// Takes away what an import of this attempt has left half done in the repository. What others have there stays.
///
/// # Errors
/// Those of the file system.
pub fn clean(record: &Record) -> Result<(), Fault> {
    unkeep(record)?;
    let mut folders = vec![record.common.join(&record.namespace)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(_) if entry.path().extension().is_some_and(|is| is == "lock") => forget(&entry.path())?,
                _ => {}
            }
        }
    }
    if !index::is_own(record) {
        return Ok(());
    }
    forget(&record.admin.join("HEAD.lock"))?;
    remove(&index::beside(record))
}

/// Takes away the folder that an import works in.
///
/// # Errors
/// Those of the file system.
pub fn clear(store: &Store) -> Result<(), Fault> {
    let import = store.import();
    absent_is_fine(fs::remove_dir_all(&import)).map_err(Fault::failed(import.display()))
}

/// Brings objects, a pack or none, and branches into the repository. `there` is where its branches of the attempt stand. If those cannot be
/// moved, the objects stay, named by nobody: the same pack may have been there before, and whoever uses it need not have a ref
/// (a detached worktree, a reflog). The user's own gc knows.
///
/// # Errors
/// When a branch has been moved at the last moment.
pub fn settle(packs: &[PathBuf], there: &Ids, wanted: &Wanted, record: &Record, watch: &Watch) -> Result<(), Fault> {
    packs.iter().try_for_each(|pack| index_pack(pack, record))?;
    branches(there, wanted, record, watch).and(unkeep(record))
}

/// Takes a pack in, kept from any `gc` until the branches name its objects.
fn index_pack(pack: &Path, record: &Record) -> Result<(), Fault> {
    let failed = |said: String| Fault::new(Code::Failed, format!("{}: {said}", record.common.display()));
    let keep = format!("--keep={}", mark(record));
    let mut git = Git::of(&record.common).command(["index-pack", "--stdin", &keep]).map_err(failed)?;
    let pack = File::open(pack).map_err(Fault::failed(pack.display()))?;
    let bounds = Bounds { time: TIME, said: 1000 };
    let said = command::run(&mut git, Some(pack), bounds).map_err(Fault::failed("index-pack"))?;
    said.map(drop).map_err(failed)
}

/// One transaction: all branches, or none. Through the worktree's own folder, so that its HEAD has a line in its reflog.
fn branches(there: &Ids, wanted: &Wanted, record: &Record, watch: &Watch) -> Result<(), Fault> {
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
    let folder = if index::is_own(record) { &record.admin } else { &record.common };
    let git = WHO.iter().fold(Git::of(folder), |git, (name, value)| git.with(name, value));
    let moved =
        git.run_with(["update-ref", "--no-deref", "--create-reflog", "-m", MESSAGE, "--stdin"], lines.as_bytes());
    moved.map(drop).map_err(|said| {
        let code = match refs::there(record, watch).and_then(|there| refs::can_move(&there, wanted, record)) {
            Err(moved) => moved.code,
            Ok(()) if is_passing(&said) => Code::Failed,
            Ok(()) => Code::BranchRefused,
        };
        Fault::new(code, format!("update-ref: {said}"))
    })
}

/// What may be otherwise the next time: a lock of somebody's git, a disk that is full, a git that did not end.
fn is_passing(said: &str) -> bool {
    // The last line of the advice that git gives on a lock (lockfile.c), and of strerror(3); "git: " is not git's.
    let signs =
        ["remove the file manually", "File exists", "No space left", "quota exceeded", "Read-only file", "Permission"];
    signs.iter().any(|sign| said.contains(sign)) || said.starts_with("it took longer") || said.starts_with("git: ")
}

/// Lets go of packs: nothing but our own `.keep` is removed.
fn unkeep(record: &Record) -> Result<(), Fault> {
    let list = record.objects.first().and_then(|objects| fs::read_dir(objects.join("pack")).ok());
    let paths = list.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut keeps = paths.filter(|path| path.extension().is_some_and(|is| is == "keep"));
    let mark = mark(record);
    keeps.try_for_each(|keep| match fs::read_to_string(&keep) {
        Ok(text) if text.strip_suffix('\n') == Some(&mark[..]) => remove(&keep),
        _ => Ok(()),
    })
}

/// What stands in a `.keep` of this attempt's worktree. Neither an id nor a repo's name has a slash in it: both are names of
/// folders.
fn mark(record: &Record) -> String {
    format!("kusaw import {}/{}", record.attempt, record.repo)
}

fn forget(lock: &Path) -> Result<(), Fault> {
    let written = fs::symlink_metadata(lock).and_then(|meta| meta.modified());
    let is_old = written.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > FORGOTTEN));
    if is_old { remove(lock) } else { Ok(()) }
}

fn remove(file: &Path) -> Result<(), Fault> {
    absent_is_fine(fs::remove_file(file)).map_err(Fault::failed(file.display()))
}

fn absent_is_fine(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|e| if e.kind() == ErrorKind::NotFound { Ok(()) } else { Err(e) })
}
