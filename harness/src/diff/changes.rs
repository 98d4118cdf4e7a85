//! What changed from one run to another.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write as _};

use crate::record::{Record, Run, ScenarioLine};
use crate::text::line;
use crate::verdict::Verdict;

/// A scenario whose verdict is another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// `ID/case`.
    pub name: String,
    /// The verdict then; `None` = the scenario is new.
    pub from: Option<Verdict>,
    /// The verdict now; `None` = the scenario is gone.
    pub to: Option<Verdict>,
    /// What was seen: now, or then where it is gone.
    pub seen: String,
}

/// What changed.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Verdicts, in order of the scenarios.
    pub verdicts: Vec<Change>,
    /// Versions, knobs, digests and options that differ: name, then, now.
    pub circumstances: Vec<(String, String, String)>,
    /// Number of scenarios that both have with the same verdict.
    pub same: usize,
}

/// Compares two runs.
pub fn changes(then: &Record, now: &Record) -> Changes {
    let by_name = |record: &Record| -> BTreeMap<String, ScenarioLine> {
        record.scenarios.iter().map(|line| (line.name(), line.clone())).collect()
    };
    let (before, after) = (by_name(then), by_name(now));
    let mut changes = Changes { circumstances: circumstances(&then.run, &now.run), ..Changes::default() };
    for name in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
        let (from, to) = (before.get(name), after.get(name));
        if from.map(|l| l.verdict) == to.map(|l| l.verdict) {
            changes.same += 1;
            continue;
        }
        let seen = to.or(from).map(|l| l.why.clone()).unwrap_or_default();
        let (from, to) = (from.map(|l| l.verdict), to.map(|l| l.verdict));
        changes.verdicts.push(Change { name: name.clone(), from, to, seen });
    }
    changes
}

/// What of two runs can explain a change, where it differs.
fn circumstances(then: &Run, now: &Run) -> Vec<(String, String, String)> {
    let facts = |run: &Run| -> BTreeMap<String, String> {
        let mut facts: BTreeMap<String, String> = [
            ("driver", Some(run.driver.clone())),
            ("driver version", run.driver_version.clone()),
            ("configuration", Some(run.about.clone())),
            ("harness", Some(run.harness.clone())),
            ("commit", run.commit.clone()),
            ("started as", Some(run.start.clone())),
            ("selection", Some(run.selection.join(" "))),
            ("--shard", run.shard.map(|shard| shard.to_string())),
            ("--unclaimed", run.unclaimed.map(|unclaimed| unclaimed.most.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
        facts.extend(run.host.iter().map(|(name, value)| (format!("host {name}"), value.clone())));
        let digest = |digest: &String| digest.chars().take(12).collect();
        facts.extend(run.digests.iter().map(|(name, value)| (format!("digest of {name}"), digest(value))));
        facts
    };
    let (before, after) = (facts(then), facts(now));
    let value = |facts: &BTreeMap<String, String>, name: &str| facts.get(name).cloned().unwrap_or_default();
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let told = names.into_iter().map(|name| (name.clone(), value(&before, name), value(&after, name)));
    told.filter(|(_, before, after)| before != after).collect()
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        for change in &self.verdicts {
            let word = |verdict: Option<Verdict>, none: &'static str| verdict.map_or(none, Verdict::word);
            let (from, to) = (word(change.from, "new"), word(change.to, "gone"));
            let (name, seen) = (line(change.name.as_bytes(), 300), line(change.seen.as_bytes(), 300));
            writeln!(out, "  {from} -> {to}  {name}\n      {seen}")?;
        }
        if !self.circumstances.is_empty() {
            writeln!(out, "  what else differs:")?;
        }
        for (name, before, after) in &self.circumstances {
            let value = |text: &str| if text.is_empty() { "-".to_owned() } else { line(text.as_bytes(), 100) };
            writeln!(out, "      {}: {} -> {}", value(name), value(before), value(after))?;
        }
        let count = |is: fn(&Change) -> bool| self.verdicts.iter().filter(|change| is(change)).count();
        let (new, gone) = (count(|c| c.from.is_none()), count(|c| c.to.is_none()));
        let other = self.verdicts.len() - new - gone;
        writeln!(
            out,
            "  {other} verdicts changed, {new} scenarios are new, {gone} are gone, {} are as they were",
            self.same
        )?;
        f.write_str(&out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{line, record};

    #[test]
    fn verdicts_new_and_gone_scenarios_and_circumstances() {
        let then = [("a", Verdict::Holds), ("b", Verdict::Holds), ("c", Verdict::Holds)];
        let mut then = record("x", then.map(|(case, verdict)| line("FS-06", case, verdict)).to_vec());
        let now = [("b", Verdict::Fails), ("c", Verdict::Holds), ("d", Verdict::Moot)];
        let mut now = record("x", now.map(|(case, verdict)| line("FS-06", case, verdict)).to_vec());
        then.run.digests.insert("probe".into(), "a".repeat(64));
        now.run.host.insert("kernel".into(), "7.0".into());
        insta::assert_snapshot!(changes(&then, &now).to_string(), @r"
          holds -> gone  FS-06/a
              holds seen
          holds -> fails  FS-06/b
              fails seen
          new -> moot  FS-06/d
              moot seen
          what else differs:
              digest of probe: aaaaaaaaaaaa -> -
              host kernel: 6.18 -> 7.0
          1 verdicts changed, 1 scenarios are new, 1 are gone, 1 are as they were
        ");
        assert!(changes(&then, &then).verdicts.is_empty());
        now.run.host.insert("\x1b[2J".into(), "\x1b[3J".into());
        now.scenarios[0].case = "\x1b]0;x".into();
        let told = changes(&then, &now).to_string();
        assert!(told.contains("\\u{1b}]0;x") && told.contains("\\u{1b}[2J: - -> \\u{1b}[3J"), "{told}");
        assert!(!told.contains('\x1b'), "{told:?}");
    }
}
