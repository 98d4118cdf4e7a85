//! The attempt folder: `worktrees/` and `artifacts/` for the step, the records beside them for kusaw.
//! The records are opened before the step exists, new and never through a link, and only written through
//! those descriptors; a second attempt must never touch the folder of a first.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag, open, openat, renameat};
use nix::sys::stat::{Mode, mkdirat};
use serde::Serialize;

use crate::git::outcome::RepoOutcome;
use crate::outcome::{Reason, Refusal, RunState, StepOutcome, timestamp};
use crate::settings::{NAME, is_name};
use crate::stderr::printable;

/// An attempt's folder, new.
#[derive(Debug)]
pub struct Folder {
    /// The attempt's id.
    pub id: String,
    /// Its real path.
    pub path: PathBuf,
    /// None of one that is only planned.
    made: Option<Made>,
}

#[derive(Debug)]
struct Made {
    /// Locked, flock(2), as long as this kusaw lives: what is in an attempt that nobody holds is left over.
    fd: Flock<OwnedFd>,
    outcome: File,
}

/// What `outcome.json` holds.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the observation contract")]
pub struct Record<'a> {
    pub contract: u32,
    pub attempt: &'a str,
    pub step: &'a str,
    pub state: RunState,
    pub outcome: StepOutcome,
    pub reason: Option<Reason>,
    pub exit_code: i32,
    pub signal: Option<i32>,
    pub sandbox: SandboxRecord<'a>,
    pub started: String,
    pub ended: String,
    pub git: &'a [RepoOutcome],
}

/// The part about the sandbox.
#[derive(Debug, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the observation contract")]
pub struct SandboxRecord<'a> {
    pub effective: &'a str,
    pub why: &'a str,
    pub backend: Option<&'a str>,
}

const NEW: OFlag = OFlag::O_CREAT
    .union(OFlag::O_EXCL)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC)
    .union(OFlag::O_APPEND)
    .union(OFlag::O_WRONLY);
const FOLDER: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_NOFOLLOW).union(OFlag::O_CLOEXEC);
const OUTCOME_UNFINISHED: &str = ".outcome.json.unfinished";

impl Folder {
    /// Makes `factory/attempts/ID/` with its two folders; `factory` is a real path.
    pub fn make(factory: &Path, id: Option<&str>) -> Result<Folder, Refusal> {
        let attempts = factory.join("attempts");
        let failed =
            |e: &dyn std::fmt::Display| Refusal::new(Reason::AttemptFolder, format!("{}: {e}", attempts.display()));
        let id = match id {
            Some(id) if is_name(id) => id.to_string(),
            Some(id) => return Err(bad_id(id)),
            None => own_id(),
        };
        match std::fs::create_dir(&attempts) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(failed(&e)),
            _ => {}
        }
        let above = open(&attempts, FOLDER, Mode::empty()).map_err(|e| failed(&e))?;
        match mkdirat(&above, id.as_str(), Mode::S_IRWXU) {
            Err(Errno::EEXIST) => {
                return Err(Refusal::new(Reason::AttemptExists, format!("{}", attempts.join(&id).display())));
            }
            made => made.map_err(|e| failed(&e))?,
        }
        let fd = openat(&above, id.as_str(), FOLDER, Mode::empty()).map_err(|e| failed(&e))?;
        // Nobody else waits for it: a recovery that looks at the empty folder lets go at once.
        let fd = Flock::lock(fd, FlockArg::LockExclusive).map_err(|(_, e)| failed(&e))?;
        for part in ["worktrees", "artifacts"] {
            mkdirat(&*fd, part, Mode::S_IRWXU).map_err(|e| failed(&e))?;
        }
        let outcome = new_file(&fd, OUTCOME_UNFINISHED).map_err(|e| failed(&e))?;
        Ok(Folder { path: attempts.join(&id), id, made: Some(Made { fd, outcome }) })
    }

    /// The folder as it would be; nothing is made, and nothing can be recorded in it.
    pub fn planned(factory: &Path, id: &str) -> Folder {
        Folder { id: id.into(), path: factory.join("attempts").join(id), made: None }
    }

    /// The step's own folder.
    pub fn artifacts(&self) -> PathBuf {
        self.path.join("artifacts")
    }

    /// Where a repo's worktree goes.
    pub fn worktree(&self, repo: &str) -> PathBuf {
        self.path.join("worktrees").join(repo)
    }

    /// A new record beside them, for appending.
    pub fn record(&self, name: &str) -> Result<File, Refusal> {
        let failed = |e| Refusal::new(Reason::AttemptFolder, format!("{}: {e}", self.path.join(name).display()));
        let made = self.made.as_ref().ok_or_else(|| failed(Errno::ENOENT))?;
        new_file(&made.fd, name).map_err(failed)
    }

    /// Writes the outcome; it appears whole or not at all.
    pub fn finish(self, record: &Record) -> io::Result<()> {
        let Some(Made { fd, mut outcome }) = self.made else { return Err(io::ErrorKind::NotFound.into()) };
        let mut text = serde_json::to_vec_pretty(record)?;
        text.push(b'\n');
        outcome.write_all(&text)?;
        Ok(renameat(&*fd, OUTCOME_UNFINISHED, &*fd, "outcome.json")?)
    }
}

fn new_file(folder: &OwnedFd, name: &str) -> nix::Result<File> {
    openat(folder, name, NEW, Mode::S_IRUSR | Mode::S_IWUSR).map(File::from)
}

pub(super) fn bad_id(id: &str) -> Refusal {
    let detail = format!("--attempt {:?} is no attempt id", printable(id, 80));
    Refusal { fix: Some(NAME.into()), ..Refusal::new(Reason::AttemptFolder, detail) }
}

/// Time and process id: sorts by start, and two at once differ.
pub(super) fn own_id() -> String {
    let now: String = timestamp(SystemTime::now()).chars().filter(|c| c.is_ascii_alphanumeric()).collect();
    format!("{now}-{}", std::process::id())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_ids_are_names() {
        assert!(is_name(&own_id()), "{}", own_id());
    }

    #[test]
    fn a_second_attempt_of_one_id_is_refused_and_touches_nothing() {
        let factory = tempfile::tempdir().unwrap();
        let first = Folder::make(factory.path(), Some("a")).unwrap();
        assert_eq!(Folder::make(factory.path(), Some("a")).unwrap_err().reason, Reason::AttemptExists);
        assert!(first.record("events.jsonl").is_ok());
        assert!(first.record("events.jsonl").is_err());
    }

    #[test]
    fn a_planted_link_is_not_followed() {
        let factory = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), factory.path().join("attempts")).unwrap();
        assert_eq!(Folder::make(factory.path(), None).unwrap_err().reason, Reason::AttemptFolder);
    }
}
