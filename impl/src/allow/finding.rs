//! What is told about one entry, to the user and in reports.

use serde::Serialize;

use super::entry::Entry;
use crate::stderr::one_line;

/// Something to tell the user about one entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// `W2`, or the reason code of a refusal.
    pub code: &'static str,
    /// The key path.
    pub key: String,
    /// The entry as written.
    pub path: String,
    /// What is the matter with it.
    pub what: String,
    /// What to write instead.
    pub fix: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Finding { code, key, path, what, fix } = self;
        write!(f, "{code} {key}: {path:?} {what} (fix: {fix})")
    }
}

/// A finding about an entry.
pub fn finding(code: &'static str, entry: &Entry, what: impl Into<String>, fix: &str) -> Finding {
    let (key, path) = (entry.key.clone(), entry.written.clone());
    Finding { code, key, path, what: one_line(&what.into()), fix: one_line(fix) }
}
