//! A step's git: what it sees, what comes of its commits, and what a kusaw leaves that was killed. Through the program.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use factory::{Factory, factory, wait_until};
use serde_json::{Value, json};

/// What the attempt says of its only repo.
fn repo(factory: &Factory) -> Value {
    factory.outcome()["git"][0].clone()
}

#[test]
fn a_commit_is_on_the_attempt_s_branch_and_the_worktree_is_as_the_step_left_it() {
    let factory =
        factory("", "git add -A; echo more >>file; echo new >new; git commit -q -am two; echo left >>file; git tag t");
    factory.run("s").code(0);
    assert_eq!(
        factory.git("demo", &["log", "--format=%s %an %ae", "-1", "kusaw/a/main"]).split(' ').next(),
        Some("two")
    );
    assert_eq!(factory.git("f/attempts/a/worktrees/demo", &["status", "--porcelain"]), " M file\n?? new\n");
    let tip = factory.git("demo", &["rev-parse", "kusaw/a/main"]);
    let repo = repo(&factory);
    assert_eq!((&repo["tip"], &repo["rejected"]), (&json!(tip.trim()), &Value::Null));
    assert_eq!(repo["left"], json!(["tag t"]));
    assert!(!factory.attempt().join("git").exists(), "the private store is removed");
}

#[test]
fn what_is_refused_is_told_and_kept_and_not_tried_again() {
    let factory = factory("", "ln -s /etc/passwd out; git add out; git commit -q -m bad");
    let run = factory.run("s").code(123);
    let told = String::from_utf8(run.get_output().stderr.clone()).unwrap();
    assert!(told.contains("repo demo: what the step committed was not imported: link-outside"), "{told}");
    let outcome = factory.outcome();
    assert_eq!((&outcome["outcome"], &outcome["exit_code"]), (&json!("not-imported"), &json!(123)));
    let rejected = &outcome["git"][0]["rejected"];
    assert_eq!(rejected["reason"], "link-outside");
    assert!(fs::exists(format!("{}/git/objects", rejected["kept"].as_str().unwrap())).unwrap());
    assert_eq!(factory.git("demo", &["rev-parse", "kusaw/a/main"]), factory.git("demo", &["rev-parse", "main"]));
    let again = factory.command().args(["run", "s", "--attempt", "b"]).output().unwrap();
    assert!(!String::from_utf8_lossy(&again.stderr).contains("recovered"), "{again:?}");
}

#[test]
fn the_step_s_own_code_counts_more() {
    let factory = factory("", "ln -s /etc/passwd out; git add out; git commit -q -m bad; exit 7");
    factory.run("s").code(7);
    assert_eq!(factory.outcome()["outcome"], "failed");
}

#[test]
fn a_nested_repository_is_moved_out_and_set_id_bits_are_taken_away() {
    let script = "git init -q sub; cp /usr/bin/true left; chmod 4755 left; cp left ../../artifacts/kept; chmod 2755 ../../artifacts/kept";
    let factory = factory("", script);
    factory.run("s").code(0);
    let at = |path: &str| factory.attempt().join(path);
    assert!(at("worktrees/demo/sub").exists() && !at("worktrees/demo/sub/.git").exists());
    let quarantine: Vec<_> = fs::read_dir(at("quarantine/demo")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(quarantine.len(), 2, "what was moved, and the list: {quarantine:?}");
    for file in ["worktrees/demo/left", "artifacts/kept"] {
        assert_eq!(fs::metadata(at(file)).unwrap().permissions().mode() & 0o6000, 0, "{file}");
    }
    assert_eq!(repo(&factory)["quarantined"].as_array().unwrap().len(), 2);
}

#[test]
fn the_step_s_git_has_the_user_s_identity_or_one_by_login_and_no_credentials() {
    let script =
        "git config user.name; git config user.email; git config --list; cat $(git rev-parse --git-common-dir)/config";
    let factory = factory("", script);
    for (key, value) in [
        ("remote.o.url", "https://me:sesame@h.example/r"),
        ("http.https://h.example/.extraheader", "Authorization: sesame"),
        ("credential.helper", "!echo password=sesame"),
        ("ci.token", "sesame"),
    ] {
        factory.git("demo", &["config", key, value]);
    }
    fs::write(factory.home().join(".gitconfig"), "[user]\n\tname = A User\n\temail = a@b.example\n").unwrap();
    let said = String::from_utf8(factory.run("s").code(0).get_output().stdout.clone()).unwrap();
    assert!(said.starts_with("A User\na@b.example\n"), "{said}");
    assert!(said.contains("remote.o.url=https://h.example/r") && !said.contains("sesame"), "{said}");
    fs::remove_file(factory.home().join(".gitconfig")).unwrap();
    let run = factory.command().args(["run", "s"]).output().unwrap();
    assert!(String::from_utf8_lossy(&run.stdout).lines().nth(1).unwrap().ends_with("@localhost"), "{run:?}");
}

#[test]
fn what_a_killed_kusaw_leaves_is_imported_by_the_next_run() {
    let factory =
        factory("", "[ -e /tmp/x ]; git commit -q --allow-empty -m two; echo left >left; touch started; sleep 100");
    let mut killed = factory.command().args(["run", "s", "--attempt", "a"]).spawn().unwrap();
    wait_until(|| factory.attempt().join("worktrees/demo/started").exists());
    // Another run leaves an attempt alone whose kusaw lives.
    factory::settings(&factory, "sandbox: {mode: required}", "true");
    let beside = factory.command().args(["run", "s", "--attempt", "b"]).output().unwrap();
    let told = String::from_utf8_lossy(&beside.stderr);
    assert!(beside.status.success() && !told.contains("recovered"), "{beside:?}");
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(!factory.attempt().join("recovered.json").exists());
    let next = factory.command().args(["run", "s", "--attempt", "c"]).output().unwrap();
    let told = String::from_utf8_lossy(&next.stderr);
    assert!(
        next.status.success() && told.contains("kusaw: attempt a, repo demo: recovered: kusaw/a/main is at "),
        "{next:?}"
    );
    assert_eq!(factory.git("demo", &["log", "--format=%s", "-1", "kusaw/a/main"]), "two\n");
    assert_eq!(factory.git("f/attempts/a/worktrees/demo", &["status", "--porcelain"]), "?? left\n?? started\n");
    let recovered: Value =
        serde_json::from_slice(&fs::read(factory.attempt().join("recovered.json")).unwrap()).unwrap();
    assert_eq!(recovered[0]["rejected"], Value::Null);
    assert!(!factory.attempt().join("git").exists());
}

#[test]
fn no_filter_runs_outside_and_a_change_of_the_same_length_at_once_is_seen() {
    // At once: the file is as new as the index, and git cannot tell by its times that it is another.
    let factory = factory("", "true");
    let ran = factory.home().join("ran");
    let program = format!("echo ran >>{}; cat", ran.display());
    factory.commit("demo", ".gitattributes", "* filter=own\n");
    for key in ["filter.own.clean", "filter.own.smudge"] {
        factory.git("demo", &["config", key, &program]);
    }
    factory::settings(
        &factory,
        "sandbox: {mode: required}",
        "printf 'two\\n' >file; echo x >other; git -c filter.own.clean= add other; git commit -q -m work",
    );
    factory.run("s").code(0);
    assert_eq!(repo(&factory)["rejected"], Value::Null);
    assert!(!ran.exists(), "a filter ran outside");
    let status = ["-c", "filter.own.clean=", "status", "--porcelain"];
    assert_eq!(factory.git("f/attempts/a/worktrees/demo", &status), " M file\n");
}
