//! What is told about one entry, by its key and as it was written.

use super::entry::Entry;
use crate::finding::Finding;
use crate::outcome::Refusal;
use crate::stderr::one_line;

/// A finding about an entry.
pub fn finding(code: &'static str, entry: &Entry, what: impl Into<String>, fix: &str) -> Finding {
    let (key, path) = (entry.key.clone(), entry.written.clone());
    Finding { code, key, path, what: one_line(&what.into()), fix: one_line(fix), ..Finding::default() }
}

/// A finding about the state of the agent that runs a step.
pub fn of_state(step: &str, refusal: &Refusal) -> Finding {
    let (code, what, fix) = (refusal.reason.code(), refusal.detail.clone(), refusal.fix().to_string());
    Finding { code, key: format!("steps.{step}"), what, fix, ..Finding::default() }
}
