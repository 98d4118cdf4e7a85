//! What the settings come to: an attempt for each repo, built-in steps, what `validate` tells of what is not there, the schema.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::process::Command;

use factory::Factory;
use serde_json::Value;

const BOTH: &str = "repos: {demo: {path: ../demo}, extra: {path: ../extra, sandbox: off}}\n";

fn both(step: &str) -> Factory {
    let factory = Factory::new(&format!("{BOTH}steps: {{s: {{repos: [demo, extra], per_repo: true, {step}}}}}\n"));
    factory.repo().repo_named("extra");
    factory
}

fn outcome(factory: &Factory, id: &str) -> Value {
    let file = factory.path().join("attempts").join(id).join("outcome.json");
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

fn said(command: &mut Command) -> (i32, String, String) {
    let out = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (out.status.code().unwrap(), text(out.stdout), text(out.stderr))
}

fn run(factory: &Factory, more: &[&str]) -> (i32, String, String) {
    said(factory.command().args(["run", "s"]).args(more))
}

#[test]
fn each_repo_has_an_attempt_with_its_own_folder_and_record() {
    let factory = both("run: [sh, -c, 'basename $PWD; [ -f made ] && exit 9; touch made']");
    let (code, out, err) = run(&factory, &["--attempt", "a"]);
    assert_eq!((code, out.as_str()), (0, "demo\nextra\n"), "{err}");
    for (id, repo, other) in [("a-demo", "demo", "extra"), ("a-extra", "extra", "demo")] {
        let record = outcome(&factory, id);
        assert_eq!((record["attempt"].as_str(), record["outcome"].as_str()), (Some(id), Some("succeeded")));
        let worktrees = factory.path().join("attempts").join(id).join("worktrees");
        assert!(worktrees.join(repo).join("made").exists() && !worktrees.join(other).exists());
    }
    assert_eq!(outcome(&factory, "a-extra")["sandbox"]["why"], "all active repos say off");
    assert_eq!(outcome(&factory, "a-demo")["sandbox"]["why"], "sandbox.mode is not set: off is the default");
}

#[test]
fn one_that_fails_or_is_refused_keeps_no_other_from_running() {
    let factory = both("run: [sh, -c, 'touch ran; [ -f other ] || exit 3']");
    factory.commit("extra", "other", "");
    assert_eq!(run(&factory, &["--attempt", "a"]).0, 3);
    assert_eq!(outcome(&factory, "a-extra")["outcome"], "succeeded");

    std::fs::remove_dir_all(factory.path().join("../demo")).unwrap();
    let (code, _, err) = run(&factory, &["--attempt", "b"]);
    assert!(code == 125 && err.contains("worktree-failed"), "{code} {err}");
    assert_eq!(
        (&outcome(&factory, "b-demo")["outcome"], &outcome(&factory, "b-extra")["outcome"]),
        (&"refused".into(), &"succeeded".into())
    );
}

#[test]
fn what_the_settings_refuse_for_one_is_run_for_none() {
    let factory = both("requires: [network], run: [touch, ran]");
    let (code, _, err) = run(&factory, &["--attempt", "a"]);
    assert!(code == 125 && err.contains("not-supported"), "{err}");
    for (id, repo) in [("a-demo", "demo"), ("a-extra", "extra")] {
        assert_eq!(outcome(&factory, id)["reason"], "not-supported", "{id}");
        assert!(!factory.path().join("attempts").join(id).join("worktrees").join(repo).exists(), "{id}");
    }
    // What is said of the repos, too: the second alone is signed, by nobody.
    let factory = both("run: [touch, ran], sandbox: required");
    let yaml = factory.path().join("kusaw.yaml");
    let text = std::fs::read_to_string(&yaml).unwrap();
    let signed = text.replacen("extra: {", "extra: {sign: /nobody.pub, ", 1);
    assert_ne!(signed, text);
    std::fs::write(&yaml, signed).unwrap();
    let (code, _, err) = run(&factory, &["--attempt", "a"]);
    assert!(code == 125 && err.contains("cannot-sign") && err.contains("repos.extra.sign"), "{err}");
    assert_eq!(outcome(&factory, "a-demo")["reason"], "cannot-sign");
    assert!(!factory.path().join("attempts/a-demo/worktrees/demo").exists());
    // A folder that is taken, and an id that is none.
    let factory = both("run: [sh, -c, 'exit 7']");
    std::fs::create_dir_all(factory.path().join("attempts/a-extra")).unwrap();
    let (code, _, err) = run(&factory, &["--attempt", "a"]);
    assert!(code == 125 && err.contains("attempt-exists"), "{err}");
    assert_eq!(outcome(&factory, "a-demo")["outcome"], "refused");
    let (code, _, err) = run(&factory, &["--attempt", &"x".repeat(60)]);
    assert!(code == 125 && err.contains("is no attempt id") && err.contains("shorter --attempt ID"), "{err}");
}

#[test]
fn a_signal_ends_the_attempts_that_are_left() {
    let factory = both("run: [sh, -c, 'trap \"exit 0\" TERM; kill -TERM $PPID; while :; do sleep 0.01; done']");
    let (code, _, err) = run(&factory, &["--attempt", "a"]);
    assert!(code == 143 && err.contains("interrupted"), "{code} {err}");
    assert_eq!(outcome(&factory, "a-demo")["outcome"], "succeeded");
    assert_eq!(outcome(&factory, "a-extra")["reason"], "interrupted");
    assert!(!factory.path().join("attempts/a-extra/worktrees/extra").exists());
}

#[test]
fn a_built_in_step_runs_what_the_worktree_has_or_is_refused() {
    let factory = Factory::new("repos: {demo: {path: ../demo}}\nsteps: {s: {uses: test, repos: [demo]}}\n");
    factory.repo();
    let (code, _, err) = run(&factory, &["--attempt", "a"]);
    assert!(
        code == 125 && err.contains("nothing-fits") && err.contains("Cargo.toml") && err.contains("run: ["),
        "{err}"
    );
    factory.commit("demo", "Makefile", "test:\n\t@echo tested\n");
    assert_eq!(run(&factory, &["--attempt", "b"]), (0, "tested\n".into(), String::new()));
}

#[test]
fn validate_tells_what_a_launch_would_not_find() {
    let inject = "[{name: api, upstream: 'https://api.example', base_url_env: U, key_env: API_KEY}]";
    let settings = format!(
        "sandbox: {{mode: required, network: allowlist, egress: {{inject: {inject}}}}}\n\
         repos: {{gone: {{path: ../gone}}, plain: {{path: ../home}}, demo: {{path: ../demo, sign: nobody.pub}}}}\n\
         steps:\n  s: {{run: [x], repos: [demo]}}\n  free: {{run: [x], sandbox: off}}\n"
    );
    let factory = Factory::new(&settings);
    factory.repo();
    let (code, out, _) = said(factory.command().args(["validate", "--json"]));
    let report: Value = serde_json::from_str(&out).unwrap();
    let told = |kind: &str| -> Vec<String> {
        let one = |f: &Value| {
            format!("{} {} {}", f["code"].as_str().unwrap(), f["key"].as_str().unwrap(), f["what"].as_str().unwrap())
        };
        report[kind].as_array().unwrap().iter().map(one).collect()
    };
    let key = factory.path().canonicalize().unwrap().join("nobody.pub").display().to_string();
    assert_eq!(code, 1);
    assert_eq!(
        told("errors"),
        [
            "worktree-failed repos.gone.path there is no such folder",
            "worktree-failed repos.plain.path not a git repository",
            &format!("cannot-sign repos.demo.sign {key}: No such file or directory (os error 2)"),
            "no-secret steps.s inject api: no secret API_KEY in the store",
        ]
    );
    assert_eq!(
        told("warnings"),
        ["W2 steps.free it runs without a sandbox: the step's sandbox says off, and no key is injected"]
    );
}

#[test]
fn without_a_home_the_fix_says_so() {
    let factory = Factory::new("repos: {demo: {path: ~/demo}}\nsteps: {s: {run: [x], repos: [demo]}}\n");
    for arguments in [&["run", "s"][..], &["validate"]] {
        let (code, out, err) = said(factory.command().args(arguments).env_remove("HOME"));
        let text = out + &err;
        assert!(code != 0 && text.contains("HOME is not set") && text.contains("export HOME="), "{text}");
    }
}

#[test]
fn the_schema_is_printed() {
    let factory = Factory::new("");
    let (code, out, _) = said(factory.command().arg("schema"));
    assert_eq!((code, out.as_str()), (0, include_str!("../../docs/schemas/kusaw.json")));
}

/// Without a terminal it is the agent's affair to say so; here the agent is a script.
#[test]
fn an_interactive_agent_is_started_without_a_prompt_and_asked_for_none() {
    let factory = Factory::new("steps: {s: {provider: claude-code, interactive: true, args: [--verbose]}}\n");
    let folder = factory.home().join("bin");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("claude"), "#!/bin/sh\necho \"$*\"\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.join("claude"), mode).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());
    assert_eq!(said(factory.command().env("PATH", &path).args(["run", "s"])).1, "--verbose\n");
    let alone = Factory::new("steps: {s: {run: ['true'], interactive: true}}\n");
    let (code, _, err) = said(alone.command().arg("validate"));
    assert!(code == 2 && err.contains("steps.s.interactive") && err.contains("only an agent"), "{err}");
}
