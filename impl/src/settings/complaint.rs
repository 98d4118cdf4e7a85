//! How a wrong setting is told: what, where (file:line:column and key path), the line itself, what would
//! be right, and the nearest known word. Never more than a screen, never raw control characters.

use std::fmt;
use std::path::Path;

use super::masked;
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
            what: printable(&masked::words(&what.into()), 400),
            key: printable(key, 200),
            file: file.display().to_string(),
            at,
            line: printable(&masked::line(line), 160),
            fix: None,
        }
    }

    /// The same without what may be a value, where the form of a step's variables is wrong: then it may stand anywhere.
    pub fn without_values(self) -> Complaint {
        if !masked::is_of_variables(&self.key) {
            return self;
        }
        Complaint { key: masked::key(&self.key), line: masked::line_of_variables(&self.line), ..self }
    }

    /// The same with a fix.
    pub fn fix(mut self, fix: impl Into<String>) -> Complaint {
        self.fix = Some(printable(&fix.into(), 400));
        self
    }

    /// The same with the nearest of `known` words, if one is near.
    pub fn did_you_mean(self, word: &str, known: &[&str]) -> Complaint {
        self.fix(did_you_mean(word, known))
    }
}

/// A fix that lists the `known` words, the nearest of them first if one is near.
pub fn did_you_mean(word: &str, known: &[&str]) -> String {
    let listed = known.iter().take(LISTED).copied().collect::<Vec<_>>().join(", ");
    let near = known.iter().map(|known| (similarity(word, known), known)).max_by(|a, b| a.0.total_cmp(&b.0));
    match near.filter(|(near, _)| *near > NEAR) {
        Some((_, near)) => format!("did you mean {near}? known here: {listed}"),
        None if known.is_empty() => "there is none yet".into(),
        None => format!("known here: {listed}"),
    }
}

/// Words that are listed: more than are shown.
const LISTED: usize = 200;

/// How similar a word must be to be meant: `off` and `of`, not `a` and `sandbox`.
const NEAR: f64 = 0.75;

fn similarity(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(&a.to_lowercase(), b)
}

impl Complaint {
    /// Such as `kusaw.yaml:2:9`.
    fn place(&self) -> String {
        match self.at {
            (0, _) => self.file.clone(),
            (line, column) => format!("{}:{line}:{column}", self.file),
        }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (line, _) = self.at;
        f.write_str(&self.place())?;
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

/// All that is wrong with a settings file; what is the same at several places is told once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaints(pub Vec<Complaint>);

/// How many of them are told, and how many places of one.
const TOLD: usize = 10;

impl From<Complaint> for Complaints {
    fn from(one: Complaint) -> Complaints {
        Complaints(vec![one])
    }
}

impl fmt::Display for Complaints {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let mut groups: Vec<Vec<&Complaint>> = Vec::new();
        for one in &self.0 {
            match groups.iter_mut().find(|group| group[0].what == one.what && group[0].fix == one.fix) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        for (n, group) in groups.iter().take(TOLD).enumerate() {
            write!(f, "{}{}", if n > 0 { "\n" } else { "" }, group[0])?;
            let others = group[1..].iter().take(TOLD).map(|one| format!("{} ({})", one.place(), one.key));
            if group.len() > 1 {
                write!(f, "\n  the same at {}", others.collect::<Vec<_>>().join(", "))?;
            }
            if group.len() > TOLD + 1 {
                write!(f, " and {} more", group.len() - TOLD - 1)?;
            }
        }
        if groups.len() > TOLD { write!(f, "\nand {} more", groups.len() - TOLD) } else { Ok(()) }
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
