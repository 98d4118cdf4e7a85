//! The way of the new objects: a git in the box packs them, a git outside takes the pack in, with all of fsck's checks, into a
//! quarantine that the repository does not know of. Between the two there is a pipe, and no protocol.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::bare::{self, View};
use super::boxed::limit;
use super::code::{Code, Fault};
use super::refs::{self, Wanted};
use super::run;
use crate::git::command::Git;
use crate::git::record::Record;
use crate::git::store::Store;
use crate::process::pidfd;

/// Of all new objects together, unpacked, in bytes; of the pack the same.
const BUDGET: u64 = 512 << 20;

/// New objects.
const MOST: usize = 1_000_000;

/// In the store's import folder.
const QUARANTINE: &str = "quarantine.git";

/// What git calls a kind of object.
const COMMIT: &str = "commit";

/// The new objects, by themselves.
#[derive(Debug)]
pub struct Quarantine {
    at: PathBuf,
    borrowed: PathBuf,
    /// What of the repository was not packed again: ids of commits and tags.
    pub known: Vec<String>,
    /// Id, and whether it is a commit.
    pub new: HashMap<String, bool>,
}

impl Quarantine {
    /// Takes in what the tips need and the repository does not have. First only the base counts as known: an ordinary step
    /// has built on nothing else, and 20,000 refs are 20,000 commits to read. What other refs lead to comes along then, if the
    /// step has merged it; so if anything of that is there already, or is refused, all refs count.
    ///
    /// # Errors
    /// When objects are missing, refused by fsck, or too large or too many.
    pub fn fill(view: &View, store: &Store, record: &Record, wanted: &Wanted) -> Result<Quarantine, Fault> {
        let at = store.import().join(QUARANTINE);
        let first = Quarantine::of(&at, view, record, wanted, vec![record.base.clone()]);
        if first.as_ref().is_ok_and(|quarantine| quarantine.holds_nothing_of(record).unwrap_or(false)) {
            return first;
        }
        let mut known = there(&refs::all(record)?.into_values().collect(), record)?;
        known.insert(record.base.clone());
        if known.len() == 1 {
            return first;
        }
        fs::remove_dir_all(&at).map_err(Fault::failed(at.display()))?;
        Quarantine::of(&at, view, record, wanted, known.into_iter().collect())
    }

    fn of(at: &Path, view: &View, record: &Record, wanted: &Wanted, known: Vec<String>) -> Result<Quarantine, Fault> {
        bare::make(at, record, "files").map_err(Fault::failed(at.display()))?;
        let mut quarantine = Quarantine { at: at.into(), borrowed: borrowed(record), known, new: HashMap::new() };
        quarantine.take(view, record, wanted)?;
        quarantine.weigh()?;
        Ok(quarantine)
    }

    /// git on the new objects and the repository's.
    pub fn git(&self) -> Git {
        self.alone().with("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.borrowed)
    }

    /// The packs: one, or none.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn packs(&self) -> io::Result<Vec<PathBuf>> {
        let list = fs::read_dir(self.at.join("objects/pack"))?;
        let paths = list.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
        Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|is| is == "pack")).collect())
    }

    fn alone(&self) -> Git {
        Git::of(&self.at)
    }

    /// Box and quarantine, with a pipe between.
    fn take(&self, view: &View, record: &Record, wanted: &Wanted) -> Result<(), Fault> {
        let failed = Fault::failed("packing");
        let mut revisions: String = wanted.tips().map(|id| format!("{id}\n")).collect();
        self.known.iter().for_each(|id| revisions.extend(["^", id, "\n"]));
        let packing = ["pack-objects", "--revs", "--stdout", "-q", "--delta-base-offset", "--threads=1"];
        let mut pack = view.shown().git(&packing)?;
        let (mut pack_said, mut index_said) =
            (tempfile::tempfile().map_err(&failed)?, tempfile::tempfile().map_err(&failed)?);
        pack.stdin(run::file_of(revisions.as_bytes()).map_err(&failed)?);
        pack.stdout(Stdio::piped()).stderr(pack_said.try_clone().map_err(&failed)?);
        let most = format!("--max-input-size={BUDGET}");
        let checks = if is_partial(record) { "--fsck-objects" } else { "--strict" };
        let arguments = ["index-pack", "--stdin", checks, &most, "--threads=1"];
        let mut index = self.git().command(arguments).map_err(|said| Fault::new(Code::Failed, said))?;
        limit(&mut index);
        index.stdout(Stdio::null()).stderr(index_said.try_clone().map_err(&failed)?);
        let mut packing = pack.spawn().map_err(|e| Fault::new(Code::NoBox, e))?;
        let deadline = Instant::now() + run::TIME;
        let indexed = packing.stdout.take().ok_or_else(|| io::Error::other("no pipe")).and_then(|pipe| {
            let mut indexing = index.stdin(pipe).spawn()?;
            // The command holds a copy of the pipe's end: the box must see that nobody reads any more.
            drop(index);
            end(&mut indexing, deadline)
        });
        let packed = end(&mut packing, if indexed.is_ok() { deadline } else { Instant::now() });
        match (indexed.map_err(&failed)?, packed.map_err(&failed)?) {
            (Some(index), Some(pack)) if index.success() && pack.success() => Ok(()),
            (Some(_), Some(_)) => Err(refused(&run::tail(&mut index_said), &run::tail(&mut pack_said))),
            _ => Err(Fault::new(Code::TookTooLong, "packing the new objects")),
        }
    }

    /// Sizes stand in a pack before each object: nothing is unpacked for them.
    fn weigh(&mut self) -> Result<(), Fault> {
        let format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
        let git = self.alone().command(["cat-file", "--batch-all-objects", "--unordered", format]);
        let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
        let said = run::run(git, b"", Code::ObjectsMissing, "cat-file")?;
        let mut sum = 0u64;
        for line in String::from_utf8_lossy(&said).lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [id, kind, size] = words[..] else { return Err(Fault::new(Code::Failed, format!("cat-file: {line}"))) };
            sum = sum.saturating_add(size.parse().unwrap_or(u64::MAX));
            self.new.insert(id.into(), kind == COMMIT);
        }
        if self.new.len() > MOST {
            return Err(Fault::new(Code::TooMany, format!("{} new objects; {MOST} are allowed", self.new.len())));
        }
        if sum > BUDGET {
            return Err(Fault::new(Code::TooLarge, format!("{sum} bytes of new objects; {BUDGET} are allowed")));
        }
        Ok(())
    }

    /// Whether no commit of these is in the repository.
    fn holds_nothing_of(&self, record: &Record) -> Result<bool, Fault> {
        let commits = self.new.iter().filter(|(_, is)| **is).map(|(id, _)| id.clone()).collect();
        Ok(there(&commits, record)?.is_empty())
    }
}

/// Those of the objects that are in the repository: a ref may be broken.
fn there(ids: &BTreeSet<String>, record: &Record) -> Result<BTreeSet<String>, Fault> {
    let lines: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let git = Git::of(&record.common).command(["cat-file", "--batch-check=%(objectname)"]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    let said = run::run(git, lines.as_bytes(), Code::Failed, "cat-file")?;
    // "ID missing"
    Ok(String::from_utf8_lossy(&said).lines().filter(|line| !line.contains(' ')).map(str::to_string).collect())
}

/// What the two said, for whoever reads the outcome.
fn refused(index: &str, pack: &str) -> Fault {
    // The end of the pack came early: the box has failed.
    let (code, said) = if index.contains("early EOF") || index.is_empty() {
        (if pack.starts_with("bwrap:") { Code::NoBox } else { Code::ObjectsMissing }, pack)
    } else if index.contains("maximum allowed size") {
        (Code::TooLarge, index)
    } else if index.contains("did not receive expected object") {
        (Code::ObjectsMissing, index)
    } else if index.contains("hasDotgit") {
        (Code::PathGit, index)
    } else {
        (Code::ObjectsBad, index)
    };
    Fault::new(code, said)
}

/// Waits; what is not done in time is killed.
fn end(child: &mut Child, deadline: Instant) -> io::Result<Option<ExitStatus>> {
    let ended = pidfd::open(child.id() as i32)?;
    let left = deadline.saturating_duration_since(Instant::now());
    let left = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
    let in_time = poll(&mut [PollFd::new(ended.as_fd(), PollFlags::POLLIN)], left).is_ok_and(|n| n > 0);
    if !in_time {
        child.kill()?;
    }
    let status = child.wait()?;
    Ok(in_time.then_some(status))
}

/// The real object folders, as git takes a list of them: git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES.
fn borrowed(record: &Record) -> PathBuf {
    let mut list = Vec::new();
    for folder in &record.objects {
        list.extend(if list.is_empty() { &b"\""[..] } else { b":\"" });
        for byte in folder.as_os_str().as_bytes() {
            list.extend(matches!(byte, b'"' | b'\\').then_some(b'\\'));
            list.push(*byte);
        }
        list.push(b'"');
    }
    std::ffi::OsString::from_vec(list).into()
}

/// Whether objects may be missing on purpose: a partial clone, gitrepository-layout(5). index-pack would take their absence
/// for a broken link.
fn is_partial(record: &Record) -> bool {
    let packs = record.objects.iter().filter_map(|folder| fs::read_dir(folder.join("pack")).ok());
    packs.flatten().flatten().any(|entry| entry.path().extension().is_some_and(|is| is == "promisor"))
}
