//! What kusaw says and returns when it refuses: what, where, the fix. Nothing here needs a sandbox.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;

use factory::{Factory, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

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
        ("steps:\n  s: {run: []}\n", ":2:12:", "steps.s.run: no program"),
        ("steps:\n  s: {}\n", ":2:3:", "exactly one of run"),
        ("steps:\n  s:\n    run: [x]\n    prompt: y\n", ":2:3:", "exactly one of run"),
        ("steps:\n  s: {provider: claud-code, prompt: y}\n", ":2:17:", "did you mean claude-code?"),
        ("repos: {demo: {path: /r}}\nsteps:\n  s: {run: [x], repos: [dmo]}\n", ":3:25:", "did you mean demo?"),
        ("repos: {../x: {path: /r}}\nsteps: {s: {run: [x]}}", ":1:9:", "not a name"),
        ("sandbox: {allow_read: ['/srv/*']}\nsteps: {s: {run: [x]}}", ":1:24:", "patterns are not taken"),
        ("sandbox: {allow_write: [~other/x]}\nsteps: {s: {run: [x]}}", ":1:25:", "homes of other users are not taken"),
        ("sandbox:\n  egress:\n    allow: [https://x]\nsteps: {s: {run: [x]}}", ":3:13:", "not a URL"),
        ("sandbox:\n  egress:\n    allow: ['*.localhost']\nsteps: {s: {run: [x]}}", ":3:13:", "star"),
        ("steps:\n  s:\n    run: [x]\n    sandbox: {egress: {allow: ['h:0']}}\n", ":4:32:", "port"),
        ("sandbox: {network: closed}\nsteps: {s: {run: [x]}}", ":1:20:", "known here: open, allowlist"),
        ("steps: {s: {run: [x], env: {'A=B': c}}}", ":1:29:", "steps.s.env.A=B"),
        ("steps: {s: {run: [x], sandbox: {mode: null}}}", ":1:", "steps.s.sandbox.mode"),
        ("steps: {s: {run: [x], sandbox: {mode: {required: }}}}", ":1:", "steps.s.sandbox.mode"),
        ("sandbox: {network: {open: }}\nsteps: {s: {run: [x]}}", ":1:", "sandbox.network"),
        ("repos: {r: {path: /r, sandbox: {off: }}}\nsteps: {s: {run: [x]}}", ":1:", "repos.r.sandbox"),
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
fn unusable_settings_are_an_object_for_who_asks_for_one() {
    for (settings, what) in [("stepz: 1", "did you mean steps?"), ("steps: [", "kusaw.yaml")] {
        let out = Factory::new(settings).command().args(["validate", "--json"]).output().unwrap();
        let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
        let error = &report["errors"][0];
        assert_eq!((out.status.code(), &error["code"]), (Some(2), &"bad-settings".into()), "{report}");
        assert!(error["what"].as_str().unwrap().contains(what) && error["fix"].is_string(), "{report}");
        assert!(String::from_utf8(out.stderr).unwrap().contains(what));
        let plain = Factory::new(settings).command().arg("validate").output().unwrap();
        assert!(plain.stdout.is_empty());
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
    std::fs::remove_dir(factory.path().join("kusaw.yaml")).unwrap();
    nix::unistd::mkfifo(&factory.path().join("kusaw.yaml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (code, text) = said(&factory, "s");
    assert!(code == 125 && text.contains("not a file"), "{text}");
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
        "sandbox: {mode: required, network: allowlist, egress: {allow: ['localhost:80']}}",
        "sandbox: {mode: required, network: allowlist, egress: {allow: ['localhost:3128']}}",
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
        (Some("shift 3; exec \"$@\""), "bwrap-failed"),
        (Some("shift 3; exec unshare -Uprf --kill-child \"$@\""), "bwrap-failed"),
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

/// They are given through a pipe, which holds 64 KiB.
#[test]
fn a_bwrap_that_does_not_take_long_arguments_is_a_refusal() {
    let factory = Factory::new("");
    let folders: Vec<String> = (0..250).map(|n| format!("{}/{n:0>200}", factory.home().display())).collect();
    folders.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    let allowed = folders.join(", ");
    let settings = format!("sandbox: {{mode: required, allow_read: [{allowed}]}}\nsteps: {{s: {{run: [\"true\"]}}}}");
    std::fs::write(factory.path().join("kusaw.yaml"), settings).unwrap();
    for (script, reason) in [("exec sleep 60", "bwrap-timeout"), ("exit 1", "bwrap-failed")] {
        let path = factory.fake_bwrap(script);
        factory.run_with("s", &[("PATH", &path), ("KUSAW_START_TIMEOUT", "0.5")]).code(125);
        assert_eq!(factory.outcome()["reason"], reason);
        factory.assert_no_temp();
        std::fs::remove_dir_all(factory.attempt()).unwrap();
    }
}

#[test]
fn a_script_of_the_worktree_sees_its_own_name_as_written() {
    let factory = Factory::new("repos: {demo: {path: ../demo}}\nsteps: {s: {repos: [demo], run: [./tool]}}");
    factory.repo().commit("demo", "tool", "#!/bin/sh\necho $0\n");
    factory.run("s").code(0).stdout("./tool\n");
}

#[test]
fn no_filter_of_a_repository_runs_outside() {
    for (place, section) in [("config", ""), ("included", "[includeIf \"onbranch:kusaw/**\"]\n\tpath = included\n")] {
        let factory = Factory::new("repos: {demo: {path: ../demo}}\nsteps: {s: {repos: [demo], run: [cat, file]}}");
        factory.repo().commit("demo", ".gitattributes", "* filter=evil.one\n");
        let mark = factory.path().join("executed");
        let program = format!("touch {}; cat", mark.display());
        let filter: String =
            ["smudge", "clean", "process"].iter().map(|key| format!("\t{key} = {program:?}\n")).collect();
        let text = format!("{section}[filter \"evil.one\"]\n{filter}\trequired = true\n");
        let git = factory.path().parent().unwrap().join("demo/.git");
        if place == "included" {
            let (include, filter) = text.split_at(section.len());
            std::fs::write(git.join("included"), filter).unwrap();
            append(&git.join("config"), include);
        } else {
            append(&git.join("config"), &text);
        }
        factory.run("s").code(0).stdout("one\n");
        assert!(!mark.exists(), "{place}");
    }
    let factory = Factory::new("repos: {demo: {path: ../demo}}\nsteps: {s: {repos: [demo], run: [cat, file]}}");
    append(&factory.repo().path().parent().unwrap().join("demo/.git/config"), "[filter \"a=b\"]\n\tsmudge = x\n");
    let (code, text) = said(&factory, "s");
    assert!(code == 125 && text.contains("a=b"), "{text}");
}

fn append(file: &std::path::Path, text: &str) {
    use std::io::Write;
    std::fs::File::options().append(true).open(file).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn when_one_worktree_fails_none_is_left() {
    let factory = Factory::new(
        "repos: {demo: {path: ../demo}, gone: {path: ../gone}}\nsteps: {s: {repos: [demo, gone], run: [\"true\"]}}",
    );
    let before = factory.repo().git("demo", &["for-each-ref"]);
    let (code, text) = said(&factory, "s");
    assert!(code == 125 && text.contains("worktree-failed") && !text.contains("left behind"), "{text}");
    assert_eq!(factory.git("demo", &["for-each-ref"]), before);
    assert_eq!(factory.git("demo", &["worktree", "list"]).lines().count(), 1);
    assert!(!factory.attempt().join("worktrees/demo").exists());
}

#[test]
fn a_branch_that_was_there_before_stays() {
    let factory = Factory::new("repos: {demo: {path: ../demo}}\nsteps: {s: {repos: [demo], run: [\"true\"]}}");
    factory.repo().git("demo", &["branch", "kusaw/a/main"]);
    let before = factory.git("demo", &["for-each-ref"]);
    let (code, text) = said(&factory, "s");
    assert!(code == 125 && text.contains("already exists"), "{text}");
    assert_eq!(factory.git("demo", &["for-each-ref"]), before);
}

#[test]
fn a_signal_before_the_launch_simply_ends_it() {
    let factory = Factory::new("repos: {demo: {path: ../demo}}\nsteps: {s: {repos: [demo], run: [\"true\"]}}");
    let held = std::fs::File::open(factory.repo().path().parent().unwrap().join("demo")).unwrap();
    held.lock().unwrap();
    let mut child = factory.command().args(["run", "s", "--attempt", "a"]).stderr(Stdio::null()).spawn().unwrap();
    wait_until(|| factory.attempt().join(".outcome.json.unfinished").exists());
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGINT));
}

#[test]
fn a_signal_during_the_launch_is_a_refusal_and_kills_all() {
    let factory = Factory::new("sandbox: {mode: required}\nsteps: {s: {run: [\"true\"]}}");
    let started = factory.path().join("started");
    let path = factory.fake_bwrap(&format!("echo $$ > {0}.new; mv {0}.new {0}; sleep 60", started.display()));
    let mut command = factory.command();
    command.args(["run", "s", "--attempt", "a"]).env("PATH", path).env("KUSAW_START_TIMEOUT", "60");
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    wait_until(|| started.exists());
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let outcome = factory.outcome();
    assert_eq!((&outcome["state"], &outcome["reason"]), (&"refused".into(), &"interrupted".into()));
    assert_eq!(outcome["exit_code"], 143);
    let bwrap: i32 = std::fs::read_to_string(started).unwrap().trim().parse().unwrap();
    wait_until(|| kill(Pid::from_raw(bwrap), None).is_err());
    factory.assert_no_temp();
}

/// A step may leave a kusaw.yaml in its worktree, its artifacts or an allowed folder: it must not govern the run that a user
/// starts there.
#[test]
fn settings_that_a_step_left_govern_nothing() {
    let factory = Factory::new("steps: {s: {run: [/bin/echo, own]}, t: {run: [x], sandbox: {allow_write: [shared]}}}");
    std::fs::create_dir(factory.path().join("shared")).unwrap();
    for place in ["attempts/e/worktrees/demo", "attempts/e/artifacts/deep", "shared/deep"] {
        let planted = factory.path().join(place);
        std::fs::create_dir_all(&planted).unwrap();
        std::fs::write(planted.join("kusaw.yaml"), "steps: {s: {run: [/bin/echo, planted]}}").unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kusaw"));
        let output = command.current_dir(&planted).args(["run", "s"]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "own\n", "{place}");
    }
    std::fs::write(factory.path().join("kusaw.yaml"), "steps: [").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kusaw"));
    let output = command.current_dir(factory.path().join("shared/deep")).args(["run", "s"]).output().unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.len()),
        (Some(125), 0),
        "settings that cannot be read let nothing in"
    );
}
