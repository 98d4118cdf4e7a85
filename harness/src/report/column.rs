//! A run as a column: who was judged, in which version and configuration, and how it did.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::Source;
use super::model::{Cell, Fact, Line, is_peer, seen, shown, word};
use crate::catalogue::Catalogue;
use crate::record::{Record, ScenarioLine};
use crate::summary::{self, WORST_FIRST};
use crate::verdict::Verdict;

/// A run.
#[derive(Debug, Serialize)]
pub struct Column {
    /// Its name in addresses; unique.
    pub key: String,
    /// Its name.
    pub name: String,
    /// Version, as it tells it.
    pub version: String,
    /// `sandbox` or `factory`.
    pub kind: String,
    /// Where its claims are documented, if those are others'.
    pub homepage: Option<String>,
    /// In which configuration it was judged.
    pub about: String,
    /// Whether it is somebody else's.
    pub peer: bool,
    /// Why nothing could be asked at all, where that is so.
    pub blocked: Option<String>,
    /// Guarantees that hold.
    pub hold: usize,
    /// Of how many.
    pub of: usize,
    /// Number of scenarios.
    pub scenarios: usize,
    /// Of these, by verdict, all that there are.
    pub tallies: Vec<Tally>,
    /// How long it took.
    pub seconds: String,
    /// When it began.
    pub started: String,
    /// Scenarios of guarantees that this catalogue does not have.
    pub unknown: Vec<String>,
    /// Guarantees that hold although they are not claimed.
    pub beyond: Vec<String>,
    /// Guarantees that do not, and are not claimed.
    pub short: Vec<String>,
    /// Guarantees that are claimed and do not hold, with the reason.
    pub unkept: Vec<Unkept>,
}

/// A claim that does not hold.
#[derive(Debug, Serialize)]
pub struct Unkept {
    /// The guarantee.
    pub id: String,
    /// The verdict.
    pub verdict: &'static str,
    /// Its mark.
    pub mark: &'static str,
    /// Why, once each.
    pub reasons: Vec<String>,
}

/// How many scenarios have a verdict.
#[derive(Debug, Serialize)]
pub struct Tally {
    /// The verdict.
    pub word: &'static str,
    /// Their number.
    pub count: usize,
    /// Per mille of all, for the bar.
    pub share: usize,
}

const ALWAYS: [&str; 4] = ["fails", "inconclusive", "blocked", "moot"];

impl Column {
    /// The columns of all runs, each with a key of its own.
    pub fn all(whole: &[(&Source, &Record)], catalogue: &Catalogue) -> Vec<Self> {
        let mut columns: Vec<Self> = Vec::new();
        for (source, record) in whole {
            let mut name = shown(&record.run.driver, 24);
            if columns.iter().any(|c| c.name == name) {
                name = format!("{name} ({})", shown(&source.name, 24));
            }
            let slug = slug(&name);
            let numbered = (2..).map(|n| format!("{slug}-{n}"));
            let key = std::iter::once(slug.clone()).chain(numbered).find(|key| columns.iter().all(|c| c.key != *key));
            columns.push(Self::of(record, key.unwrap_or(slug), name, catalogue));
        }
        // What must be on the first screen even if it is 0, and what there is.
        let counted: BTreeSet<&str> =
            columns.iter().flat_map(|c| &c.tallies).filter(|t| t.count > 0).map(|t| t.word).chain(ALWAYS).collect();
        for column in &mut columns {
            column.tallies.retain(|t| counted.contains(t.word));
        }
        columns
    }

    fn of(record: &Record, key: String, name: String, catalogue: &Catalogue) -> Self {
        let (run, rows) = (&record.run, summary::rows(&record.scenarios, catalogue));
        let (hold, of) = if is_peer(run) { summary::claims(&rows) } else { summary::headline(&rows) };
        let unknown: BTreeSet<String> =
            record.scenarios.iter().filter(|l| catalogue.get(&l.id).is_none()).map(|l| shown(&l.id, 24)).collect();
        Self {
            key,
            name,
            version: shown(run.driver_version.as_deref().unwrap_or("no version told"), 40),
            kind: format!("{:?}", run.driver_kind).to_lowercase(),
            homepage: is_peer(run).then(|| shown(&run.homepage, 200)),
            about: shown(&run.about, 1_200),
            peer: is_peer(run),
            blocked: blocked(&record.scenarios),
            hold,
            of,
            scenarios: record.scenarios.len(),
            tallies: tallies(&record.scenarios),
            seconds: format!("{:.0}", record.end.ms as f64 / 1000.0),
            started: shown(&run.started, 40),
            unknown: unknown.into_iter().collect(),
            beyond: Vec::new(),
            short: Vec::new(),
            unkept: Vec::new(),
        }
    }

    /// Notes what its cells say of its claims.
    pub fn note<'a>(&mut self, cells: impl Iterator<Item = (&'a Line, &'a Cell)>) {
        for (line, cell) in cells {
            match cell.unclaimed {
                Some("beyond") => self.beyond.push(line.id.clone()),
                Some(_) => self.short.push(line.id.clone()),
                None => {}
            }
            let is = |v: &&Verdict| v.word() == cell.verdict;
            let verdict = WORST_FIRST.iter().find(is).copied().unwrap_or(Verdict::Error);
            if verdict.breaks() || verdict.unproven() || verdict == Verdict::ExpectedFailure {
                let word = word(verdict);
                let reasons = cell.evidence.reasons(word.word);
                self.unkept.push(Unkept { id: line.id.clone(), verdict: word.word, mark: word.mark, reasons });
            }
        }
    }
}

/// What the runs say of their hosts and programs: versions, knobs of the kernel, digests.
pub fn facts(whole: &[(&Source, &Record)]) -> Vec<Fact> {
    let facts: Vec<BTreeMap<String, String>> = whole.iter().map(|(_, record)| facts_of(record)).collect();
    let names: BTreeSet<&String> = facts.iter().flat_map(BTreeMap::keys).collect();
    let fact = |name: &String| {
        let values: Vec<String> =
            facts.iter().map(|f| f.get(name).map_or_else(|| NOWHERE.to_owned(), |v| shown(v, 80))).collect();
        let first = values.iter().find(|v| *v != NOWHERE);
        let same = first.filter(|first| values.iter().all(|v| v == *first || v == NOWHERE)).cloned();
        Fact { name: shown(name, 40), same, values }
    };
    names.into_iter().map(fact).collect()
}

/// What stands where a run says nothing of a fact.
const NOWHERE: &str = "–";

fn facts_of(record: &Record) -> BTreeMap<String, String> {
    let run = &record.run;
    let own = [
        ("harness", run.harness.clone()),
        ("commit", run.commit.clone().unwrap_or_else(|| "no checkout".to_owned())),
        ("version", run.driver_version.clone().unwrap_or_else(|| "not told".to_owned())),
        ("started as", run.start.clone()),
        ("uid in the lab", run.uid.to_string()),
        ("began", run.started.clone()),
        ("scenarios selected", run.selected.to_string()),
    ];
    let own = own.into_iter().map(|(name, value)| (name.to_owned(), value));
    let digests = run.digests.iter().map(|(name, digest)| (format!("sha256 of {name}"), digest.clone()));
    own.chain(run.host.clone()).chain(digests).collect()
}

/// The reason that all of a run shares, where the host cannot run the driver.
fn blocked(lines: &[ScenarioLine]) -> Option<String> {
    let first = lines.iter().find(|l| l.verdict == Verdict::Blocked)?;
    lines.iter().all(|l| seen(l).is_none() && l.verdict != Verdict::Moot).then(|| shown(&first.why, 300))
}

fn tallies(lines: &[ScenarioLine]) -> Vec<Tally> {
    let tally = |verdict: Verdict| {
        let count = lines.iter().filter(|l| l.verdict == verdict).count();
        Tally { word: verdict.word(), count, share: count * 1000 / lines.len().max(1) }
    };
    WORST_FIRST.into_iter().map(tally).collect()
}

/// A name as a word in addresses, classes and ids.
fn slug(name: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug: String = name.chars().map(word).collect();
    match slug.trim_matches('-') {
        "" => "run".to_owned(),
        slug => slug.to_owned(),
    }
}
