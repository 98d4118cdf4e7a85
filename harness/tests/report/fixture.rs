//! Records of invented runs: an honest reference, a peer that falls short, and one whose every text is hostile.

use std::collections::BTreeMap;

use kusaw_conformance::catalogue::Catalogue;
use kusaw_conformance::driver::Kind;
use kusaw_conformance::record::{End, LaunchLine, Record, Run, ScenarioLine};
use kusaw_conformance::report::{Report, Source};
use kusaw_conformance::verdict::{Control, ControlKind, Finding, Verdict};

/// What must never come through as it is: markup, the end of a script, and a turn of the reading order.
pub const HOSTILE: &str = "</script></style><script>document.title='owned'</script><img src=x onerror=\"alert(1)\">\u{202e}gpj.exe\u{200b} | `code` \u{1b}[31m {{ page }} &amp; ' \"";

const CATALOGUE: &str = "## FS: files\n\
    | FS-06 | LWM | must | The home cannot be listed. | It cannot read the user's home folder |\n\
    | FS-07 | LWM | must | Nothing of ~/.ssh can be read, see [the page](../docs/x.md). | The real home,~/.ssh |\n\
    | FS-11 | LWM | limit | What is named is open as written. | allow_read |\n\
    ## CLI: what the commands say\n\
    | CLI-01 | LWM | cli | check reports whether this machine can run it. | sandbox check |\n\
    | CLI-07 | LWM | extra | doctor lists what ignores the proxy. |  |\n";

/// The catalogue of these runs.
pub fn catalogue() -> Catalogue {
    Catalogue::parse(CATALOGUE).unwrap()
}

/// A scenario with evidence.
pub fn scenario(id: &str, case: &str, verdict: Verdict, why: &str) -> ScenarioLine {
    let control = Control { kind: ControlKind::Bare, shown: true, seen: "the secret arrived".into(), moot: None };
    let probe = serde_json::json!({"action": "read", "target": "/home/dev/.ssh/id", "ok": false, "errno": "ENOENT", "detail": "{}"});
    let argv = vec!["/opt/driver/run".into(), "a".repeat(300)];
    let (env, stderr) = (vec!["PATH".into()], "no such file".into());
    ScenarioLine {
        id: id.into(),
        case: case.into(),
        title: case.replace('-', " "),
        tags: Vec::new(),
        file: "features/files/keys.feature".into(),
        line: 7,
        verdict,
        why: why.into(),
        findings: vec![Finding { held: verdict == Verdict::Holds, certain: true, seen: "read: ENOENT".into() }],
        controls: vec![control],
        launches: vec![LaunchLine { argv, env, exit: Some(37), probe: vec![probe], stderr, ms: 9 }],
        ms: 12,
    }
}

/// A run of these scenarios.
pub fn record(driver: &str, kind: Kind, homepage: &str, scenarios: Vec<ScenarioLine>) -> Record {
    let map = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let run = Run {
        record: 1,
        harness: "kusaw-conformance 0.1.0".into(),
        commit: None,
        driver: driver.into(),
        manifest: None,
        driver_version: Some(format!("{driver} 1.2.3")),
        driver_kind: kind,
        homepage: homepage.into(),
        about: "In its best plain configuration.".into(),
        sources: map(&[("FS-07", "You can deny broad regions (README)")]),
        start: "root, dropped".into(),
        uid: 42042,
        host: map(&[("os", "linux"), ("kernel", "6.18.4-build"), ("legacy_tiocsti", "1"), ("landlock_abi", "7")]),
        digests: map(&[("probe", &"d1".repeat(32)), (driver, &"a7".repeat(32))]),
        started: "2026-01-01T00:00:00Z".into(),
        selected: scenarios.len(),
        selection: Vec::new(),
        shard: None,
        selected_in_all: None,
        unclaimed: None,
        expect: Vec::new(),
        merged: Vec::new(),
    };
    let mut verdicts = BTreeMap::new();
    scenarios.iter().for_each(|s| *verdicts.entry(s.verdict.word().to_owned()).or_insert(0) += 1);
    Record { run, scenarios, end: End { end: true, verdicts, ms: 5_000 } }
}

/// The reference: all of it holds but what is moot here.
pub fn reference() -> Record {
    let ids = ["FS-06", "FS-07", "FS-11", "CLI-01", "CLI-07"];
    let mut scenarios: Vec<ScenarioLine> =
        ids.iter().map(|id| scenario(id, "cannot-read-~-.ssh-id", Verdict::Holds, "read: ENOENT")).collect();
    scenarios.push(scenario("CLI-07", "with-more", Verdict::Moot, "no program of that name is here"));
    record("own", Kind::Factory, "docs/os-sandbox.md", scenarios)
}

/// A peer: it claims two, and one fails; of the rest it does more and less than it claims.
pub fn peer() -> Record {
    let scenarios = vec![
        scenario("FS-06", "cannot-list", Verdict::ExpectedFailure, "listing is documented; seen: the home was listed"),
        scenario("FS-06", "cannot-read-~", Verdict::Holds, "read: ENOENT"),
        scenario("FS-07", "cannot-read-~-.ssh-id", Verdict::Fails, "the secret arrived"),
        scenario("FS-11", "is-open", Verdict::NotClaimed, "seen: holds; read: ENOENT"),
        scenario("CLI-01", "says-so", Verdict::NotClaimed, "seen: fails; it said nothing"),
        scenario("CLI-07", "lists", Verdict::Inconclusive, "the control showed nothing"),
    ];
    record("peer", Kind::Sandbox, "https://example.org/peer", scenarios)
}

/// One that has hostile text wherever a driver, a probe or a manifest puts text.
pub fn hostile() -> Record {
    let mut bad = scenario(HOSTILE, HOSTILE, Verdict::Fails, HOSTILE);
    bad.id = "FS-07".into();
    bad.title = HOSTILE.into();
    bad.file = HOSTILE.into();
    bad.findings[0].seen = HOSTILE.into();
    bad.controls[0].seen = HOSTILE.into();
    bad.controls[0].moot = Some(HOSTILE.into());
    bad.launches[0].argv = vec![HOSTILE.into()];
    bad.launches[0].probe =
        vec![serde_json::json!({"action": HOSTILE, "target": HOSTILE, "errno": HOSTILE, "detail": HOSTILE})];
    bad.launches[0].stderr = HOSTILE.into();
    let mut unknown = bad.clone();
    unknown.id = HOSTILE.into();
    let scenarios = vec![bad.clone(), bad, unknown];
    let mut record = record(HOSTILE, Kind::Sandbox, &format!("https://example.org/{HOSTILE}"), scenarios);
    record.run.about = HOSTILE.into();
    record.run.start = HOSTILE.into();
    record.run.driver_version = Some(HOSTILE.into());
    record.run.sources.insert("FS-07".into(), HOSTILE.into());
    record.run.host.insert(HOSTILE.into(), HOSTILE.into());
    record.run.digests.insert(HOSTILE.into(), HOSTILE.into());
    record
}

/// A run of that name.
pub fn source(name: &str, record: Record) -> Source {
    Source { name: name.to_owned(), record: Ok(record) }
}

/// All of these, and one without a record.
pub fn all() -> Report {
    let broken = Source { name: HOSTILE.to_owned(), record: Err(HOSTILE.to_owned()) };
    let sources = [source("own", reference()), source("peer", peer()), source("hostile", hostile()), broken];
    Report::of(&sources, &catalogue(), "2026-01-01T00:00:00Z").unwrap()
}
