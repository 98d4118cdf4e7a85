//! What is told about one entry, by its key and as it was written.

use super::entry::Entry;
use crate::finding::Finding;
use crate::stderr::one_line;

/// A finding about an entry.
pub fn finding(code: &'static str, entry: &Entry, what: impl Into<String>, fix: &str) -> Finding {
    let (key, path) = (entry.key.clone(), entry.written.clone());
    Finding { code, key, path, what: one_line(&what.into()), fix: one_line(fix), ..Finding::default() }
}
