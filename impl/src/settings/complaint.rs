//! How a wrong setting is told: what, where (file:line:column and key path), the line itself, what would
//! be right, and the nearest known word. Never more than a screen, never raw control characters.

use std::fmt;
use std::path::Path;

use crate::stderr::printable;

/// One thing that is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// What is wrong.
    pub what: String,
    /// The key path, such as `steps.build.sandbox`; empty when it concerns the whole file.
    pub key: String,
    /// File, as the user named it.
    pub file: String,
    /// Line and column, from 1; zero when unknown.
    pub at: (u64, u64),
    /// The line of the file.
    pub line: String,
    /// What would be right.
    pub fix: Option<String>,
}

impl Complaint {
    /// A complaint about `text` of `file` at a place in it.
    pub fn new(file: &Path, text: &str, at: (u64, u64), key: &str, what: impl Into<String>) -> Complaint {
        let line = (at.0 as usize).checked_sub(1).and_then(|n| text.lines().nth(n)).unwrap_or("");
        Complaint {
            what: printable(&what.into(), 400),
            key: printable(key, 200),
            file: file.display().to_string(),
            at,
            line: printable(line, 160),
            fix: None,
        }
    }

    /// The same with a fix.
    pub fn fix(mut self, fix: impl Into<String>) -> Complaint {
        self.fix = Some(printable(&fix.into(), 400));
        self
    }

    /// The same with the nearest of `known` words, if one is near.
    pub fn did_you_mean(mut self, word: &str, known: &[&str]) -> Complaint {
        let listed = known.join(", ");
        let near = known.iter().max_by(|a, b| similarity(word, a).total_cmp(&similarity(word, b)));
        self.fix = match near.filter(|n| similarity(word, n) > 0.7) {
            Some(near) => Some(format!("did you mean {near}? known here: {listed}")),
            None if known.is_empty() => None,
            None => Some(format!("known here: {listed}")),
        };
        self
    }
}

fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), b)
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (line, column) = self.at;
        f.write_str(&self.file)?;
        if line > 0 {
            write!(f, ":{line}:{column}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.what)?;
        if line > 0 {
            write!(f, "\n  {line} | {}", self.line)?;
        }
        self.fix.iter().try_for_each(|fix| write!(f, "\n  {fix}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_what_where_and_the_nearest_word() {
        let c = Complaint::new("kusaw.yaml".as_ref(), "a: 1\nstepz: {}\n", (2, 1), "stepz", "unknown key stepz");
        insta::assert_snapshot!(c.did_you_mean("stepz", &["repos", "sandbox", "steps"]), @r"
        kusaw.yaml:2:1: stepz: unknown key stepz
          2 | stepz: {}
          did you mean steps? known here: repos, sandbox, steps
        ");
    }

    #[test]
    fn a_control_character_is_never_printed() {
        let c = Complaint::new("f".as_ref(), "k: \u{1b}[31m\n", (1, 1), "k", "bad \u{7}");
        assert!(!c.to_string().contains(['\u{1b}', '\u{7}']));
    }
}
