//! What a kusaw that was killed has left: the next one imports it. An attempt whose kusaw lives, or in whose sandbox anything
//! lives, is left alone; nothing is imported before all of that is surely dead.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, FlockArg};

use super::import;
use super::outcome::RepoOutcome;
use super::record::Record;
use super::store::{self, Store};
use crate::remove::absent_is_fine;
use crate::stderr;

/// For the kernel to end a sandbox whose launcher was killed: it has been told to already.
const DYING: Duration = Duration::from_secs(5);

/// What a recovery writes into the attempt's folder, where kusaw was killed before it could write `outcome.json`.
const OUTCOME: &str = "recovered.json";

/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(5);

/// Imports what is left over in the attempts of a factory, and says what came of it, with the attempt's id. It is written down
/// in the attempt's folder as well.
pub fn recover(attempts: &Path) -> Vec<(String, Vec<RepoOutcome>)> {
    let folders = fs::read_dir(attempts).into_iter().flatten().flatten().map(|entry| entry.path());
    let left = folders.filter(|attempt| store::folder(attempt).is_dir());
    left.filter_map(|attempt| {
        let outcomes = of_attempt(&attempt)?;
        let id = attempt.file_name()?.to_string_lossy().into_owned();
        (!outcomes.is_empty()).then_some((id, outcomes))
    })
    .collect()
}

fn of_attempt(attempt: &Path) -> Option<Vec<RepoOutcome>> {
    let _held = held_by_nobody(attempt)?;
    if !is_dead_in_time(attempt) {
        return None;
    }
    let stores = fs::read_dir(store::folder(attempt)).into_iter().flatten().flatten().map(|entry| entry.path());
    let stores = stores.filter(|path| path.is_dir()).map(|root| Store { root });
    // Without a record nothing was executed: it is written before.
    let recorded = stores.filter_map(|store| read(&store).map(|record| (store, record)));
    let outcomes: Vec<RepoOutcome> =
        recorded.map(|(store, record)| RepoOutcome::of_import(&store, &record, &|| false)).collect();
    if !outcomes.is_empty() {
        let (_, tamed) = import::tame(&attempt.join("artifacts"));
        tamed.unwrap_or_else(|fault| stderr::warn(format!("artifacts: {}: {}", fault.code, fault.detail)));
        let file = attempt.join(OUTCOME);
        write(&file, &outcomes).unwrap_or_else(|e| stderr::warn(format!("{}: {e}", file.display())));
    }
    store::tidy(attempt);
    Some(outcomes)
}

/// A new file in place of one that an earlier recovery has written.
fn write(file: &Path, outcomes: &[RepoOutcome]) -> io::Result<()> {
    fs::remove_file(file).or_else(absent_is_fine)?;
    File::create_new(file)?.write_all(&serde_json::to_vec_pretty(outcomes)?)
}

/// The attempt's lock, if its kusaw is dead.
fn held_by_nobody(attempt: &Path) -> Option<Flock<File>> {
    let opened = File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(attempt).ok()?;
    Flock::lock(opened, FlockArg::LockExclusiveNonblock).ok()
}

fn read(store: &Store) -> Option<Record> {
    let record: Record = serde_json::from_slice(&fs::read(store.record()).ok()?).ok()?;
    (record.version == Record::VERSION).then_some(record)
}

/// Written before the step is executed: which process is the first one in its sandbox. When that has ended, the kernel has
/// ended all others there (pid_namespaces(7)).
///
/// # Errors
/// Those of the file system.
pub fn note(attempt: &Path, launcher: i32) -> io::Result<()> {
    let children = fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children")).unwrap_or_default();
    let pids = children.split_whitespace().filter_map(|pid| pid.parse().ok()).chain([launcher]);
    let lines: String = pids.filter_map(|pid: i32| Some(format!("{pid} {}\n", started(pid)?))).collect();
    File::create_new(note_of(attempt))?.write_all(lines.as_bytes())
}

/// No repo is called like this: a name begins with a letter or a digit.
fn note_of(attempt: &Path) -> PathBuf {
    store::folder(attempt).join(".processes")
}

fn is_dead_in_time(attempt: &Path) -> bool {
    let noted = fs::read_to_string(note_of(attempt)).unwrap_or_default();
    let alive = |line: &str| {
        let (pid, start) = line.split_once(' ')?;
        Some(started(pid.parse().ok()?)? == start)
    };
    let deadline = Instant::now() + DYING;
    while noted.lines().any(|line| alive(line).unwrap_or(false)) {
        if Instant::now() > deadline {
            return false;
        }
        thread::sleep(LOOK);
    }
    true
}

/// When a process was started, in ticks since boot; none if there is no such process, or only what is left of one that has
/// ended. proc_pid_stat(5): field 3 is the state, field 22 the time.
fn started(pid: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (state, time) = (fields.first()?, fields.get(19)?);
    (!matches!(*state, "Z" | "X")).then(|| time.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_number_and_its_start() {
        let attempt = tempfile::tempdir().unwrap();
        fs::create_dir(store::folder(attempt.path())).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        note(attempt.path(), child.id() as i32).unwrap();
        let noted = fs::read_to_string(note_of(attempt.path())).unwrap();
        assert_eq!(noted, format!("{} {}\n", child.id(), started(child.id() as i32).unwrap()));
        child.kill().unwrap();
        while started(child.id() as i32).is_some() {
            thread::sleep(LOOK);
        }
        assert!(is_dead_in_time(attempt.path()), "a zombie is dead");
        child.wait().unwrap();
        assert!(is_dead_in_time(attempt.path()));
    }

    #[test]
    fn an_attempt_whose_kusaw_lives_is_left_alone() {
        let attempt = tempfile::tempdir().unwrap();
        let held = held_by_nobody(attempt.path()).unwrap();
        assert!(held_by_nobody(attempt.path()).is_none());
        drop(held);
        assert!(held_by_nobody(attempt.path()).is_some());
    }
}
