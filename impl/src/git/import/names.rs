//! Names of branches: what may become a file's name and an argument, and which two cannot be beside each other.

use std::collections::BTreeSet;

use super::spelling;

/// Longest name of a branch, in bytes: it becomes a file's name, with `.lock` after it.
const LONGEST: usize = 200;

/// Whether a branch's name is one that no file system, shell or git takes for anything else. git-check-ref-format(1) allows
/// more; those are reported by name.
pub fn is_safe(name: &str) -> bool {
    let part = |part: &str| {
        let ends = part.ends_with(".lock") || part.ends_with('.');
        !part.is_empty() && !part.starts_with(['.', '-']) && !ends && !part.contains("..") && part != "main"
    };
    // Some of what is not seen counts as a letter.
    let letter = |c: char| {
        c.is_alphanumeric() && !spelling::is_hidden(c) || matches!(c, '.' | '_' | '/' | '+' | '-' | '#' | '=' | ',')
    };
    name.len() <= LONGEST && name.chars().all(letter) && name.split('/').all(part)
}

/// Names that are chosen, as a file system knows them that ignores case.
#[derive(Debug, Default)]
pub struct Taken(BTreeSet<Vec<u8>>);

impl Taken {
    /// Whether it can be beside those that are there.
    pub fn add(&mut self, name: &str) -> bool {
        let key = Taken::key(name);
        let can = !self.0.iter().any(|other| *other == key || Taken::conflict(other, &key));
        can && self.0.insert(key)
    }

    /// The name for comparisons.
    pub fn key(name: &str) -> Vec<u8> {
        spelling::key(name.as_bytes())
    }

    /// Whether one is a folder on the way to the other.
    pub fn conflict(a: &[u8], b: &[u8]) -> bool {
        let is_above = |a: &[u8], b: &[u8]| b.strip_prefix(a).is_some_and(|rest| rest.starts_with(b"/"));
        is_above(a, b) || is_above(b, a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_become_branches() {
        for name in ["x", "a/b", "fix-1.2_3", "ä", "a#1"] {
            assert!(is_safe(name), "{name}");
        }
        for name in [
            "", "a b", "-x", "a/.x", "x.lock", "x.lock/y", "a..b", "a//b", "x~1", "x@{1}", "main/x", "a\u{1b}", "x.",
            "\u{3164}",
        ] {
            assert!(!is_safe(name), "{name}");
        }
    }
}
