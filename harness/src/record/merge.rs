//! Shards of one run become one record. What does not fit together is refused: a merged record is as whole as any other.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{End, Record, Run, ScenarioLine, Shard};

/// A shard that is part of a record.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
pub struct Merged {
    /// Which.
    pub shard: Shard,
    /// How its lab was started.
    pub start: String,
    /// Facts of its host.
    pub host: BTreeMap<String, String>,
    /// When it began (RFC 3339, UTC).
    pub started: String,
    /// Number of its scenarios.
    pub selected: usize,
    /// Milliseconds.
    pub ms: u64,
}

impl Merged {
    /// What is kept of a shard, if it is one.
    pub fn of(record: &Record) -> Option<Self> {
        let run = &record.run;
        Some(Self {
            shard: run.shard?,
            start: run.start.clone(),
            host: run.host.clone(),
            started: run.started.clone(),
            selected: run.selected,
            ms: record.end.ms,
        })
    }
}

/// Why records do not become one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// These shards are missing: the run is not whole.
    Missing(String),
    /// They are not shards of one run.
    Unfit(String),
}

/// Merges the shards of a run, each with the name that it is told by.
///
/// # Errors
/// Which record does not fit, which scenario two of them have, or which shard is missing.
pub fn merge(shards: &[(String, Record)]) -> Result<Record, Refusal> {
    let Some((first_name, first)) = shards.first() else {
        return Err(Refusal::Unfit("there is no record to merge".to_owned()));
    };
    for (name, record) in shards {
        if record.run.shard.is_none() {
            return Err(Refusal::Unfit(format!("{name} is no shard: it was run without --shard")));
        }
        if let Some((what, own, other)) = differs(&record.run, &first.run) {
            return Err(Refusal::Unfit(format!(
                "{name}: {what} {own}, but {first_name} has {other}: not the same run"
            )));
        }
    }
    let mut seen: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for (name, record) in shards {
        for line in &record.scenarios {
            if let Some(other) = seen.insert((&line.id, &line.case), name) {
                return Err(Refusal::Unfit(format!("{name}: {}/{} is in {other} too", line.id, line.case)));
            }
        }
    }
    missing(shards)?;
    let mut scenarios: Vec<ScenarioLine> = shards.iter().flat_map(|(_, r)| r.scenarios.iter().cloned()).collect();
    let all = first.run.selected_in_all.unwrap_or_default();
    if scenarios.len() != all {
        let has = scenarios.len();
        return Err(Refusal::Unfit(format!("the shards have {has} scenarios, {all} were selected in all of them")));
    }
    scenarios.sort_by(|a, b| (&a.id, a.line).cmp(&(&b.id, b.line)));
    let ms = shards.iter().map(|(_, record)| record.end.ms).sum();
    Ok(Record { run: run(shards, first, all), end: End::of(&scenarios, ms), scenarios })
}

fn run(shards: &[(String, Record)], first: &Record, all: usize) -> Run {
    let mut merged: Vec<Merged> = shards.iter().filter_map(|(_, record)| Merged::of(record)).collect();
    merged.sort_by_key(|m| m.shard);
    let names: BTreeSet<&String> = merged.iter().flat_map(|m| m.host.keys()).collect();
    let host = names.into_iter().map(|name| {
        let values = merged.iter().map(|m| (m.shard.to_string(), m.host.get(name).map_or("absent", String::as_str)));
        (name.clone(), together(values))
    });
    let started = merged.iter().map(|m| m.started.clone()).min().unwrap_or_default();
    let start = together(merged.iter().map(|m| (m.shard.to_string(), m.start.as_str())));
    Run {
        host: host.collect(),
        start,
        started,
        selected: all,
        shard: None,
        selected_in_all: None,
        merged: merged.clone(),
        ..first.run.clone()
    }
}

/// One value where all have it, else each value with the shards that have it.
fn together<'a>(values: impl Iterator<Item = (String, &'a str)>) -> String {
    let mut by_value: Vec<(&str, Vec<String>)> = Vec::new();
    for (shard, value) in values {
        match by_value.iter_mut().find(|(known, _)| *known == value) {
            Some((_, shards)) => shards.push(shard),
            None => by_value.push((value, vec![shard])),
        }
    }
    match by_value.as_slice() {
        [(value, _)] => (*value).to_owned(),
        several => {
            let told = several.iter().map(|(value, shards)| format!("{value} ({})", shards.join(" ")));
            told.collect::<Vec<_>>().join(", ")
        }
    }
}

/// What the shards of one run have in common, and these have not.
fn differs(own: &Run, other: &Run) -> Option<(String, String, String)> {
    let some = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".to_owned());
    let of = |run: &Run| run.shard.map_or(0, |shard| shard.of).to_string();
    let all = |run: &Run| run.selected_in_all.unwrap_or_default().to_string();
    let unclaimed = |run: &Run| run.unclaimed.map_or("all".to_owned(), |u| u.most.to_string());
    let facts = [
        ("driver", own.driver.clone(), other.driver.clone()),
        ("version of the driver", some(&own.driver_version), some(&other.driver_version)),
        ("harness", own.harness.clone(), other.harness.clone()),
        ("commit", some(&own.commit), some(&other.commit)),
        ("selection", own.selection.join(" "), other.selection.join(" ")),
        ("number of shards", of(own), of(other)),
        ("number of scenarios in all shards", all(own), all(other)),
        ("--unclaimed", unclaimed(own), unclaimed(other)),
        ("declared deviations", own.expect.join(" "), other.expect.join(" ")),
    ];
    let facts = facts.into_iter().map(|(what, own, other)| (what.to_owned(), own, other));
    let digests: BTreeSet<&String> = own.digests.keys().chain(other.digests.keys()).collect();
    let digest = |run: &Run, name: &String| {
        run.digests.get(name).map_or("none".to_owned(), |digest| digest.chars().take(12).collect())
    };
    let digests = digests.into_iter().filter(|name| own.digests.get(*name) != other.digests.get(*name));
    let digests = digests.map(|name| (format!("digest of {name}"), digest(own, name), digest(other, name)));
    facts.filter(|(_, own, other)| own != other).chain(digests).next()
}

fn missing(shards: &[(String, Record)]) -> Result<(), Refusal> {
    let mut there: BTreeMap<usize, &str> = BTreeMap::new();
    let mut of = 0;
    for (name, shard) in shards.iter().filter_map(|(name, record)| Some((name, record.run.shard?))) {
        of = shard.of;
        if let Some(other) = there.insert(shard.number, name) {
            return Err(Refusal::Unfit(format!("{name} is shard {shard}, and {other} is it too")));
        }
    }
    let lacking: Vec<String> = (1..=of).filter(|n| !there.contains_key(n)).map(|n| format!("{n}/{of}")).collect();
    match lacking.as_slice() {
        [] => Ok(()),
        [one] => Err(Refusal::Missing(format!("shard {one} is missing; run it with --shard {one}"))),
        several => {
            Err(Refusal::Missing(format!("the shards {} are missing; run each with --shard", several.join(", "))))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::{line, record};
    use crate::verdict::Verdict;

    fn shard(number: usize, of: usize, cases: &[&str]) -> (String, Record) {
        let mut record = record("x", cases.iter().map(|case| line("FS-06", case, Verdict::Holds)).collect());
        (record.run.shard, record.run.selected_in_all) = (Some(Shard { number, of }), Some(3));
        (format!("r{number}"), record)
    }

    fn refused(shards: &[(String, Record)]) -> String {
        match merge(shards).unwrap_err() {
            Refusal::Missing(why) | Refusal::Unfit(why) => why,
        }
    }

    #[test]
    fn all_shards_together_are_one_run() {
        let (mut one, two) = (shard(1, 2, &["a", "c"]), shard(2, 2, &["b"]));
        one.1.run.host.insert("kernel".into(), "6.1".into());
        let record = merge(&[two, one]).unwrap();
        assert_eq!((record.run.selected, record.run.shard, record.scenarios.len()), (3, None, 3));
        assert_eq!(record.run.host["kernel"], "6.1 (1/2), 6.18 (2/2)");
        assert_eq!((record.run.merged.len(), record.run.merged[0].shard.number), (2, 1));
        assert_eq!((record.end.ms, record.end.verdicts["holds"]), (10, 3));
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(refused(&[shard(1, 2, &["a", "c"])]), "shard 2/2 is missing; run it with --shard 2/2");
        assert!(matches!(merge(&[shard(2, 3, &["a"])]), Err(Refusal::Missing(why)) if why.contains("1/3, 3/3")));
    }

    #[test]
    fn what_does_not_fit_is_refused_by_name() {
        let (one, two) = (shard(1, 2, &["a", "c"]), shard(2, 2, &["b"]));
        let with = |change: fn(&mut Run)| {
            let mut other = two.clone();
            change(&mut other.1.run);
            refused(&[one.clone(), other])
        };
        assert!(with(|run| run.driver = "y".into()).starts_with("r2: driver y, but r1 has x"));
        assert!(with(|run| run.driver_version = Some("2".into())).contains("version of the driver 2"));
        assert!(with(|run| run.commit = Some("beef".into())).contains("r2: commit beef, but r1 has none"));
        assert!(
            with(|run| _ = run.digests.insert("features".into(), "beef".into())).contains("digest of features beef")
        );
        assert!(with(|run| _ = run.digests.insert("probe".into(), "é".repeat(40))).contains(&"é".repeat(12)));
        assert!(with(|run| run.selection = vec!["--id FS".into()]).contains("selection"));
        assert!(with(|run| run.shard = None).contains("is no shard"));
        assert!(with(|run| run.shard = Some(Shard { number: 1, of: 2 })).contains("shard 1/2, and r1 is it too"));
        assert!(refused(&[one.clone(), shard(2, 2, &["a"])]).contains("r2: FS-06/a is in r1 too"));
        assert!(refused(&[one.clone(), shard(2, 2, &[])]).contains("have 2 scenarios, 3 were selected"));
        assert!(refused(&[one, shard(2, 3, &["b"])]).contains("number of shards 3"));
    }
}
