//! What stands behind a cell: its cases, those that matter first, within bounds.
//!
//! A page over a dozen runs would else have thirty thousand cases. The first of each kind are shown whole, more by a line, and
//! the rest is counted; all of it is in the record.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::model::{seen, shown, word};
use crate::record::{LaunchLine, Run, ScenarioLine};
use crate::summary::{WORST_FIRST, again};
use crate::verdict::Verdict;

/// How much is shown of a cell.
#[derive(Clone, Debug, Serialize)]
pub struct Bounds {
    /// Cases shown whole of those that are not as claimed.
    pub bad: usize,
    /// Cases shown whole of the others.
    pub good: usize,
    /// Further cases shown by a line, of each group.
    pub listed: usize,
    /// Characters of a sentence, a command line or a complaint.
    pub text: usize,
}

/// Nothing but the reasons.
pub const NONE: Bounds = Bounds { bad: 0, good: 0, listed: 0, text: 300 };

/// What stands behind a cell.
#[derive(Debug, Serialize)]
pub struct Evidence {
    /// What its own documentation says.
    pub own_words: Option<String>,
    /// Cases of the same kind.
    pub groups: Vec<Group>,
    /// Verdict and reason of each case that is not as it should be, once each.
    #[serde(skip)]
    reasons: BTreeSet<(&'static str, String)>,
}

/// Cases with the same verdict.
#[derive(Debug, Serialize)]
pub struct Group {
    /// The verdict's mark.
    pub mark: &'static str,
    /// The verdict.
    pub verdict: &'static str,
    /// What was seen, where it is not claimed.
    pub seen: Option<String>,
    /// Number of cases.
    pub count: usize,
    /// The reason that they all share.
    pub shared: Option<String>,
    /// Shown whole.
    pub whole: Vec<Case>,
    /// Shown by a line.
    pub listed: Vec<Listed>,
    /// Not shown.
    pub left: usize,
}

/// A case by a line.
#[derive(Debug, Serialize)]
pub struct Listed {
    /// Its address.
    pub anchor: String,
    /// Its title.
    pub title: String,
    /// What was seen.
    pub why: Option<String>,
}

/// A case as a whole.
#[derive(Debug, Serialize)]
pub struct Case {
    /// Its address.
    pub anchor: String,
    /// Its title.
    pub title: String,
    /// Whether it checks more than the row says.
    pub extra: bool,
    /// The sentence that explains its verdict, where it says more than what was found.
    pub why: Option<String>,
    /// What was found: whether it was so, and what was seen.
    pub findings: Vec<(bool, String)>,
    /// Controls: how it was made, whether it showed the danger, what was seen.
    pub controls: Vec<(String, bool, String)>,
    /// What was launched.
    pub launches: Vec<Launched>,
    /// Where the scenario stands.
    pub place: String,
    /// How to run it again.
    pub again: String,
}

/// A launch.
#[derive(Debug, Serialize)]
pub struct Launched {
    /// The command line.
    pub argv: String,
    /// How it ended.
    pub exit: String,
    /// Milliseconds.
    pub ms: u64,
    /// Lines of the probe.
    pub probe: Vec<String>,
    /// Lines of the probe that are not shown.
    pub left: usize,
    /// What it complained.
    pub stderr: String,
}

/// Findings, controls and probe lines shown of a case.
const PARTS: usize = 6;

impl Evidence {
    /// The evidence of a cell, from its scenarios.
    pub fn of(run: &Run, key: &str, lines: &[&ScenarioLine], bounds: &Bounds) -> Self {
        let mut groups: BTreeMap<(usize, Option<&str>, &str), Vec<&ScenarioLine>> = BTreeMap::new();
        for line in lines {
            let rank = WORST_FIRST.iter().position(|v| *v == line.verdict).unwrap_or_default();
            let not_asked = if line.findings.is_empty() { line.why.as_str() } else { "" };
            let seen = seen(line).filter(|_| line.verdict == Verdict::NotClaimed);
            groups.entry((rank, seen, not_asked)).or_default().push(line);
        }
        let mut anchors = BTreeSet::new();
        let groups = groups.values().map(|lines| Group::of(run, key, lines, bounds, &mut anchors)).collect();
        let odd =
            |l: &&&ScenarioLine| l.verdict.breaks() || l.verdict.unproven() || l.verdict == Verdict::ExpectedFailure;
        let reason = |l: &&ScenarioLine| (l.verdict.word(), shown(reason(l), 200));
        Self {
            own_words: lines.first().and_then(|l| run.sources.get(&l.id)).map(|words| shown(words, 600)),
            groups,
            reasons: lines.iter().filter(odd).map(reason).collect(),
        }
    }

    /// Why cases have this verdict, once each.
    pub fn reasons(&self, verdict: &str) -> Vec<String> {
        self.reasons.iter().filter(|(word, _)| *word == verdict).map(|(_, why)| why.clone()).collect()
    }
}

/// The reason that a manifest declares stands before what was seen.
fn reason(line: &ScenarioLine) -> &str {
    line.why
        .split_once("; seen: ")
        .filter(|_| line.verdict == Verdict::ExpectedFailure)
        .map_or(&line.why, |(why, _)| why)
}

impl Group {
    fn of(run: &Run, key: &str, lines: &[&ScenarioLine], bounds: &Bounds, anchors: &mut BTreeSet<String>) -> Self {
        let verdict = lines.first().map_or(Verdict::Error, |l| l.verdict);
        let shared = lines.first().filter(|first| lines.iter().all(|l| l.why == first.why)).map(|l| l.why.as_str());
        let asked = lines.iter().any(|l| !l.findings.is_empty() || !l.launches.is_empty());
        let whole = match verdict {
            _ if !asked => 0,
            Verdict::Holds | Verdict::NotClaimed | Verdict::NotApplicable => bounds.good,
            _ => bounds.bad,
        };
        let mut anchor = |line: &ScenarioLine| {
            let base = format!("{}/{key}/{}", line.id, word_of(&line.case));
            let numbered = (2..).map(|n| format!("{base}-{n}"));
            let free = std::iter::once(base.clone()).chain(numbered).find(|a| anchors.insert(a.clone()));
            free.unwrap_or(base)
        };
        let cases = lines.iter().take(whole).map(|l| Case::of(run, l, anchor(l), bounds)).collect();
        let listed = lines.iter().skip(whole).take(bounds.listed).map(|l| Listed {
            anchor: anchor(l),
            title: shown(&l.title, 200),
            why: shared.is_none().then(|| shown(told(l), bounds.text.min(200))),
        });
        Self {
            mark: word(verdict).mark,
            verdict: verdict.word(),
            seen: lines.first().filter(|_| verdict == Verdict::NotClaimed).and_then(|l| seen(l)).map(str::to_owned),
            count: lines.len(),
            shared: shared.filter(|_| lines.len() > 1 || !asked).map(|why| shown(why, bounds.text)),
            whole: cases,
            listed: listed.collect(),
            left: lines.len().saturating_sub(whole + bounds.listed),
        }
    }
}

impl Case {
    fn of(run: &Run, line: &ScenarioLine, anchor: String, bounds: &Bounds) -> Self {
        let findings = line.findings.iter().take(PARTS).map(|f| (f.held, shown(&f.seen, bounds.text)));
        let controls = line.controls.iter().take(PARTS).map(|c| {
            let fact = c.moot.as_deref().map(|fact| format!("; {fact}")).unwrap_or_default();
            (format!("{:?}", c.kind).to_lowercase(), c.shown, shown(&format!("{}{fact}", c.seen), bounds.text))
        });
        Self {
            anchor,
            title: shown(&line.title, 200),
            extra: line.is_extra(),
            why: explains(line).then(|| shown(told(line), bounds.text)),
            findings: findings.collect(),
            controls: controls.collect(),
            launches: line.launches.iter().take(2).map(|l| Launched::of(l, bounds)).collect(),
            place: shown(&format!("{}:{}", line.file, line.line), 120),
            again: shown(&again(run, line), 300),
        }
    }
}

/// Why a case has its verdict, without what its group says already.
fn told(line: &ScenarioLine) -> &str {
    let seen = seen(line).filter(|_| line.verdict == Verdict::NotClaimed);
    seen.and_then(|_| line.why.split_once("; ")).map_or(&line.why, |(_, why)| why)
}

/// Whether the sentence that explains a verdict says more than its findings, which it is often made of.
fn explains(line: &ScenarioLine) -> bool {
    let seen: Vec<&str> = line.findings.iter().map(|f| f.seen.as_str()).collect();
    let why = told(line);
    why != seen.join("; ") && !seen.contains(&why)
}

impl Launched {
    fn of(launch: &LaunchLine, bounds: &Bounds) -> Self {
        Self {
            argv: shown(&launch.argv.join(" "), bounds.text),
            exit: launch.exit.map_or_else(|| "did not end within its bound".to_owned(), |code| format!("exit {code}")),
            ms: launch.ms,
            probe: launch.probe.iter().take(PARTS).map(|line| shown(&probed(line), bounds.text)).collect(),
            left: launch.probe.len().saturating_sub(PARTS),
            stderr: shown(&launch.stderr, bounds.text),
        }
    }
}

/// A line of the probe as a sentence: `read /etc/shadow: EACCES`.
fn probed(line: &serde_json::Value) -> String {
    let text = |key: &str| line.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
    let result = match line.get("ok").and_then(serde_json::Value::as_bool) {
        Some(true) => "ok",
        _ => text("errno"),
    };
    let detail =
        Some(text("detail")).filter(|d| !d.is_empty() && *d != "{}").map(|d| format!(" {d}")).unwrap_or_default();
    format!("{} {}: {result}{detail}", text("action"), text("target"))
}

/// A case's word as it can stand in an address: without blanks and whatever is not seen.
fn word_of(case: &str) -> String {
    shown(case, 120).split_whitespace().collect::<Vec<_>>().join("-")
}
