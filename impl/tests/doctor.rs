//! `kusaw sandbox doctor`, with the real sandbox: what it says of one that keeps its promises, and of one that does not. Nothing
//! leaves the machine: the allowed host is an address of its loopback.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use factory::Factory;
use serde_json::Value;

/// bubblewrap that gets every word but this one; they come in a pipe, one behind the other.
const SABOTAGED: &str = r#"#!/bin/bash
[ "$1" = --args ] || exec BWRAP "$@"
kept=$(mktemp) && sed -z '/^WITHOUT$/d' <&"$2" >"$kept" && eval "exec $2<'$kept'" && rm "$kept" && exec BWRAP "$@"
"#;

struct Told {
    code: Option<i32>,
    text: String,
    report: Value,
}

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Of a step with this allowlist.
fn doctor(allow: &str) -> Told {
    let factory = with(allow);
    told(&|| factory.command())
}

fn with(allow: &str) -> Factory {
    let block = format!("sandbox: {{mode: required, network: allowlist, egress: {{allow: [{allow}]}}}}");
    Factory::new(&format!("{block}\nsteps:\n  probe: {{run: ['true']}}\n"))
}

fn told(kusaw: &dyn Fn() -> Command) -> Told {
    let ask = |more: &[&str]| kusaw().args(["sandbox", "doctor"]).args(more).output().unwrap();
    let (text, json) = (ask(&[]), ask(&["--json"]));
    assert_eq!(text.status.code(), json.status.code(), "{text:?}");
    Told {
        code: json.status.code(),
        text: String::from_utf8(text.stdout).unwrap(),
        report: serde_json::from_slice(&json.stdout).unwrap_or_else(|e| panic!("{e}: {:?}", json.stderr)),
    }
}

impl Told {
    fn verdicts(&self) -> Vec<&str> {
        let probes = self.report["probes"].as_array().unwrap();
        probes.iter().map(|probe| probe["verdict"].as_str().unwrap()).collect()
    }

    fn seen(&self, n: usize) -> &str {
        self.report["probes"][n]["seen"].as_str().unwrap()
    }
}

/// Something that answers, and its entry.
fn origin() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let entry = listener.local_addr().unwrap().to_string();
    (listener, entry)
}

#[test]
fn a_sandbox_that_keeps_its_promises_holds() {
    let (_origin, entry) = origin();
    let told = doctor(&format!("'{entry}'"));
    assert_eq!((told.code, told.verdicts()), (Some(0), vec!["held"; 3]), "{}", told.report);
    assert_eq!(told.report["tried_with"], "probe");
    assert_eq!(told.seen(0), format!("{entry}: 200"));
    let addresses = nix::ifaddrs::getifaddrs().unwrap().filter_map(|one| one.address);
    let others = addresses.filter_map(|a| a.as_sockaddr_in().map(|a| a.ip())).filter(|ip| !ip.is_loopback());
    let others: Vec<_> = others.filter(|ip| !ip.is_link_local()).collect();
    assert!(told.seen(2).contains("127.0.0.1:"), "{}", told.report);
    match others.first() {
        Some(other) => assert!(told.seen(2).contains(&format!("; {other}:")), "{others:?}: {}", told.report),
        None => assert!(told.seen(2).contains("no other address") || told.seen(2).contains('['), "{}", told.report),
    }
}

#[test]
fn where_no_entry_is_one_host_p5_is_not_tried_and_nothing_is_added() {
    for allow in ["", "'*.a.example'", "'localhost:54321'"] {
        let told = doctor(allow);
        assert_eq!(
            (told.code, told.verdicts()),
            (Some(0), vec!["not-tried", "held", "held"]),
            "{allow}: {}",
            told.report
        );
        assert!(told.text.contains("\nP5 not tried "), "{}", told.text);
        assert!(!told.seen(0).contains("127.0.0.1"), "{}", told.report);
    }
}

#[test]
fn a_host_that_does_not_answer_is_a_failure() {
    let (closed, entry) = origin();
    drop(closed);
    let told = doctor(&format!("'{entry}'"));
    assert_eq!((told.code, told.verdicts()), (Some(1), vec!["failed", "held", "held"]), "{}", told.report);
    assert!(told.text.contains("\nP5 FAILED "), "{}", told.text);
}

#[test]
fn a_blocked_host_that_is_allowed_after_all_is_a_failure() {
    let (_origin, entry) = origin();
    let told = doctor(&format!("'{entry}', '*.invalid'"));
    assert_eq!((told.code, told.verdicts()), (Some(1), vec!["held", "failed", "held"]), "{}", told.report);
    assert!(told.text.contains("\nP6 FAILED "), "{}", told.text);
}

/// On a loopback of its own: without the guard the step's proxy listens on that of whoever asks.
#[test]
fn a_step_that_shares_the_network_is_a_failure() {
    let real = PATH.split(':').map(|folder| format!("{folder}/bwrap")).find(|p| fs::exists(p).unwrap()).unwrap();
    let factory = with("'*.a.example'");
    let weakened = factory.home().join("bwrap");
    fs::write(&weakened, SABOTAGED.replace("WITHOUT", "--unshare-net").replace("BWRAP", &real)).unwrap();
    fs::set_permissions(&weakened, fs::Permissions::from_mode(0o755)).unwrap();
    let apart = |path: &str| {
        let kusaw = factory.command();
        let mut command = Command::new(&real);
        command.args(["--dev-bind", "/", "/", "--unshare-net", "--"]).arg(kusaw.get_program()).args(kusaw.get_args());
        command.env_clear().envs(kusaw.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", path);
        command
    };
    let sound = told(&|| apart(PATH));
    assert_eq!((sound.code, sound.verdicts()), (Some(0), vec!["not-tried", "held", "held"]), "{}", sound.report);
    assert!(sound.seen(2).ends_with("this machine has no other address to try"), "{}", sound.report);
    let shared = told(&|| apart(&format!("{}:{PATH}", factory.home().display())));
    assert_eq!((shared.code, shared.verdicts()), (Some(1), vec!["not-tried", "held", "failed"]), "{}", shared.report);
    assert!(shared.text.contains("\nP7 FAILED ") && shared.seen(2).contains("it was made"), "{}", shared.text);
}
