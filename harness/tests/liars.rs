//! Factories that lie, each about one thing: the scenarios that are named here, and no others of those that are asked, catch
//! them. An honest factory passes them all.

#![allow(clippy::unwrap_used)] // helpers of tests, which clippy does not see as tests

use std::collections::BTreeMap;
use std::process::Command;

/// What is asked of each.
const ASKED: [&str; 6] = [
    "SET-03/nothing-is-executed-when-bubblewrap-is-not-on-path",
    "CLI-01/it-says-that-this-machine-cannot-run-the-backend-when-bubblewrap-is-not-on-path",
    "CLI-03/it-says-that-this-machine-cannot-run-the-backend-when-bubblewrap-is-not-on-path",
    "CLI-04/the-block-says-that-the-backend-is-not-available-why-and-a-fix-when-bubblewrap-is-not-on-path",
    "CLI-04/the-block-is-there-for-step-required-repos-unset-mode-unset",
    "INJ-06/the-doctor-names-an-injected-key-and-does-not-show-it",
];

/// Of these, those that did not hold, each with its verdict.
fn caught(driver: &str, name: &str) -> BTreeMap<String, String> {
    let out = format!("{}/liar-{name}", env!("CARGO_TARGET_TMPDIR"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.args(["run", "--driver", driver, "--out", &out]).args(ASKED.iter().flat_map(|id| ["--id", *id]));
    let output = command.output().unwrap();
    let text = std::fs::read_to_string(format!("{out}/run.ndjson")).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let scenarios: Vec<_> = lines.iter().filter(|line| line.get("case").is_some()).collect();
    assert_eq!(scenarios.len(), ASKED.len(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let word = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap().to_owned();
    let others = scenarios.into_iter().filter(|line| line["verdict"] != "holds");
    let others = others.map(|line| (format!("{}/{}", word(line, "id"), word(line, "case")), word(line, "verdict")));
    let others: BTreeMap<String, String> = others.collect();
    assert_eq!(output.status.code(), Some(i32::from(!others.is_empty())), "{others:?}");
    others
}

fn liar(name: &str) -> BTreeMap<String, String> {
    caught(&format!("{}/drivers/liars/{name}.yaml", env!("CARGO_MANIFEST_DIR")), name)
}

fn fail(numbers: &[usize]) -> BTreeMap<String, String> {
    numbers.iter().map(|n| (ASKED[*n].to_owned(), "fails".to_owned())).collect()
}

#[test]
fn an_honest_factory_is_caught_by_none() {
    assert_eq!(caught("letter", "letter"), fail(&[]));
}

#[test]
fn one_that_says_available_and_runs_unsandboxed() {
    assert_eq!(liar("unsandboxed"), fail(&[0, 1, 2, 3]));
}

#[test]
fn one_that_ends_with_0_when_it_refuses() {
    assert_eq!(liar("zero"), fail(&[0]));
}

/// Where there never is a block, nothing shows that it could say that the backend is there.
#[test]
fn one_whose_validate_omits_the_block() {
    let mut caught = liar("silent");
    assert_eq!(caught.remove(ASKED[3]).as_deref(), Some("inconclusive"));
    assert_eq!(caught, fail(&[4]));
}

#[test]
fn one_that_prints_a_secret() {
    assert_eq!(liar("talkative"), fail(&[5]));
}
