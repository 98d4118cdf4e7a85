//! What the proxy refused and allowed, written down: a line and an event for each blocked host before it
//! is told, one summary at the end. Bounded however many hosts a step makes up; nothing comes after the
//! summary; host names are the step's words and always escaped.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard};
use std::time::SystemTime;

use super::head::Via;
use super::host::Host;
use super::policy::Denial;
use super::record::{Allowed, Blocked, Event, Failures, Summary, line};
use crate::outcome::timestamp;

/// Blocked hosts that get a line and an event.
pub const LINES: usize = 50;

/// Distinct blocked hosts that are told apart.
const DISTINCT: usize = 10_000;

/// Distinct allowed hosts and ports in the summary.
const ALLOWED: usize = 200;

/// Stands for every host that is none.
pub const MALFORMED: &str = "<malformed>";

/// Why an allowed host, or the provider of an injected key, was not reached. Not a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the codes are those of docs/contract.md")]
pub enum Failure {
    Dns,
    Connect,
    Timeout,
    Upstream,
}

/// One attempt's records; shared by all its connections.
#[derive(Debug)]
pub struct Log(Mutex<Records>);

#[derive(Debug)]
struct Records {
    attempt: String,
    log: File,
    events: File,
    seen: HashSet<String>,
    lines: usize,
    total: u64,
    suppressed: u64,
    capped: bool,
    malformed: u64,
    failures: Failures,
    allowed: BTreeMap<(String, u16), u64>,
    allowed_others: u64,
    injected: BTreeMap<String, u64>,
    failed: Option<io::Error>,
    closed: bool,
}

impl Log {
    /// An empty one, writing to these two files.
    pub fn new(attempt: &str, log: File, events: File) -> Log {
        Log(Mutex::new(Records {
            attempt: attempt.into(),
            log,
            events,
            seen: HashSet::new(),
            lines: 0,
            total: 0,
            suppressed: 0,
            capped: false,
            malformed: 0,
            failures: Failures::default(),
            allowed: BTreeMap::new(),
            allowed_others: 0,
            injected: BTreeMap::new(),
            failed: None,
            closed: false,
        }))
    }

    /// A host was refused. Returns when the line is written.
    pub fn blocked(&self, host: &Host, port: u16, via: Via, why: Denial) {
        let mut records = self.records();
        records.total += 1;
        let name = match host {
            Host::Name(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        };
        records.note(name, Some(port), via, why);
    }

    /// A request named no host that could be judged; only odd hosts get a line, one for all of them.
    pub fn malformed(&self, via: Via, why: Denial) {
        let mut records = self.records();
        records.malformed += 1;
        if matches!(why, Denial::BadHost | Denial::SniMismatch) {
            records.note(MALFORMED.into(), None, via, why);
        }
    }

    /// The bytes were no request at all.
    pub fn noise(&self) {
        self.records().malformed += 1;
    }

    /// An allowed host was reached.
    pub fn allowed(&self, host: &Host, port: u16) {
        let mut records = self.records();
        let key = (host.to_string(), port);
        if records.allowed.len() < ALLOWED || records.allowed.contains_key(&key) {
            *records.allowed.entry(key).or_default() += 1;
        } else {
            records.allowed_others += 1;
        }
    }

    /// An allowed host, or the provider of an injected key, was not reached.
    pub fn failure(&self, what: Failure) {
        let failures = &mut self.records().failures;
        match what {
            Failure::Dns => failures.dns += 1,
            Failure::Connect => failures.connect += 1,
            Failure::Timeout => failures.timeout += 1,
            Failure::Upstream => failures.upstream += 1,
        }
    }

    /// So many requests carried the keys of these names.
    pub fn injected<'a>(&self, counts: impl Iterator<Item = (&'a str, u64)>) {
        self.records().injected = counts.map(|(name, count)| (name.into(), count)).collect();
    }

    /// Writes the summary, once; whatever comes later is dropped. The error is the first of all writes.
    pub fn close(&self) -> io::Result<()> {
        let mut records = self.records();
        if !records.closed {
            let summary = records.summary();
            records.event(&Event::Summary(summary));
            records.closed = true;
        }
        records.failed.take().map_or(Ok(()), Err)
    }

    fn records(&self) -> MutexGuard<'_, Records> {
        // A panic elsewhere leaves counters that are still right.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Records {
    fn note(&mut self, host: String, port: Option<u16>, via: Via, why: Denial) {
        if self.closed || self.seen.contains(&host) {
            return;
        }
        if self.seen.len() >= DISTINCT {
            self.capped = true;
            return;
        }
        self.seen.insert(host.clone());
        if self.lines == LINES {
            self.suppressed += 1;
            return;
        }
        self.lines += 1;
        let (t, attempt) = (timestamp(SystemTime::now()), self.attempt.clone());
        let blocked = Blocked { t, attempt, host, port, via: via.word().into(), reason: why.code().into() }.cut();
        let written = self.log.write_all(line(&blocked).as_bytes());
        self.keep(written);
        self.event(&Event::Blocked(blocked));
    }

    fn summary(&self) -> Summary {
        let allowed = self.allowed.iter();
        let allowed =
            allowed.map(|((host, port), n)| Allowed { host: host.clone(), port: *port, connections: *n }).collect();
        Summary {
            t: timestamp(SystemTime::now()),
            attempt: self.attempt.clone(),
            complete: true,
            blocked_distinct: self.seen.iter().filter(|h| *h != MALFORMED).count() as u64,
            blocked_total: self.total,
            blocked_suppressed: self.suppressed,
            distinct_capped: self.capped,
            malformed: self.malformed,
            failures: self.failures.clone(),
            allowed,
            allowed_others: self.allowed_others,
            injected: self.injected.clone(),
        }
    }

    fn event(&mut self, event: &Event) {
        // One write a line, so that a crash leaves whole lines.
        let written = self.events.write_all(line(event).as_bytes());
        self.keep(written);
    }

    fn keep(&mut self, written: io::Result<()>) {
        if let Err(e) = written {
            self.failed.get_or_insert(e);
        }
    }
}

#[cfg(test)]
mod tests;
