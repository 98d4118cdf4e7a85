//! From the first line of `serve` to the last summary, and what is killed in between.

use std::cell::RefCell;
use std::fs;
use std::process::{Child, Stdio};
use std::thread;

use nix::sys::signal::Signal;

use super::factory::{factory, settings, wait_until};
use super::{Serve, WAITS, asks, events, outcome, run, serving, start, status, summaries};

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
    for left in ["serve.sock", "attempts/.serve/serve.sock"] {
        assert!(factory.path().join(left).symlink_metadata().is_err(), "{left} is left");
    }
    assert_eq!(run(&factory, "two").stdout, b"403\n");
    assert_eq!(summaries(&factory, "two")[0]["complete"], true);
}

#[test]
fn a_run_that_is_served_has_no_proxy_of_its_own() {
    let factory = factory("", "");
    serving(&factory, WAITS);
    let serve = Serve::of(&factory);
    let before = serve.threads();
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
    assert_eq!(serve.threads(), before);
}

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

/// It lives and says nothing: whoever waits for it does not wait for ever, and nothing is written twice.
#[test]
fn what_a_stopped_serve_owes_is_written_once_it_goes_on_or_by_the_next_run() {
    thread::scope(|scope| {
        for goes_on in [true, false] {
            scope.spawn(move || stopped(goes_on));
        }
    });
}

fn stopped(goes_on: bool) {
    let factory = factory("", "");
    serving(&factory, &(asks("before.example:80") + WAITS));
    let serve = Serve::of(&factory);
    let (run_a, _out) = start(&factory, "a");
    serve.signal(Signal::SIGSTOP);
    fs::write(factory.attempt().join("artifacts/go"), "").unwrap();
    let ended = run_a.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.code() == Some(0) && said.contains("does not answer"), "{ended:?}");
    assert!(summaries(&factory, "a").is_empty());
    let unsettled = factory.attempt().join("egress.unsettled");
    assert!(unsettled.exists());
    // Whoever owes it still has it: the mark stays.
    settings(&factory, "sandbox: {mode: required, network: open}", "");
    run(&factory, "c");
    assert!(unsettled.exists() && summaries(&factory, "a").is_empty());
    match goes_on {
        true => serve.signal(Signal::SIGCONT),
        false => drop(serve.end(Signal::SIGKILL)),
    }
    if goes_on {
        wait_until(|| !summaries(&factory, "a").is_empty());
    }
    run(&factory, "b");
    let summaries = summaries(&factory, "a");
    assert_eq!((summaries.len(), &summaries[0]["complete"]), (1, &goes_on.into()), "{summaries:?}");
    assert!(!unsettled.exists(), "it is settled: no later run looks at it again");
}
