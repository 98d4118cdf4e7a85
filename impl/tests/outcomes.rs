//! What the program says of itself stands in the documentation, and the other way round.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::path::{Path, PathBuf};
use std::process::Command;

use factory::Factory;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn said(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kusaw")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_page_is_the_output_of_the_command() {
    let page = std::fs::read_to_string(root().join("docs/outcomes.md")).unwrap_or_default();
    assert!(page == said(&["outcomes", "--markdown"]), "docs/outcomes.md is not current: make pages");
}

#[test]
fn all_forms_have_every_code_with_its_fix() {
    let (text, page) = (said(&["outcomes"]), said(&["outcomes", "--markdown"]));
    let json: Value = serde_json::from_str(&said(&["outcomes", "--json"])).unwrap();
    for list in ["run_states", "step_outcomes", "reasons", "rejections", "warnings", "run_exit_codes", "exit_codes"] {
        for row in json[list].as_array().unwrap() {
            let code = row["code"].as_str().unwrap();
            let meaning = row["meaning"].as_str().unwrap();
            assert!(text.contains(&format!("  {code} ")) && page.contains(&format!("| {code} |")), "{code}");
            assert!(text.contains(meaning), "{code}");
            let with_fix = ["reasons", "rejections", "warnings"].contains(&list);
            assert_eq!(row["fix"].as_str().is_some_and(|fix| !fix.is_empty()), with_fix, "{code}");
        }
    }
    let codes: Vec<&str> =
        json["warnings"].as_array().unwrap().iter().map(|row| row["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["W1", "W2", "W3", "W4", "W5"]);
}

/// Letters and digits alone: the documentation's page has lost blanks and marks.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

#[test]
fn what_is_not_protected_is_the_documented_list() {
    let printed = include_str!("../src/cli/not_protected.txt");
    let page = std::fs::read_to_string(root().join("docs/os-sandbox.md")).unwrap();
    let list =
        page.split("What it doesn't protect").nth(1).unwrap().split("kusaw sandbox check --verbose").next().unwrap();
    assert_eq!(letters(printed), letters(list));
}

#[test]
fn every_limit_of_the_catalogue_is_printed() {
    let printed = letters(include_str!("../src/cli/not_protected.txt"));
    let catalogue = std::fs::read_to_string(root().join("features/guarantees.md")).unwrap();
    let limits: Vec<&str> = catalogue.lines().filter(|row| row.contains("| limit |")).collect();
    assert!(limits.len() >= 9, "{limits:?}");
    for row in limits {
        let words = row.trim_end_matches(['|', ' ']).rsplit(" | ").next().unwrap();
        assert!(letters(words).len() > 10 && printed.contains(&letters(words)), "{row}");
    }
}

/// 0 fine, 1 findings, 2 usage; the codes of `run` are of `run` alone.
#[test]
fn exit_codes_are_those_of_the_page() {
    let broken = Factory::new("steps: [");
    let unsandboxed = Factory::new("steps: {s: {run: [\"true\"]}}");
    let required = Factory::new("sandbox: {mode: required}\nsteps: {s: {run: [\"true\"]}}");
    let no_bwrap = [("PATH", "/nonexistent")];
    for (factory, path, words, code) in [
        (&broken, None, "validate", 2),
        (&broken, None, "service status", 2),
        (&broken, None, "sandbox doctor", 2),
        (&broken, None, "sandbox profile s", 2),
        (&broken, None, "providers", 2),
        (&broken, None, "config list", 2),
        (&broken, None, "config set steps.s.env.TOKEN --secret", 2),
        (&broken, None, "run s", 125),
        (&required, None, "config list", 0),
        (&required, None, "config set a/b --secret", 2),
        (&required, None, "config unset NOBODY", 1),
        (&required, None, "init", 2), // there is one already
        (&required, None, "sandbox profile t", 2),
        (&required, None, "sandbox profile s --platform macos", 1),
        (&required, None, "sandbox profile s", 0),
        (&required, None, "sandbox check", 0),
        (&required, None, "validate", 0),
        (&required, None, "service status", 1), // no `serve` runs
        (&required, Some(no_bwrap), "sandbox profile s", 1),
        (&required, Some(no_bwrap), "sandbox check", 1),
        (&required, Some(no_bwrap), "validate", 1),
        (&required, Some(no_bwrap), "sandbox doctor", 1),
        (&required, Some(no_bwrap), "service status", 1),
        // Nothing of it would be sandboxed: nothing is wrong with it. The machine is asked about by the others.
        (&unsandboxed, Some(no_bwrap), "validate", 0),
        (&unsandboxed, Some(no_bwrap), "sandbox check", 1),
        (&unsandboxed, Some(no_bwrap), "sandbox doctor", 1),
        (&unsandboxed, None, "outcomes", 0),
        (&unsandboxed, None, "outcomes --markdown --json", 2),
    ] {
        let output = factory.command().args(words.split(' ')).envs(path.into_iter().flatten()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{words}: {output:?}");
    }
}

/// The commands, and where each has what the launch says.
const COMMANDS: [(&str, &str); 4] = [
    ("sandbox check --json", ""),
    ("service status --json", "/sandbox"),
    ("validate --json", "/sandbox"),
    ("sandbox doctor --json", "/sandbox"),
];

#[test]
fn a_launch_that_takes_too_long_has_one_reason_everywhere() {
    let factory = Factory::new("sandbox: {mode: required}\nsteps: {s: {run: [\"true\"]}}");
    let path = factory.fake_bwrap("exec sleep 60");
    let env = [("PATH", path.as_str()), ("KUSAW_START_TIMEOUT", "0.4")];
    factory.run_with("s", &env).code(125);
    assert_eq!(factory.outcome()["reason"], "bwrap-timeout");
    for (words, at) in COMMANDS {
        let output = factory.command().args(words.split(' ')).envs(env).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let status = report.pointer(at).unwrap();
        assert_eq!((&status["available"], &status["reason"]), (&false.into(), &"bwrap-timeout".into()), "{words}");
        assert!(status["fix"].as_str().unwrap().contains("KUSAW_START_TIMEOUT"), "{words}: {status}");
    }
}

/// `check` is about the machine, and tells of each network.
#[test]
fn a_network_that_no_step_has_is_no_affair_of_its_factory() {
    let factory = Factory::new("sandbox: {mode: required}\nsteps: {s: {run: [\"true\"]}}");
    let words = "loopback: Failed RTM_NEWADDR: Operation not permitted";
    let path = factory.fake_bwrap(&format!(
        r#"exec bash -c 'kept=$(mktemp); cat <&10 >"$kept"
        grep -qz "^--unshare-net$" "$kept" && {{ echo "bwrap: {words}" >&2; exit 1; }}
        exec 10<"$kept"; rm "$kept"; PATH=/usr/bin:/bin; exec bwrap "$@"' bwrap "$@""#
    ));
    let asked = |words: &str| {
        let output = factory.command().args(words.split(' ')).env("PATH", &path).output().unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    factory.run_with("s", &[("PATH", &path)]).code(0);
    assert_eq!(asked("validate --json")["sandbox"]["available"], true);
    assert_eq!(asked("service status --json")["sandbox"]["available"], true);
    let check = asked("sandbox check --json");
    assert_eq!((&check["available"], &check["reason"]), (&false.into(), &"apparmor-userns".into()), "{check}");
    assert_eq!(check["networks"], serde_json::json!({"open": true, "allowlist": false}));
}
