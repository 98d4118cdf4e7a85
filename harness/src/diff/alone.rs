//! What exactly one of several implementations breaks: where the others show that it can be kept.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use crate::record::{Record, ScenarioLine};
use crate::text::line;
use crate::verdict::Verdict;

/// Scenarios that one implementation alone breaks.
#[derive(Clone, Debug)]
pub struct Alone {
    /// By implementation.
    pub by_name: Vec<(String, Vec<Broken>)>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// `ID/case`.
    pub name: String,
    /// Fails, or fails as declared.
    pub verdict: Verdict,
    /// What was seen.
    pub seen: String,
    /// The implementations that keep it.
    pub kept_by: Vec<String>,
}

/// Finds them. An implementation of which nothing was proven, or that does not claim it, neither breaks nor keeps it.
pub fn alone(records: &[(String, Record)]) -> Alone {
    let mut scenarios: BTreeMap<String, Vec<(usize, &ScenarioLine)>> = BTreeMap::new();
    for (at, (_, record)) in records.iter().enumerate() {
        for line in &record.scenarios {
            scenarios.entry(line.name()).or_default().push((at, line));
        }
    }
    let mut by_name: Vec<(String, Vec<Broken>)> = records.iter().map(|(name, _)| (name.clone(), Vec::new())).collect();
    for (name, lines) in scenarios {
        let breaks = |line: &ScenarioLine| matches!(line.verdict, Verdict::Fails | Verdict::ExpectedFailure);
        let broken: Vec<_> = lines.iter().filter(|(_, line)| breaks(line)).collect();
        let keep = lines.iter().filter(|(_, line)| line.verdict == Verdict::Holds);
        let kept_by: Vec<String> = keep.map(|(at, _)| records[*at].0.clone()).collect();
        if let ([(at, line)], false) = (broken.as_slice(), kept_by.is_empty()) {
            let (verdict, seen) = (line.verdict, line.why.clone());
            by_name[*at].1.push(Broken { name, verdict, seen, kept_by });
        }
    }
    Alone { by_name }
}

impl Alone {
    /// Whether nothing is broken by one alone.
    pub fn is_empty(&self) -> bool {
        self.by_name.iter().all(|(_, broken)| broken.is_empty())
    }
}

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        let shown = |text: &str| line(text.as_bytes(), 300);
        for (name, broken) in &self.by_name {
            writeln!(out, "{}: {} scenarios that it alone breaks", shown(name), broken.len())?;
            for broken in broken {
                let (name, kept_by) = (shown(&broken.name), shown(&broken.kept_by.join(", ")));
                writeln!(out, "  {}  {name}  (kept by {kept_by})", broken.verdict.word())?;
                writeln!(out, "      {}", shown(&broken.seen))?;
            }
        }
        f.write_str(&out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{line, record};

    #[test]
    fn one_breaks_it_and_another_keeps_it() {
        use Verdict::{ExpectedFailure, Fails, Holds, Inconclusive, NotClaimed};
        let records: Vec<(String, Record)> = [
            (
                "x",
                [
                    ("one", Holds),
                    ("two", Fails),
                    ("nobody", NotClaimed),
                    ("own", ExpectedFailure),
                    ("late", Inconclusive),
                ],
            ),
            ("y", [("one", Fails), ("two", Fails), ("nobody", Fails), ("own", Holds), ("late", Holds)]),
            ("z", [("one", NotClaimed), ("two", Holds), ("nobody", NotClaimed), ("own", Holds), ("late", Holds)]),
        ]
        .map(|(name, lines)| {
            (name.to_owned(), record(name, lines.map(|(case, verdict)| line("FS-06", case, verdict)).to_vec()))
        })
        .to_vec();
        let alone = alone(&records);
        assert!(!alone.is_empty());
        insta::assert_snapshot!(alone.to_string(), @r"
        x: 1 scenarios that it alone breaks
          expected-failure  FS-06/own  (kept by y, z)
              expected-failure seen
        y: 1 scenarios that it alone breaks
          fails  FS-06/one  (kept by x)
              fails seen
        z: 0 scenarios that it alone breaks
        ");
    }

    #[test]
    fn what_somebody_sent_does_not_drive_the_terminal() {
        let of = |name: &str, verdict| (name.to_owned(), record(name, vec![line("FS-06", "\x1b[1m", verdict)]));
        let told = alone(&[of("\x1b[2J", Verdict::Fails), of("\x1b[3J", Verdict::Holds)]).to_string();
        assert!(
            told.starts_with("\\u{1b}[2J: 1 scenarios that it alone breaks\n  fails  FS-06/\\u{1b}[1m"),
            "{told:?}"
        );
        assert!(told.contains("(kept by \\u{1b}[3J)") && !told.contains('\x1b'), "{told:?}");
    }
}
