//! What kusaw says and returns when it refuses: what, where, the fix. Nothing here needs a sandbox.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use factory::Factory;

fn said(factory: &Factory, step: &str) -> (i32, String) {
    let assert = factory.run(step);
    let output = assert.get_output();
    (output.status.code().unwrap(), String::from_utf8(output.stderr.clone()).unwrap())
}

#[test]
fn bad_settings_are_told_with_place_and_fix_and_make_nothing() {
    for (settings, place, what) in [
        ("sandbox: {mode: requird}\nsteps: {s: {run: [x]}}", ":1:17:", "did you mean required?"),
        ("sandbx: {mode: off}\nsteps: {s: {run: [x]}}", ":1:1:", "did you mean sandbox?"),
        ("steps:\n  s:\n    run: [x]\n    sandbox: true\n", ":4:5:", "the word off"),
        ("steps:\n  s:\n    run: [x]\n    sandbox:\n", ":4:", "steps.s.sandbox"),
        ("steps:\n  s: {run: [x]}\n  s: {run: [y]}\n", ":3:3:", "s stands twice"),
        ("steps:\n  s: {run: x}\n", ":2:12:", "steps.s.run"),
        ("steps:\n  s: {run: []}\n", "kusaw.yaml", "no program"),
        ("steps:\n  s: {}\n", "kusaw.yaml", "exactly one of run"),
        ("steps:\n  s: {run: [x], prompt: y}\n", "kusaw.yaml", "exactly one of run"),
        ("steps:\n  s: {provider: claud-code, prompt: y}\n", ":2:17:", "did you mean claude-code?"),
        ("repos: {demo: {path: /r}}\nsteps:\n  s: {run: [x], repos: [dmo]}\n", ":3:25:", "did you mean demo?"),
        ("repos: {../x: {path: /r}}\nsteps: {s: {run: [x]}}", "kusaw.yaml", "not a name"),
        ("sandbox: {allow_read: ['/srv/*']}\nsteps: {s: {run: [x]}}", ":1:24:", "patterns are not taken"),
        ("sandbox:\n  egress:\n    allow: [https://x]\nsteps: {s: {run: [x]}}", ":3:13:", "not a URL"),
        ("sandbox:\n  egress:\n    allow: ['*.localhost']\nsteps: {s: {run: [x]}}", ":3:13:", "star"),
        ("steps:\n  s:\n    run: [x]\n    sandbox: {egress: {allow: ['h:0']}}\n", ":4:32:", "port"),
        ("sandbox: {network: closed}\nsteps: {s: {run: [x]}}", ":1:20:", "known here: open, allowlist"),
        ("steps: {s: {run: [x], env: {'A=B': c}}}", "kusaw.yaml", "cannot be a variable"),
        ("steps: {s: {run: [x], sandbox: {mode: null}}}", ":1:", "steps.s.sandbox.mode"),
        ("steps: [", "kusaw.yaml", "bad-settings"),
    ] {
        let factory = Factory::new(settings);
        let (code, text) = said(&factory, "s");
        assert_eq!(code, 125, "{settings}\n{text}");
        assert!(text.contains(place) && text.contains(what), "{settings}\nsaid: {text}");
        assert!(text.lines().all(|l| l.starts_with("kusaw: ")) && text.contains("kusaw: fix: "), "{text}");
        assert!(!factory.path().join("attempts").exists(), "made something for: {settings}");
    }
}

#[test]
fn a_settings_file_that_is_none_is_refused() {
    for bytes in [&b"steps: \xff"[..], &vec![b'#'; (1 << 20) + 1], b""] {
        let factory = Factory::new("");
        std::fs::write(factory.path().join("kusaw.yaml"), bytes).unwrap();
        assert_eq!(said(&factory, "s").0, 125);
    }
    let factory = Factory::new("");
    std::fs::remove_file(factory.path().join("kusaw.yaml")).unwrap();
    let (code, text) = said(&factory, "s");
    assert!(code == 125 && text.contains("kusaw.yaml: No such file"), "{text}");
    std::fs::create_dir(factory.path().join("kusaw.yaml")).unwrap();
    assert_eq!(said(&factory, "s").0, 125);
}

#[test]
fn names_that_are_not_there_are_told() {
    let factory = Factory::new("steps: {build: {run: [x]}}");
    let (code, text) = said(&factory, "biuld");
    assert!(code == 125 && text.contains("unknown-step") && text.contains("did you mean build?"), "{text}");
    for id in ["../a", "-a", ".a", "a b", ""] {
        let mut command = factory.command();
        let out = command.args(["run", "build", &format!("--attempt={id}")]).output().unwrap();
        assert_eq!(out.status.code(), Some(125), "{id}");
    }
    assert_eq!(factory.command().arg("rnu").output().unwrap().status.code(), Some(2));
}

#[test]
fn an_attempt_is_never_run_over_another() {
    let factory = Factory::new("steps: {s: {run: [\"true\"]}}");
    assert_eq!(said(&factory, "s").0, 0);
    let before = factory.outcome();
    let (code, text) = said(&factory, "s");
    assert!(code == 125 && text.contains("attempt-exists"), "{text}");
    assert_eq!(factory.outcome(), before);
}

#[test]
fn what_is_not_there_yet_is_refused_and_nothing_executed() {
    for key in [
        "sandbox: {mode: required, allow_read: [/srv]}",
        "sandbox: {mode: required, allow_write: [/srv]}",
        "sandbox: {mode: required, egress: {inject: provider}}",
        "per_repo: true",
        "setup: [[x]]",
        "requires: [network]",
        "handshake: [x]",
    ] {
        let factory = Factory::new("");
        let mark = factory.path().join("executed");
        let step = format!("steps:\n  s:\n    run: [touch, {}]\n    {key}\n", mark.display());
        std::fs::write(factory.path().join("kusaw.yaml"), step).unwrap();
        let (code, text) = said(&factory, "s");
        assert!(code == 125 && text.contains("not-implemented"), "{key}: {text}");
        assert_eq!(factory.outcome()["reason"], "not-implemented", "{key}");
        assert!(!mark.exists(), "{key}");
    }
}

#[test]
fn off_keeps_argv_folder_and_environment_and_starts_no_sandbox_program() {
    let factory = Factory::new(
        "repos: {demo: {path: ../demo}}\nsandbox: {mode: required}\nsteps:\n  s:\n    sandbox: off\n    repos: [demo]\n    \
         env: {EXTRA: \"1\"}\n    run: [sh, -c, 'pwd; cat file; echo $EXTRA $CALLER; exit 7']\n",
    );
    let path = factory.repo().fake_bwrap("echo sandboxed; exit 1");
    let assert = factory.run_with("s", &[("PATH", &path), ("CALLER", "2")]);
    let worktree = factory.attempt().canonicalize().unwrap().join("worktrees/demo");
    assert.code(7).stdout(format!("{}\none\n1 2\n", worktree.display()));
    let outcome = factory.outcome();
    assert_eq!(outcome["sandbox"]["effective"], "off");
    assert_eq!(outcome["sandbox"]["backend"], serde_json::Value::Null);
    assert_eq!(outcome["outcome"], "failed");
}

#[test]
fn without_a_working_sandbox_nothing_is_executed() {
    let settings = |mark: &str| format!("sandbox: {{mode: required}}\nsteps: {{s: {{run: [touch, {mark}]}}}}");
    for (bwrap, reason) in [
        (None, "no-bwrap"),
        (Some("exit 1"), "bwrap-failed"),
        (Some("exit 0"), "bwrap-failed"),
        (Some("sleep 60 & sleep 60"), "bwrap-timeout"),
        (Some("echo 'bwrap: Unknown option --as-pid-1' >&2; exit 1"), "bwrap-too-old"),
        (Some("echo 'bwrap: pivot_root: Operation not permitted' >&2; exit 1"), "container-seccomp"),
    ] {
        let factory = Factory::new("");
        let mark = factory.attempt().join("artifacts/executed");
        std::fs::write(factory.path().join("kusaw.yaml"), settings(&mark.display().to_string())).unwrap();
        let path = bwrap.map_or_else(|| "/nonexistent".into(), |script| factory.fake_bwrap(script));
        let assert = factory.run_with("s", &[("PATH", &path), ("KUSAW_START_TIMEOUT", "0.5")]);
        assert.code(125);
        assert_eq!(factory.outcome()["reason"], reason);
        assert_eq!(factory.outcome()["state"], "refused");
        assert!(!mark.exists());
        factory.assert_no_temp();
    }
}
