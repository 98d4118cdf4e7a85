//! The way of the new objects: a git in the box packs them, a git outside takes the pack in, with all of fsck's checks, into a
//! quarantine that the repository does not know of. Between the two there is a pipe, and no protocol.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::bare::{self, View};
use super::boxed::limit;
use super::code::{Code, Fault};
use super::lines::Lines;
use super::refs::{self, Wanted};
use super::run::{self, Watch};
use crate::git::command::Git;
use crate::git::record::Record;
use crate::git::store::Store;

/// Of all new objects together, unpacked, in bytes; of the pack the same.
const BUDGET: u64 = 512 << 20;

/// New objects.
const MOST: usize = 1_000_000;

/// In the store's import folder.
const QUARANTINE: &str = "quarantine.git";

/// The new objects, by themselves.
#[derive(Debug)]
pub struct Quarantine {
    at: PathBuf,
    borrowed: PathBuf,
    /// What of the repository was not packed again: ids of commits and tags.
    pub known: Vec<String>,
    /// Id, what it is, and its size in bytes.
    pub new: HashMap<String, (Kind, u64)>,
}

impl Quarantine {
    /// Takes in what the tips need and the repository does not have. First only the base counts as known: an ordinary step
    /// has built on nothing else, and 20,000 refs are 20,000 commits to read. What other refs lead to comes along then, if the
    /// step has merged it; so if anything of that is there already, or git refuses any of it, all refs count.
    ///
    /// # Errors
    /// When objects are missing, refused by fsck, or too large or too many.
    pub fn fill(
        view: &View,
        store: &Store,
        record: &Record,
        wanted: &Wanted,
        watch: &Watch,
    ) -> Result<Quarantine, Fault> {
        let at = store.import().join(QUARANTINE);
        let first = Quarantine::of(&at, view, record, wanted, vec![record.base.clone()], watch);
        match &first {
            Ok(quarantine) if quarantine.holds_nothing_of(record, watch)? => return first,
            Err(fault) if !may_be_known(fault.code) => return first,
            _ => {}
        }
        let mut known = there(&refs::all(record, watch)?.into_values().collect(), record, watch)?;
        known.insert(record.base.clone());
        if known.len() == 1 {
            return first;
        }
        fs::remove_dir_all(&at).map_err(Fault::failed(at.display()))?;
        Quarantine::of(&at, view, record, wanted, known.into_iter().collect(), watch)
    }

    fn of(
        at: &Path,
        view: &View,
        record: &Record,
        wanted: &Wanted,
        known: Vec<String>,
        watch: &Watch,
    ) -> Result<Quarantine, Fault> {
        bare::make(at, record, "files").map_err(Fault::failed(at.display()))?;
        let mut quarantine = Quarantine { at: at.into(), borrowed: borrowed(record), known, new: HashMap::new() };
        quarantine.take(view, record, wanted, watch)?;
        quarantine.weigh(watch)?;
        Ok(quarantine)
    }

    /// git on the new objects and the repository's.
    pub fn git(&self) -> Git {
        self.alone().with("GIT_ALTERNATE_OBJECT_DIRECTORIES", &self.borrowed)
    }

    /// What is new in those ids, as git's lists of revisions have it.
    pub fn revisions(&self, tips: impl Iterator<Item = impl AsRef<str>>) -> String {
        let known = self.known.iter().map(|id| format!("^{id}\n"));
        tips.map(|id| format!("{}\n", id.as_ref())).chain(known).collect()
    }

    /// The packs: one, or none.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn packs(&self) -> io::Result<Vec<PathBuf>> {
        if self.new.is_empty() {
            return Ok(Vec::new());
        }
        let list = fs::read_dir(self.at.join("objects/pack"))?;
        let paths = list.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
        Ok(paths.into_iter().filter(|path| path.extension().is_some_and(|is| is == "pack")).collect())
    }

    fn alone(&self) -> Git {
        Git::of(&self.at)
    }

    /// Box and quarantine, with a pipe between.
    fn take(&self, view: &View, record: &Record, wanted: &Wanted, watch: &Watch) -> Result<(), Fault> {
        let failed = Fault::failed("packing");
        let revisions = self.revisions(wanted.tips());
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
        limit(&mut index, BUDGET);
        index.stdout(Stdio::null()).stderr(index_said.try_clone().map_err(&failed)?);
        let mut packing = pack.spawn().map_err(|e| Fault::new(Code::NoBox, e))?;
        let indexing = packing.stdout.take().ok_or_else(|| io::Error::other("no pipe")).and_then(|pipe| {
            let indexing = index.stdin(pipe).spawn();
            // The command holds a copy of the pipe's end: the box must see that nobody reads any more.
            drop(index);
            indexing
        });
        let indexed = indexing.map_err(&failed).and_then(|mut indexing| run::end(&mut indexing, watch, Ok(())));
        let packed = run::end(&mut packing, watch, indexed.as_ref().map(drop).map_err(Clone::clone));
        if indexed?.success() && packed?.success() {
            return Ok(());
        }
        Err(refused(&run::tail(&mut index_said), &run::tail(&mut pack_said)))
    }

    /// Sizes stand in a pack before each object: nothing is unpacked for them.
    fn weigh(&mut self, watch: &Watch) -> Result<(), Fault> {
        let format = "--batch-check=%(objectname) %(objecttype) %(objectsize)";
        let git = self.alone().command(["cat-file", "--batch-all-objects", "--unordered", format]);
        let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
        let mut sum = 0u64;
        let new = &mut self.new;
        let mut lines = Lines::default();
        run::stream(git, b"", Code::ObjectsMissing, "cat-file", watch, &mut |bytes| {
            lines.feed(bytes, &mut |line| {
                let words: Vec<&str> = line.split(' ').collect();
                let [id, kind, size] = words[..] else {
                    return Err(Fault::new(Code::Failed, format!("cat-file: {line}")));
                };
                let size = size.parse().unwrap_or(u64::MAX);
                let kind = match kind {
                    "commit" => Kind::Commit,
                    "tree" => Kind::Tree,
                    _ => Kind::Other,
                };
                sum = sum.saturating_add(size);
                new.insert(id.into(), (kind, size));
                if new.len() > MOST {
                    return Err(Fault::new(Code::TooMany, format!("more than {MOST} new objects")));
                }
                if sum > BUDGET {
                    let said = format!("more than {BUDGET} bytes of new objects");
                    return Err(Fault::new(Code::TooLarge, said));
                }
                Ok(())
            })
        })
    }

    /// Whether no commit of these is in the repository.
    fn holds_nothing_of(&self, record: &Record, watch: &Watch) -> Result<bool, Fault> {
        let commits = self.new.iter().filter(|(_, (kind, _))| *kind == Kind::Commit).map(|(id, _)| id.clone());
        Ok(there(&commits.collect(), record, watch)?.is_empty())
    }
}

/// What an object is, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A commit.
    Commit,
    /// A folder.
    Tree,
    /// A file, a link's target, a tag.
    Other,
}

/// Of what the repository has it may be: then it is not the step's doing. What is too much or takes too long stays so.
fn may_be_known(code: Code) -> bool {
    matches!(code, Code::ObjectsMissing | Code::ObjectsBad | Code::PathGit)
}

/// Those of the objects that are in the repository: a ref may be broken.
///
/// # Errors
/// As git says them.
pub fn there(ids: &BTreeSet<String>, record: &Record, watch: &Watch) -> Result<BTreeSet<String>, Fault> {
    let lines: String = ids.iter().map(|id| format!("{id}\n")).collect();
    let git = Git::of(&record.common).command(["cat-file", "--batch-check=%(objectname)"]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    let said = run::run(git, lines.as_bytes(), Code::Failed, "cat-file", watch)?;
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

/// The real object folders, as git takes a list of them: git(1), GIT_ALTERNATE_OBJECT_DIRECTORIES.
fn borrowed(record: &Record) -> PathBuf {
    let mut list = Vec::new();
    for folder in bare::folders_of_objects(record) {
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
