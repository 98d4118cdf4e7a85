//! What a probe reported: the lines of `kusaw-probe` found in the output of a launch.
//!
//! Lines without the key `"probe":1` are somebody else's and ignored, and so are those without the seal of this run's probe
//! ([`crate::seal`]), which are counted. A report without its end line proves nothing.

use serde::Deserialize;
use serde_json::Value;

use crate::seal::Key;

/// Exit code by which a probe says that it ran to its end.
pub const RAN_TO_END: i32 = 37;

/// One action of a probe.
#[derive(Clone, Debug, Deserialize)]
pub struct Line {
    /// What was done: `read`, `list`, `connect`, ...
    pub action: String,
    /// What it was done to.
    #[serde(default)]
    pub target: String,
    /// Whether the system call, or the exchange, succeeded.
    pub ok: bool,
    /// Name of the error, such as `ENOENT`.
    #[serde(default)]
    pub errno: Option<String>,
    /// Raw facts, by action.
    #[serde(default)]
    pub detail: Value,
}

/// A whole report.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The actions in order.
    pub lines: Vec<Line>,
    /// Whether the end line arrived.
    pub ended: bool,
    /// How many lines looked like the probe's and were not.
    pub forged: usize,
}

impl Report {
    /// Finds the probe's lines in what a launch printed.
    pub fn find(stdout: &[u8], key: &Key) -> Self {
        let mut report = Self::default();
        for line in String::from_utf8_lossy(stdout).lines() {
            let Ok(value) = serde_json::from_str::<Value>(line.trim()) else {
                continue;
            };
            if value.get("probe").and_then(Value::as_u64) != Some(1) {
                continue;
            }
            if !key.is_on(line.trim()) {
                report.forged += 1;
            } else if value.get("end") == Some(&Value::Bool(true)) {
                report.ended = true;
            } else if let Ok(line) = serde_json::from_value(value) {
                report.lines.push(line);
            }
        }
        report
    }

    /// Why the report proves nothing, if so; `asked` are the words the probe was started with.
    pub fn unfinished(&self, asked: &[String], exit: Option<i32>) -> Option<String> {
        let forged = match self.forged {
            0 => String::new(),
            count => format!("; {count} lines look like the probe's, and it did not print them so"),
        };
        if !self.ended {
            return Some(format!("no end line after {} actions, exit {exit:?}{forged}", self.lines.len()));
        }
        if !self.answers(asked) {
            return Some(format!("the report is not about what was asked: {}{forged}", self.summary()));
        }
        (exit != Some(RAN_TO_END)).then(|| format!("exit {exit:?} instead of {RAN_TO_END}"))
    }

    /// Whether there is a line for every action that was asked, about what it was asked about. The probe names as target one
    /// of the action's own words, all of them, or nothing.
    fn answers(&self, asked: &[String]) -> bool {
        let actions: Vec<&[String]> = asked.split(|word| word == "+").collect();
        let about = |(line, words): (&Line, &&[String])| {
            let [action, rest @ ..] = words else { return false };
            let target = &line.target;
            *action == line.action && (target.is_empty() || rest.contains(target) || rest.join(" ") == *target)
        };
        actions.len() == self.lines.len() && self.lines.iter().zip(&actions).all(about)
    }

    /// A line a reader can follow: `read ~/.netrc: ENOENT`.
    pub fn summary(&self) -> String {
        let mut told: Vec<String> = self
            .lines
            .iter()
            .take(4)
            .map(|l| {
                let outcome = if l.ok { "ok" } else { l.errno.as_deref().unwrap_or("failed") };
                format!("{} {}: {outcome}", l.action, l.target)
            })
            .collect();
        if self.lines.len() > 4 {
            told.push(format!("and {} more", self.lines.len() - 4));
        }
        told.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: &str = r#"{"probe":1,"end":true}"#;

    /// What a launch printed: banners, and lines of the probe, which are sealed.
    fn found(banners: &str, lines: &[&str]) -> Report {
        let key = Key::random().unwrap();
        let lines: Vec<String> = lines.iter().map(|line| key.sealed(line)).collect();
        Report::find(format!("{banners}{}\n", lines.join("\r\n")).as_bytes(), &key)
    }

    #[test]
    fn banners_are_ignored() {
        let line = r#"{"probe":1,"action":"read","target":"/x","ok":false,"errno":"ENOENT","detail":{},"us":3}"#;
        let report = found("hello\n{\"x\":1}\n", &[line, END]);
        assert_eq!(report.lines.len(), 1);
        assert_eq!(report.summary(), "read /x: ENOENT");
        assert_eq!(report.unfinished(&words("read /x"), Some(37)), None);
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_report_about_something_else_proves_nothing() {
        let report = found("", &[r#"{"probe":1,"action":"read","target":"/x","ok":false}"#, END]);
        for asked in ["read /y", "list /x", "read /x + read /x", "read /x/y"] {
            assert!(report.unfinished(&words(asked), Some(37)).is_some(), "{asked}");
        }
    }

    #[test]
    fn an_end_that_is_missing_is_told() {
        assert!(found("", &[]).unfinished(&[], Some(37)).is_some());
        assert!(found("", &[END]).unfinished(&[], Some(37)).is_some(), "nothing was answered");
    }

    #[test]
    fn a_report_that_somebody_else_printed_is_none() {
        let line = r#"{"probe":1,"action":"read","target":"/x","ok":false,"errno":"ENOENT"}"#;
        let report = found(&format!("{line}\n{END}\n"), &[]);
        assert!(!report.ended && report.lines.is_empty() && report.forged == 2);
        assert!(report.unfinished(&words("read /x"), Some(37)).unwrap().contains("2 lines look like the probe's"));
    }
}
