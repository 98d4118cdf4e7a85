//! Launchers that are no sandbox, and are wrong in one way beside (harness/drivers/fakes): each ends in the verdicts that are
//! stated here, its record is whole, and none that did not run the probe has a scenario of the probe hold.

#![allow(clippy::unwrap_used)] // helpers of tests, which clippy does not see as tests

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use kusaw_conformance::record::Record;

/// What is asked of each: by the probe something that it can do, by a shell the same, a write and a read that nothing here
/// keeps from it, an exit code, an input.
const ASKED: [&str; 6] = [
    "FS-01/can-write-a-file",
    "FS-01/can-run-what-it-has-written",
    "FS-04/cannot-write-a-new-file-in-the-home",
    "FS-07/cannot-read-~-.ssh-id_ed25519",
    "NS-10/a-step-that-ends-with-77-ends-with-77",
    "NS-10/input-arrives-as-it-was-a-line-without-an-end",
];

/// The verdicts that a fake gets, in the order of what it is asked, by their first letters: holds, fails, inconclusive, timeout.
fn verdicts(record: &Record, asked: &[&str]) -> String {
    let of = |asked: &&str| {
        let scenario = record.scenarios.iter().find(|line| format!("{}/{}", line.id, line.case) == **asked);
        &scenario.unwrap_or_else(|| panic!("{asked} is not in the record")).verdict.word()[..1]
    };
    asked.iter().map(of).collect()
}

/// The record of a run, its exit code, and how long it took; `name` is that of the test, which has a folder of its own. `line`
/// stands in the place of the manifest's own version.
fn run(name: &str, how: &str, asked: &[&str], line: &str) -> (Record, Option<i32>, Duration) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("drivers/fakes/fake.yaml");
    let text = std::fs::read_to_string(root).unwrap();
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fake-{name}"));
    std::fs::create_dir_all(&out).unwrap();
    let manifest = out.join("fake.yaml");
    let text = text.replace("name: fake", &format!("name: {how}")).replace("honest", how);
    std::fs::write(&manifest, format!("{text}{line}\n")).unwrap();
    let began = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.args(["run", "--driver", manifest.to_str().unwrap(), "--out", out.to_str().unwrap()]);
    let output = command.args(asked.iter().flat_map(|id| ["--id", *id])).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let record = Record::read(&out.join("run.ndjson")).unwrap_or_else(|e| panic!("{e}: {told}"));
    (record, output.status.code(), began.elapsed())
}

fn is(how: &str, expected: &str) {
    asked(how, &ASKED, expected);
}

fn asked(how: &str, asked: &[&str], expected: &str) {
    let (record, code, _) = run(how, how, asked, "");
    let why: Vec<_> = record.scenarios.iter().map(|line| format!("{}: {}", line.case, line.why)).collect();
    assert_eq!(verdicts(&record, asked), expected, "{how}: {why:#?}");
    assert_eq!(code, Some(if expected.contains(['f', 't']) { 1 } else { 3 }), "{how}");
}

/// Nothing is kept from the step, and all that a launcher has to pass on arrives.
#[test]
fn one_that_only_starts_the_command() {
    is("honest", "hhffhh");
}

#[test]
fn one_that_dies_before_the_step() {
    is("dead-before", "iiiiff");
}

/// The step goes on and comes to its end, as a shell command tells; the probe's exit code is lost with the launcher.
#[test]
fn one_that_dies_in_the_middle_of_the_step() {
    is("dead-amid", "ihffff");
}

/// What waits for the bound of a launch once: 30 s.
const ONCE: std::ops::Range<usize> = 2..5;

#[test]
fn one_that_never_starts_anything() {
    asked("never-starts", &ASKED[ONCE], "ttt");
}

/// What has arrived has arrived, whatever the clock says.
#[test]
fn one_that_never_ends() {
    asked("never-ends", &ASKED[ONCE], "fft");
}

#[test]
fn one_that_prints_banners() {
    is("banner", "hhffff");
}

#[test]
fn one_that_ends_with_0_whatever_the_step_did() {
    is("zero", "ihfffh");
}

#[test]
fn one_that_eats_the_input() {
    is("thirsty", "hhffhf");
}

#[test]
fn one_that_is_slow() {
    is("slow", "hhffhh");
}

#[test]
fn one_that_cuts_what_is_printed() {
    is("short", "iififf");
}

/// It knows the command and how a report looks; what it cannot have is the seal of a probe that was run.
#[test]
fn one_that_prints_a_report_of_its_own() {
    is("forged", "iiiiff");
    let (record, ..) = run("forged-alone", "forged", &ASKED[3..4], "");
    assert!(record.scenarios[0].why.contains("2 lines look like the probe's"), "{}", record.scenarios[0].why);
}

/// It runs the probe, and changes what it says.
#[test]
fn one_that_changes_the_report() {
    is("retold", "ihfiff");
}

/// It prints the words by which a shell command tells that it ran, which stand in the command.
#[test]
fn one_that_prints_what_a_shell_would() {
    is("echo-shell", "iiiiff");
}

#[test]
fn one_that_runs_the_command_twice() {
    is("twice", "ihffff");
}

#[test]
fn one_that_runs_it_in_another_folder() {
    is("elsewhere", "ifiihh");
}

/// A version is asked outside of every scenario: it must neither stop the run nor fill the record.
#[test]
fn one_whose_version_never_comes() {
    let (record, _, took) = run("version-never-comes", "honest", &ASKED[..1], "version: [/bin/sleep, '60']");
    assert_eq!((record.run.driver_version, record.scenarios[0].verdict.word()), (None, "holds"));
    assert!(took < Duration::from_secs(50), "{took:?}");
}

#[test]
fn one_whose_version_is_ten_megabytes() {
    let line = "version: [/bin/sh, -c, 'yes 1.0 | tr -d \"\\n\" | head -c 10000000; sleep 60']";
    let (record, ..) = run("version-is-long", "honest", &ASKED[..1], line);
    assert_eq!(record.run.driver_version.map(|version| version.chars().count()), Some(200));
}
