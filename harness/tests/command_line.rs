//! The command line, as a program: what it refuses, with which words and exit code, and what it makes of records.

#![allow(clippy::unwrap_used)] // helpers of tests, which clippy does not see as tests

use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit code and what was said, of both streams.
fn conformance(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&text).into_owned())
}

/// That it is wrong use, and what is said about it.
fn refused(arguments: &[&str], says: &str) {
    let (code, text) = conformance(arguments);
    assert!(code == 2 && text.contains(says), "{arguments:?}: {code}: {text}");
    assert!(!text.contains("panicked"), "{text}");
}

/// A folder of this test, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("command-line-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// A manifest that is no sandbox, with something more.
fn manifest(folder: &Path, name: &str, more: &str) -> String {
    let expect = if more.contains("expect:") { "" } else { "expect: []\n" };
    write(folder, &format!("{name}.yaml"), &format!("name: {name}\nlike: none\n{expect}{more}"))
}

/// The record of a driver, with one case of FS-06 for each verdict.
fn record(folder: &Path, driver: &str, verdicts: &[&str]) -> String {
    let mut text = format!(
        "{{\"record\":1,\"harness\":\"h\",\"commit\":null,\"driver\":\"{driver}\",\"driver_version\":null,\"driver_kind\":\"sandbox\",\"homepage\":\"\",\"about\":\"\",\"sources\":{{}},\"start\":\"user\",\"uid\":42042,\"host\":{{\"os\":\"linux\"}},\"digests\":{{}},\"started\":\"2026-01-01T00:00:00Z\",\"selected\":{}}}\n",
        verdicts.len()
    );
    for (at, verdict) in verdicts.iter().enumerate() {
        text += &format!(
            "{{\"id\":\"FS-06\",\"case\":\"case-{at}\",\"title\":\"t\",\"tags\":[],\"file\":\"f\",\"line\":1,\"verdict\":\"{verdict}\",\"why\":\"{driver} saw {verdict}\",\"findings\":[],\"controls\":[],\"launches\":[],\"ms\":1}}\n"
        );
    }
    text += &format!("{{\"end\":true,\"verdicts\":{{\"all\":{}}},\"ms\":5}}\n", verdicts.len());
    write(folder, &format!("{driver}-{}.ndjson", verdicts.join("-")), &text)
}

#[test]
fn what_selects_nothing_is_refused_with_the_nearest() {
    refused(&["run", "--id", "FS-99"], "--id FS-99: there is no such guarantee; the nearest is FS-");
    refused(&["run", "--id", "FS-07/nothing-like-it"], "no such scenario; the nearest is FS-07/");
    refused(&["run", "--id", "FS-06", "--id", "FSS"], "--id FSS: there is no such guarantee; the nearest is FS");
    refused(&["run", "--id", "FS-14"], "--id FS-14: no scenario here is of this guarantee: Paths outside");
    refused(&["run", "--tag", "extras"], "--tag extras: no scenario has it; the nearest is extra");
    refused(&["list", "--id", "FS-99"], "--id FS-99");
    refused(
        &["run", "--id", "FS-05", "--tag", "fixture"],
        "no scenario is selected: none has all of --id FS-05 --tag fixture",
    );
    refused(
        &["run", "--driver", "none", "--id", "OUT", "--unclaimed", "0"],
        "no scenario is selected: none claims none",
    );
}

#[test]
fn an_option_that_would_be_ignored_is_refused() {
    for option in ["--driver", "--shard", "--unclaimed", "--jobs", "--out"] {
        refused(&["list", option, "1/1"], "unexpected argument");
    }
    for option in ["--id", "--tag", "--features", "--shard", "--out"] {
        refused(&["smoke", option, "NS-15"], "unexpected argument");
    }
    refused(&["smoke", "--keep"], "unexpected argument");
    assert_eq!(conformance(&["list", "--id", "NS-15", "--features", "features"]).0, 0);
}

#[test]
fn what_is_no_shard_is_refused() {
    refused(&["run", "--shard", "0/3"], "a shard is I/N, the first of three is 1/3");
    refused(&["run", "--shard", "4/3"], "there is no shard 4 of 3; the last is 3/3");
    refused(&["run", "--shard", "x"], "a shard is I/N");
    refused(&["run", "--id", "NS-15", "--shard", "2/2"], "shard 2/2 of 1 scenarios; ask for fewer shards");
}

#[test]
fn a_manifest_that_is_not_in_order_is_refused() {
    let folder = folder("manifests");
    let driver = |name: &str, more: &str| manifest(&folder, name, more);
    let refused = |path: &str, says: &str| refused(&["run", "--driver", path, "--id", "NS-15"], says);
    refused("nobody", "kusaw, letter");
    refused(&driver("field", "clams: [FS-06]\n"), "clams");
    refused(&driver("claim", "claims: [FS-99]\n"), "\"FS-99\" is not a guarantee of features/guarantees.md");
    refused(&write(&folder, "no.yaml", "a: [1\n b: {\n"), "no.yaml: ");
    refused(&driver("on", "expect: [{id: FS-06, why: x, on: [linus]}]\n"), "on: linus is no platform of this driver");
    refused(&driver("why", "expect: [{id: FS-06, why: ''}]\n"), "FS-06: why: is empty");
    refused(&driver("url", "expect: [{id: FS-06, why: x, url: here}]\n"), "url: here does not begin with https://");
    // Although the run asks for another guarantee.
    let gone = "expect: [{id: FS-07/cannot-lst-~-.gnupg, why: x}]\n";
    refused(
        &driver("case", gone),
        "FS-07/cannot-lst-~-.gnupg is no scenario; the nearest is FS-07/cannot-list-~-.gnupg",
    );
}

#[test]
fn a_record_that_is_not_whole_is_refused() {
    let folder = folder("records");
    let good = record(&folder, "x", &["holds", "fails"]);
    let text = std::fs::read_to_string(&good).unwrap();
    let out = folder.join("out").display().to_string();
    for (name, text, says) in [
        ("half", &text[..text.len() / 2], "is cut off in the middle of a line"),
        ("lines", &text[..text.find("{\"end\"").unwrap()], "has no last line"),
        ("empty", "", "the record is empty"),
        ("other", &text.replace("\"record\":1", "\"record\":9"), "record version 9; this program reads 1"),
        ("none", "hello\n", "line 1: not a record"),
    ] {
        let path = write(&folder, name, text);
        refused(&["diff", &good, &path], says);
        refused(&["merge", &path, "--out", &out], says);
        refused(&["trace", "--record", &path], says);
    }
    refused(&["diff", &good, "/nobody/here"], "/nobody/here: No such file");
    refused(&["diff", &good], "alone differs from nothing; name another record");
    refused(&["merge", &good, "--out", &out], "is no shard: it was run without --shard");
    refused(&["diff", &good, &out.replace("/out", "")], "no run.ndjson is in it, nor in a folder of it");
    assert!(!Path::new(&out).exists(), "something was written");
}

#[test]
fn diff_says_what_changed_and_what_one_alone_breaks() {
    let folder = folder("diff");
    let then = record(&folder, "x", &["holds", "fails"]);
    assert_eq!(conformance(&["diff", &then, &then]).0, 0);
    let (code, text) = conformance(&["diff", &then, &record(&folder, "x", &["fails", "fails", "moot"])]);
    assert!(code == 1 && text.contains("holds -> fails  FS-06/case-0\n      x saw fails"), "{code}: {text}");
    assert!(text.contains("1 verdicts changed, 1 scenarios are new, 0 are gone, 1 are as they were"), "{text}");
    let others = [record(&folder, "y", &["holds", "holds"]), record(&folder, "z", &["holds", "not-claimed"])];
    let (code, text) = conformance(&["diff", &then, &others[0], &others[1]]);
    assert!(
        code == 1 && text.contains("x: 1 scenarios that it alone breaks\n  fails  FS-06/case-1  (kept by y)"),
        "{text}"
    );
    assert_eq!(conformance(&["diff", &others[0], &others[0], &others[1]]).0, 0);
}

#[test]
fn diff_compares_folders_of_runs_driver_by_driver() {
    let folder = folder("folders");
    for (side, driver, verdict) in
        [("a", "x", "holds"), ("a", "y", "holds"), ("b", "x", "holds"), ("b", "y", "timeout")]
    {
        let of_run = folder.join(side).join(driver);
        std::fs::create_dir_all(&of_run).unwrap();
        std::fs::rename(record(&folder, driver, &[verdict]), of_run.join("run.ndjson")).unwrap();
    }
    let side = |name: &str| folder.join(name).display().to_string();
    let (code, text) = conformance(&["diff", &side("a"), &side("b")]);
    assert!(code == 1 && text.contains("holds -> timeout  FS-06/case-0"), "{text}");
    assert!(text.contains("x: from 2026-01-01T00:00:00Z to 2026-01-01T00:00:00Z\n  0 verdicts changed"), "{text}");
    std::fs::remove_dir_all(folder.join("b/y")).unwrap();
    let (code, text) = conformance(&["diff", &side("a"), &side("b")]);
    assert!(code == 1 && text.contains("y: only the first folder has a run of it"), "{text}");
}

#[test]
fn diff_of_one_folder_says_what_each_breaks_alone() {
    let folder = folder("alone");
    for (driver, verdicts) in [("x", ["holds", "fails"]), ("y", ["holds", "holds"]), ("none", ["fails", "fails"])] {
        let of_run = folder.join("runs").join(driver);
        std::fs::create_dir_all(&of_run).unwrap();
        std::fs::rename(record(&folder, driver, &verdicts), of_run.join("run.ndjson")).unwrap();
    }
    let runs = folder.join("runs").display().to_string();
    let (code, text) = conformance(&["diff", &runs]);
    assert!(code == 1 && text.contains("x: 0 scenarios that it alone breaks"), "{code}: {text}");
    let (code, text) = conformance(&["diff", &runs, "--without", "none"]);
    let alone = "x: 1 scenarios that it alone breaks\n  fails  FS-06/case-1  (kept by y)";
    assert!(code == 1 && text.contains(alone) && !text.contains("none:"), "{code}: {text}");
    refused(&["diff", &runs, "--without", "z"], "--without z: no run of it is there; there are those of none, x, y");
    refused(&["diff", &runs, "--without", "none", "--without", "x"], "alone differs from nothing");
    let y = format!("{runs}/y");
    refused(&["diff", &y, &runs, "--without", "y"], "runs/y: --without y leaves no run of it");
    // The report takes such a folder too.
    let out = folder.join("out");
    let (code, text) = conformance(&["report", &runs, "--out", out.to_str().unwrap()]);
    let matrix = std::fs::read_to_string(out.join("matrix.md")).unwrap();
    assert!(code == 0 && ["| x |", "| y |", "| none |"].iter().all(|row| matrix.contains(row)), "{text}{matrix}");
}

/// A record that somebody sent has no power over the terminal.
#[test]
fn what_a_record_says_is_shown_without_its_escapes() {
    let folder = folder("escapes");
    let text = std::fs::read_to_string(record(&folder, "x", &["holds"])).unwrap();
    let (then, now) = (write(&folder, "then", &text), text.replace("holds", "fails").replace("2026", "\\u001b[2J"));
    let now = write(&folder, "now", &now.replace("case-0", "case-\\u001b[2J"));
    let (code, said) = conformance(&["diff", &then, &now]);
    assert!(code == 1 && said.contains("\\u{1b}[2J") && !said.contains('\x1b'), "{said:?}");
    let broken = write(&folder, "broken", &text.replace("\"holds\",", "\"\\u001b[2J\","));
    let (code, said) = conformance(&["diff", &then, &broken]);
    assert!(code == 2 && !said.contains('\x1b'), "{said:?}");
}

/// Shards have each scenario once, and their record is that of a run with their verdicts.
#[test]
fn shards_become_one_record() {
    let folder = folder("shards");
    let path = |name: &str| folder.join(name).display().to_string();
    let driver = manifest(&folder, "shared", "claims: [NS-01, NS-04]\n");
    let run = |shard: &str, name: &str| {
        let out = path(name);
        conformance(&["run", "--driver", &driver, "--id", "NS-01", "--id", "NS-04", "--shard", shard, "--out", &out])
    };
    for (shard, name) in [("1/2", "one"), ("2/2", "two")] {
        let (code, text) = run(shard, name);
        assert!(code == 1 && text.contains(&format!("shard {shard}")), "{code}: {text}");
    }
    let (code, text) = conformance(&["merge", &path("one"), "--out", &path("half")]);
    assert!(code == 3 && text.contains("shard 2/2 is missing; run it with --shard 2/2"), "{code}: {text}");
    assert!(!folder.join("half").exists(), "something was written");
    let (code, text) = conformance(&["merge", &path("two"), &path("one"), "--out", &path("whole")]);
    assert!(code == 1 && text.contains("2 shards, merged") && text.contains("6 scenarios in"), "{code}: {text}");
    assert!(["run.ndjson", "report.md", "junit.xml"].iter().all(|name| folder.join("whole").join(name).exists()));
    // Neither shard has what the other has, and the whole has what both have.
    let (code, text) = conformance(&["diff", &path("one"), &path("whole")]);
    assert!(
        code == 1 && text.contains("0 verdicts changed, 3 scenarios are new, 0 are gone, 3 are as they were"),
        "{text}"
    );
    let (code, text) = conformance(&["merge", &path("one"), &path("one"), "--out", &path("twice")]);
    assert!(code == 2 && text.contains(" is in "), "{code}: {text}");
}

/// What is declared to fail and holds breaks a run, guarantee by guarantee too; without the declaration it does not.
#[test]
fn what_holds_although_declared_breaks_the_run() {
    let folder = folder("holds");
    let out = folder.join("out").display().to_string();
    let (_, list) = conformance(&["list", "--id", "FS-01"]);
    let id = list.lines().nth(1).unwrap().trim().to_owned(); // the first scenario
    let run = |driver: &str| conformance(&["run", "--driver", driver, "--id", &id, "--out", &out]);
    let (code, text) = run(&manifest(&folder, "plain", "claims: [FS-01]\n"));
    assert!(code == 0 && text.contains("1 holds"), "{code}: {text}");
    let declared = "claims: [FS-01]\nexpect: [{id: FS-01, why: never seen}]\n";
    let (code, text) = run(&manifest(&folder, "declared", declared));
    assert!(code == 1 && text.contains("1 unexpected-pass") && text.contains("declared: never seen"), "{code}: {text}");
}

/// One block for all, whatever their number; the record has a line for each.
#[test]
fn a_driver_that_is_missing_is_told_once() {
    let folder = folder("blocked");
    let out = folder.join("out").display().to_string();
    let part = "provide: [{folder: target/peers/nobody, made_by: ci/peers nobody}]\n";
    let driver = manifest(&folder, "absent", &format!("claims: [FS-10, FS-07]\n{part}"));
    let (code, text) =
        conformance(&["run", "--driver", &driver, "--id", "FS-10", "--id", "FS-07", "--unclaimed", "0", "--out", &out]);
    let why = "not installed: target/peers/nobody; `ci/peers nobody` installs it";
    assert!(code == 3 && text.matches(why).count() == 1, "{code}: {text}");
    let record = std::fs::read_to_string(folder.join("out/run.ndjson")).unwrap();
    let blocked = record.matches("\"verdict\":\"blocked\"").count();
    assert!(
        blocked > 50 && text.contains(&format!("blocked  {blocked} scenarios, for one reason")),
        "{blocked}: {text}"
    );
    assert_eq!(record.matches(why).count(), blocked);
    assert!(text.contains("scenarios were not asked, of what the driver does not claim (--unclaimed 0)"), "{text}");
    assert!(record.lines().next().unwrap().contains("\"unclaimed\":{\"most\":0,\"left_out\":"), "{record}");
}
