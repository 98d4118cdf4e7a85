//! The record of a run: one NDJSON file, from which everything shown is rendered.
//!
//! First line: the run. Then a line a scenario, with its evidence. Last line: the end, without which the record is not whole.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::features::Case;
use crate::launch::Launch;
use crate::verdict::{Control, Finding, Verdict};

mod found;
pub mod merge;
mod read;
mod shard;
mod whole;
mod write;

pub use found::{found, none_in};
pub use merge::Merged;
pub use read::Record;
pub use shard::Shard;
pub use whole::{exit_code, unused};
pub use write::Recorder;

/// Version of the record's format.
pub const RECORD: u32 = 1;

/// The first line.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Run {
    /// Version of the format.
    pub record: u32,
    /// Name and version of the harness.
    pub harness: String,
    /// Commit of the checkout, if it is one.
    pub commit: Option<String>,
    /// Name of the driver.
    pub driver: String,
    /// Its manifest, where it is none of the checkout's: an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manifest: Option<PathBuf>,
    /// What it says of its version.
    pub driver_version: Option<String>,
    /// Its kind.
    pub driver_kind: crate::driver::Kind,
    /// Where its claims are documented.
    pub homepage: String,
    /// In which configuration it was judged, and why in this one.
    pub about: String,
    /// The words of its documentation that a claim rests on, by guarantee.
    pub sources: BTreeMap<String, String>,
    /// How the lab was started.
    pub start: String,
    /// The user in the lab.
    pub uid: u32,
    /// Facts of the host: kernel, versions, knobs that matter.
    pub host: BTreeMap<String, String>,
    /// SHA-256 of the programs.
    pub digests: BTreeMap<String, String>,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// Number of scenarios selected.
    pub selected: usize,
    /// The options that selected them; none = all of the specification.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection: Vec<String>,
    /// Which share of the run this is, where it was shared out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Number of scenarios that all shards have together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selected_in_all: Option<usize>,
    /// How much was left out of what the driver does not claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unclaimed: Option<Unclaimed>,
    /// The deviations that its manifest declares on this platform: `ID`, or `ID/case`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<String>,
    /// The shards that this record was made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<Merged>,
}

/// What was left out with `--unclaimed N`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Unclaimed {
    /// Of each guarantee, at most so many scenarios were asked of those that the driver does not claim.
    pub most: usize,
    /// So many were not asked.
    pub left_out: usize,
}

/// A line a scenario.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct ScenarioLine {
    /// The guarantee.
    pub id: String,
    /// The case in it.
    pub case: String,
    /// The title.
    pub title: String,
    /// Tags.
    pub tags: Vec<String>,
    /// The feature's file.
    pub file: String,
    /// The line in it.
    pub line: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The sentence that explains it.
    pub why: String,
    /// What the `Then` steps found.
    pub findings: Vec<Finding>,
    /// What the controls showed.
    pub controls: Vec<Control>,
    /// What was launched and what it did.
    pub launches: Vec<LaunchLine>,
    /// Milliseconds.
    pub ms: u64,
}

/// One launch as evidence.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct LaunchLine {
    /// What was started.
    pub argv: Vec<String>,
    /// Names of the environment.
    pub env: Vec<String>,
    /// Exit code; 128+n for a signal; null at the bound.
    pub exit: Option<i32>,
    /// The probe's lines, at most 20.
    pub probe: Vec<Value>,
    /// What it complained, cut.
    pub stderr: String,
    /// Milliseconds.
    pub ms: u64,
}

impl LaunchLine {
    /// The evidence of a launch.
    pub fn of(launch: &Launch) -> Self {
        let probe = launch.report.lines.iter().take(20);
        let line = |l: &crate::probe::Line| {
            let detail = crate::text::line(l.detail.to_string().as_bytes(), 400);
            serde_json::json!({"action": l.action, "target": l.target, "ok": l.ok, "errno": l.errno, "detail": detail})
        };
        Self {
            argv: launch.argv.clone(),
            env: launch.env.clone(),
            exit: launch.exit,
            probe: probe.map(line).collect(),
            stderr: crate::text::line(&launch.stderr, 600),
            ms: millis(launch.took),
        }
    }
}

/// The last line.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct End {
    /// Whether the run came to its end.
    pub end: bool,
    /// Number of scenarios by verdict.
    pub verdicts: BTreeMap<String, usize>,
    /// Milliseconds; of merged shards the sum.
    pub ms: u64,
}

impl End {
    /// The end of a run with these scenarios.
    pub fn of(lines: &[ScenarioLine], ms: u64) -> Self {
        let mut verdicts = BTreeMap::new();
        for line in lines {
            *verdicts.entry(line.verdict.word().to_owned()).or_insert(0) += 1;
        }
        Self { end: true, verdicts, ms }
    }
}

impl ScenarioLine {
    /// `ID/case`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.id, self.case)
    }

    /// Whether it checks more than the guarantee's row says.
    pub fn is_extra(&self) -> bool {
        self.tags.iter().any(|t| t == "extra")
    }

    /// A line for a case.
    pub fn new(case: &Case, verdict: Verdict, why: String) -> Self {
        Self {
            id: case.id.clone(),
            case: case.case.clone(),
            title: case.title.clone(),
            tags: case.tags.clone(),
            file: case.place.0.display().to_string(),
            line: case.place.1,
            verdict,
            why,
            findings: Vec::new(),
            controls: Vec::new(),
            launches: Vec::new(),
            ms: 0,
        }
    }
}

/// Any line of the record.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "Record")]
pub enum RecordLine {
    /// The first line.
    Run(Box<Run>),
    /// A line a scenario.
    Scenario(ScenarioLine),
    /// The last line.
    End(End),
}

/// Milliseconds, as the record has them.
pub fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The first line of a run of `driver`.
    pub fn run(driver: &str) -> Run {
        let host = [("os", "linux"), ("kernel", "6.18")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        Run {
            record: RECORD,
            harness: "h 1".into(),
            commit: None,
            driver: driver.into(),
            manifest: None,
            driver_version: Some("1".into()),
            driver_kind: crate::driver::Kind::Sandbox,
            homepage: String::new(),
            about: String::new(),
            sources: BTreeMap::new(),
            start: "user".into(),
            uid: 42042,
            host: host.into(),
            digests: BTreeMap::new(),
            started: "2026-01-01T00:00:00Z".into(),
            selected: 0,
            selection: Vec::new(),
            shard: None,
            selected_in_all: None,
            unclaimed: None,
            expect: Vec::new(),
            merged: Vec::new(),
        }
    }

    /// The line of a scenario.
    pub fn line(id: &str, case: &str, verdict: Verdict) -> ScenarioLine {
        let case =
            Case { id: id.into(), case: case.into(), title: case.into(), tags: Vec::new(), place: ("f".into(), 1) };
        ScenarioLine::new(&case, verdict, format!("{} seen", verdict.word()))
    }

    /// A whole record.
    pub fn record(driver: &str, scenarios: Vec<ScenarioLine>) -> Record {
        let run = Run { selected: scenarios.len(), ..run(driver) };
        Record { run, end: End::of(&scenarios, 5), scenarios }
    }
}
