//! `kusaw serve`: one proxy for all attempts of a factory. Who registers, who is refused, and what becomes of attempts when
//! anything of it is killed. With the real sandbox; origins listen on the host's loopback.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::cell::RefCell;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use factory::{Factory, factory, settings, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// A `serve` that is ready; killed when it is dropped.
struct Serve(Child);

impl Serve {
    fn of(factory: &Factory) -> Serve {
        let mut child = factory.command().arg("serve").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("kusaw serve: ready on /"), "{line:?}");
        Serve(child)
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id() as i32), signal).unwrap();
    }

    fn end(mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.0.wait().unwrap().code()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The step asks the proxy for this host and port.
fn asks(authority: &str) -> String {
    format!("curl -s -o /dev/null -w '%{{http_connect}}\\n' -p http://{authority}/; ")
}

fn serving(factory: &Factory, script: &str) {
    settings(factory, "sandbox: {mode: required, network: allowlist}", script);
}

fn status(factory: &Factory) -> (Option<i32>, Value) {
    let output = factory.command().args(["service", "status", "--json"]).output().unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

fn run(factory: &Factory, id: &str) -> Output {
    factory.command().args(["run", "s", "--attempt", id]).output().unwrap()
}

/// Starts an attempt whose step says `up` and then goes on.
fn start(factory: &Factory, id: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = factory
        .command()
        .args(["run", "s", "--attempt", id])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line != "up\n" {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "it never came up: {:?}", child.wait_with_output());
    }
    (child, out)
}

fn events(factory: &Factory, id: &str) -> Vec<Value> {
    let text = fs::read_to_string(factory.path().join("attempts").join(id).join("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn summaries(factory: &Factory, id: &str) -> Vec<Value> {
    events(factory, id).into_iter().filter(|event| event["type"] == "egress.summary").collect()
}

fn outcome(factory: &Factory, id: &str) -> Value {
    serde_json::from_slice(&fs::read(factory.path().join("attempts").join(id).join("outcome.json")).unwrap()).unwrap()
}

fn threads(pid: u32) -> usize {
    fs::read_dir(format!("/proc/{pid}/task")).unwrap().count()
}

#[test]
fn an_attempt_is_hosted_by_serve_and_by_itself_without_one() {
    let factory = factory("", "");
    serving(&factory, &asks("blocked.example:80"));
    assert_eq!(status(&factory).0, Some(1), "nobody serves");
    let serve = Serve::of(&factory);
    let (code, report) = status(&factory);
    assert_eq!((code, &report["serve"]["attempts"]), (Some(0), &0.into()), "{report}");
    assert_eq!(report["serve"]["pid"], serve.0.id());
    assert_eq!(String::from_utf8_lossy(&run(&factory, "one").stdout), "403\n");
    assert_eq!(events(&factory, "one").len(), 2);
    assert_eq!(serve.end(Signal::SIGTERM), Some(0));
    for left in ["serve.sock", ".serve/serve.sock"] {
        assert!(factory.path().join(left).symlink_metadata().is_err(), "{left} is left");
    }
    assert_eq!(run(&factory, "two").stdout, b"403\n");
    assert_eq!(summaries(&factory, "two")[0]["complete"], true);
}

#[test]
fn a_run_that_is_served_has_no_proxy_of_its_own() {
    let factory = factory("", "");
    serving(&factory, "echo up; read -t 60 _ <>../../artifacts/go; :");
    let serve = Serve::of(&factory);
    let before = threads(serve.0.id());
    fs::create_dir_all(factory.path()).unwrap();
    serving(&factory, "echo up; until [ -e ../../artifacts/go ]; do sleep 0.02; done");
    let (run, _out) = start(&factory, "a");
    let names: Vec<String> = fs::read_dir(format!("/proc/{}/task", run.id()))
        .unwrap()
        .map(|task| fs::read_to_string(task.unwrap().path().join("comm")).unwrap())
        .collect();
    assert!(!names.iter().any(|name| name.starts_with("kusaw-egress")), "{names:?}");
    assert_eq!(status(&factory).1["serve"]["attempts"], 1);
    fs::write(factory.attempt().join("artifacts/go"), "").unwrap();
    assert!(run.wait_with_output().unwrap().status.success());
    assert_eq!(status(&factory).1["serve"]["attempts"], 0);
    assert_eq!(threads(serve.0.id()), before);
}

const WAITS: &str = "echo up; until [ -e ../../artifacts/go ]; do sleep 0.02; done; echo went on";

#[test]
fn a_step_whose_serve_is_killed_is_killed_and_has_one_summary() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGINT] {
        let factory = factory("", "");
        serving(&factory, &(asks("before.example:80") + WAITS));
        let serve = Serve::of(&factory);
        let (run, _out) = start(&factory, "a");
        serve.end(signal);
        let ended = run.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.code() == Some(137) && said.contains("proxy-lost"), "{ended:?}");
        let outcome = outcome(&factory, "a");
        assert_eq!((&outcome["reason"], &outcome["state"]), (&"proxy-lost".into(), &"ended".into()), "{outcome}");
        assert_eq!(outcome["outcome"], "killed");
        let summaries = summaries(&factory, "a");
        assert_eq!(summaries.len(), 1, "{summaries:?}");
        assert_eq!(summaries[0]["complete"], signal != Signal::SIGKILL, "{signal}");
        assert_eq!(summaries[0]["blocked_distinct"], 1);
        assert_eq!(factory.lines("egress.log")[0]["host"], "before.example");
        factory.assert_no_temp();
    }
}

#[test]
fn a_run_that_is_killed_is_ended_by_its_serve() {
    let factory = factory("", "");
    serving(&factory, &(asks("before.example:80") + WAITS));
    let _serve = Serve::of(&factory);
    let (mut child, _out) = start(&factory, "a");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until(|| !summaries(&factory, "a").is_empty());
    serving(&factory, "");
    run(&factory, "b");
    let summaries = summaries(&factory, "a");
    assert_eq!(summaries.len(), 1, "{summaries:?}");
    assert_eq!((&summaries[0]["complete"], &summaries[0]["blocked_total"]), (&true.into(), &1.into()));
}

#[test]
fn where_both_are_killed_the_next_run_or_serve_settles_it() {
    for next in ["run", "serve"] {
        for served in [true, false] {
            let factory = factory("", "");
            serving(&factory, &(asks("before.example:80") + WAITS));
            let serve = served.then(|| Serve::of(&factory));
            let (mut child, _out) = start(&factory, "a");
            // Neither can do anything about the other's end.
            serve.iter().for_each(|serve| serve.signal(Signal::SIGSTOP));
            child.kill().unwrap();
            child.wait().unwrap();
            drop(serve);
            assert!(summaries(&factory, "a").is_empty());
            serving(&factory, "");
            match next {
                "run" => drop(run(&factory, "b")),
                _ => drop(Serve::of(&factory)),
            }
            run(&factory, "c");
            let summaries = summaries(&factory, "a");
            assert_eq!(summaries.len(), 1, "{next}, served: {served}: {summaries:?}");
            assert_eq!((&summaries[0]["complete"], &summaries[0]["blocked_distinct"]), (&false.into(), &1.into()));
        }
    }
}

#[test]
fn there_is_one_serve_and_a_dead_one_is_no_obstacle() {
    let factory = factory("", "");
    serving(&factory, &asks("blocked.example:80"));
    let serve = Serve::of(&factory);
    let other = factory.command().arg("serve").output().unwrap();
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(other.status.code() == Some(1) && said.contains("serve-running") && said.contains("fix:"), "{other:?}");
    serve.end(Signal::SIGKILL);
    assert!(factory.path().join("serve.sock").symlink_metadata().is_ok(), "what was killed has left its socket");
    assert_eq!(run(&factory, "one").stdout, b"403\n");
    let mut all: Vec<Child> = (0..8)
        .map(|_| factory.command().arg("serve").stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    let all_but_one = RefCell::new(&mut all);
    wait_until(|| all_but_one.borrow_mut().iter_mut().filter_map(|child| child.try_wait().unwrap()).count() == 7);
    assert_eq!(status(&factory).0, Some(0));
    for child in &mut all {
        let _ = child.kill();
        child.wait().unwrap();
    }
}

/// N10: a `serve` that is started anew never has what an earlier one had.
#[test]
fn a_serve_that_is_started_anew_knows_nothing_of_the_one_before() {
    let factory = factory("", "");
    let allow = |hosts: &str, script: &str| {
        settings(
            &factory,
            &format!("sandbox: {{mode: required, network: allowlist, egress: {{allow: [{hosts}]}}}}"),
            script,
        );
    };
    // Nothing resolves it: what is allowed is a failure, and not a block.
    allow("old.invalid", &(asks("old.invalid:80") + WAITS));
    let first = Serve::of(&factory);
    let (old, _out) = start(&factory, "old");
    drop(first);
    allow("new.invalid", &(asks("old.invalid:80") + &asks("new.invalid:80")));
    let _second = Serve::of(&factory);
    assert_eq!(run(&factory, "new").stdout, b"403\n502\n");
    assert_eq!(old.wait_with_output().unwrap().status.code(), Some(137));
    assert_eq!(status(&factory).1["serve"]["attempts"], 0);
    assert_eq!(summaries(&factory, "old").len(), 1);
}

#[test]
fn the_socket_is_not_to_be_found_inside() {
    let factory = factory("", "");
    let looks = "ls -A .. ../../.. >/dev/null; cd ../../../..; ls -A . .serve; test -e serve.sock || echo nothing";
    settings(&factory, "sandbox: {mode: required, allow_read: [.]}", looks);
    fs::write(factory.path().join("seen"), "").unwrap();
    for served in [false, true] {
        // Also where it is made only while the step is at work.
        let _serve = served.then(|| Serve::of(&factory));
        let id = if served { "served" } else { "alone" };
        let output = run(&factory, id);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("seen") && said.ends_with(".serve:\nnothing\n"), "{output:?}");
    }
    for entry in ["./.serve", "./serve.sock"] {
        let _serve = Serve::of(&factory);
        settings(&factory, &format!("sandbox: {{mode: required, allow_read: [{entry}]}}"), looks);
        let output = run(&factory, &format!("named{}", entry.len()));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(125) && said.contains("protected-path"), "{output:?}");
    }
}

#[test]
fn whoever_is_in_a_namespace_of_processes_of_its_own_is_refused() {
    let factory = factory("", "");
    let _serve = Serve::of(&factory);
    let mut inside = Command::new("unshare");
    inside.args(["--user", "--map-current-user", "--pid", "--fork", "--mount-proc"]);
    inside.arg(env!("CARGO_BIN_EXE_kusaw")).arg("--factory").arg(factory.path()).args(["service", "status", "--json"]);
    let output = inside.output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["serve"]["running"], false, "{output:?}");
    assert!(report["serve"]["problem"].as_str().unwrap().contains("inside a sandbox"), "{output:?}");
    assert_eq!(status(&factory).0, Some(0));
}
