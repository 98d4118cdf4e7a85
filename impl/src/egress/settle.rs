//! The summary of an attempt whose proxy has died without one. What the proxy had counted died with it: the summary says so,
//! `"complete": false`, and has what the log tells, which is the least that it was. Whoever writes to an attempt's records holds the lock on its
//! events, so that there are never two.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::SystemTime;

use nix::fcntl::OFlag;
use serde_json::Value;

use super::log::MALFORMED;
use super::record::{Event, Failures, Summary, line};
use crate::outcome::timestamp;

/// The records, by their names in an attempt's folder.
pub const LOG: &str = "egress.log";
/// See above.
pub const EVENTS: &str = "events.jsonl";

/// Locks an attempt's events for whoever has this descriptor or one that was made of it, in whatever process, until all of
/// them are closed: flock(2) belongs to what was opened, not to a process.
pub fn hold(events: &File) -> io::Result<()> {
    // The standard library's try_lock is flock(2), and nothing but closing unlocks it.
    events.try_lock().map_err(io::Error::from)
}

/// Whose the records of an attempt are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// A process that lives has them, and writes the summary.
    Held,
    /// Nobody writes to them any more: there was a summary, or there is one now.
    Complete,
}

/// Completes the records of an attempt in the folder `attempt`, unless a process that lives has them.
///
/// # Errors
/// Those of the file system.
pub fn left(attempt: &Path) -> io::Result<Records> {
    let mut open = File::options();
    open.read(true).append(true).custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits());
    let events = open.open(attempt.join(EVENTS))?;
    if !events.metadata()?.is_file() || hold(&events).is_err() {
        return Ok(Records::Held);
    }
    let id = attempt.file_name().unwrap_or_default().to_string_lossy();
    settle(&id, &open.open(attempt.join(LOG))?, &events)?;
    Ok(Records::Complete)
}

/// The same for whoever has the descriptors that the proxy wrote to.
///
/// # Errors
/// See [`left`].
pub fn own(id: &str, log: &File, events: &File) -> io::Result<()> {
    let again =
        |file: &File| File::options().read(true).append(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()));
    settle(id, &again(log)?, &again(events)?)
}

fn settle(id: &str, log: &File, events: &File) -> io::Result<()> {
    let is_summary = |event: &Value| event["type"] == "egress.summary";
    if whole_lines(events)?.iter().any(is_summary) {
        return Ok(());
    }
    let hosts = whole_lines(log)?;
    let distinct = hosts.iter().filter(|entry| entry["host"] != MALFORMED).count();
    let distinct = distinct as u64;
    let summary = Event::Summary(Summary {
        t: timestamp(SystemTime::now()),
        attempt: id.into(),
        complete: false,
        blocked_distinct: distinct,
        blocked_total: distinct,
        blocked_suppressed: 0,
        distinct_capped: false,
        malformed: (hosts.len() as u64).saturating_sub(distinct),
        failures: Failures::default(),
        allowed: Vec::new(),
        allowed_others: 0,
        injected: BTreeMap::new(),
    });
    let mut events = events;
    events.write_all(line(&summary).as_bytes())
}

/// The lines of a record. A part of one at its end, left by a process that was killed while it wrote, is cut off: nobody was
/// told what it would have said.
fn whole_lines(mut record: &File) -> io::Result<Vec<Value>> {
    let mut text = Vec::new();
    record.seek(SeekFrom::Start(0))?;
    record.read_to_end(&mut text)?;
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        record.set_len(whole as u64)?;
    }
    let lines = text[..whole].split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    Ok(lines.map(|line| serde_json::from_slice(line).unwrap_or_default()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;

    fn attempt(log: &str, events: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LOG), log).unwrap();
        fs::write(folder.path().join(EVENTS), events).unwrap();
        folder
    }

    fn events(attempt: &tempfile::TempDir) -> Vec<Value> {
        let text = fs::read_to_string(attempt.path().join(EVENTS)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn what_was_killed_gets_one_summary_and_loses_half_a_line() {
        let log = "{\"host\":\"a\"}\n{\"host\":\"<malformed>\"}\n{\"host\":\"b\"}\n{\"ho";
        let attempt = attempt(log, "{\"type\":\"egress.blocked\"}\n{\"type\":\"egress.sum");
        for _ in 0..2 {
            assert_eq!(left(attempt.path()).unwrap(), Records::Complete);
        }
        let events = events(&attempt);
        assert_eq!(events.len(), 2, "{events:?}");
        assert_eq!((&events[1]["complete"], &events[1]["blocked_distinct"]), (&json!(false), &json!(2)));
        assert!(fs::read_to_string(attempt.path().join(LOG)).unwrap().ends_with("\"b\"}\n"));
    }

    #[test]
    fn a_summary_that_is_there_stays_the_only_one() {
        let attempt = attempt("", "{\"type\":\"egress.summary\",\"complete\":true}\n");
        assert_eq!(left(attempt.path()).unwrap(), Records::Complete);
        assert_eq!(events(&attempt).len(), 1);
    }

    #[test]
    fn nobody_touches_what_another_holds() {
        let attempt = attempt("", "");
        let held = File::options().append(true).open(attempt.path().join(EVENTS)).unwrap();
        hold(&held).unwrap();
        let copy = held.try_clone().unwrap();
        drop(held);
        assert_eq!(left(attempt.path()).unwrap(), Records::Held, "a copy holds it too");
        drop(copy);
        assert!(events(&attempt).is_empty());
        assert_eq!((left(attempt.path()).unwrap(), events(&attempt).len()), (Records::Complete, 1));
    }
}
