//! `kusaw sandbox profile` says what a launch does: compared with what bubblewrap was told, and with what the step saw.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs;

use factory::Factory;
use serde_json::Value;

fn profile(factory: &Factory, step: &str) -> Value {
    let output = factory.command().args(["sandbox", "profile", step, "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A bubblewrap that writes down what it is told and goes on as itself.
fn recorder(factory: &Factory) -> String {
    let at = factory.home().display().to_string();
    factory.fake_bwrap(&format!(
        // The import has boxes of its own, which are told by argv.
        r#"exec bash -c 'if [ "$1" = --args ]; then
            printf "%s\0" bwrap "$@" >{at}/argv; cat <&10 >{at}/told; exec 10<{at}/told; fi
        PATH=/usr/bin:/bin; exec bwrap "$@"' bwrap "$@""#
    ))
}

fn recorded(factory: &Factory, name: &str) -> Vec<String> {
    let text = String::from_utf8(fs::read(factory.home().join(name)).unwrap()).unwrap();
    text.split_terminator('\0').map(str::to_string).collect()
}

fn words(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_string()).collect()
}

#[test]
fn it_is_what_a_launch_tells_bubblewrap() {
    for (network, more) in [("open", ""), ("allowlist", ", egress: {allow: ['a.example', 'localhost:5432']}")] {
        let factory = Factory::new(&format!(
            "sandbox: {{mode: required, network: {network}{more}, allow_read: [~/data], allow_write: [~/data/out]}}
repos: {{demo: {{path: ../demo}}, extra: {{path: ../extra}}}}
steps: {{s: {{repos: [demo, extra], run: [/usr/bin/env], env: {{OWN: 'value of its own'}}}}}}\n"
        ));
        factory.repo_named("demo").repo_named("extra");
        fs::create_dir_all(factory.home().join("data/out")).unwrap();
        let path = recorder(&factory);
        let before = factory.tmp().read_dir().unwrap().count();
        let profile = profile(&factory, "s");
        assert!(!factory.path().join("attempts").exists(), "it made an attempt");
        assert_eq!(factory.tmp().read_dir().unwrap().count(), before, "it made a temp folder");
        assert!(!factory.home().join(".cache").exists() && !factory.home().join("argv").exists());
        let out = factory.run_with("s", &[("PATH", &path)]).code(0);
        let told = recorded(&factory, "told");
        let private = told.iter().find_map(|word| word.split_once("kusaw-private-")?.1.split('/').next()).unwrap();
        let named = |word: &String| word.replace("ATTEMPT", "a").replace("PRIVATE", private);
        let options: Vec<String> = profile["options"].as_array().unwrap().iter().flat_map(words).collect();
        assert_eq!(options.iter().map(named).collect::<Vec<_>>(), told, "{network}");
        assert_eq!(words(&profile["argv"]), recorded(&factory, "argv"));
        assert_eq!(profile["network"], network);
        let env = String::from_utf8(out.get_output().stdout.clone()).unwrap();
        let names: Vec<&str> = env.lines().map(|line| line.split_once('=').unwrap().0).collect();
        assert_eq!(words(&profile["variables"]), names, "{network}");
        assert!(!profile.to_string().contains("value of its own"), "{profile}");
    }
}

#[test]
fn it_starts_where_the_profile_says_and_what_it_says() {
    let factory = Factory::new(
        "sandbox: {mode: required}\nrepos: {demo: {path: ../demo}}\nsteps: {s: {repos: [demo], run: [pwd]}}\n",
    );
    factory.repo();
    let profile = profile(&factory, "s");
    let cwd = profile["cwd"].as_str().unwrap().replace("ATTEMPT", "a");
    factory.run("s").code(0).stdout(cwd + "\n");
    assert_eq!(words(&profile["step_argv"]), ["pwd"]);
}

#[test]
fn without_a_sandbox_there_is_the_step_alone() {
    let factory = Factory::new("steps: {s: {run: [echo, 'a b']}}\n");
    let profile = profile(&factory, "s");
    assert_eq!((&profile["mode"], profile["options"].as_array().unwrap().len()), (&"off".into(), 0));
    assert!(profile.get("program").is_none() && words(&profile["step_argv"]) == ["echo", "a b"]);
    let output = factory.command().args(["sandbox", "profile", "s"]).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().ends_with("step       echo 'a b'\n"));
}

#[test]
fn what_a_launch_would_be_refused_for_is_told_instead() {
    let factory = Factory::new("sandbox: {mode: required}\nsteps: {s: {run: [\"true\"], requires: [network]}}\n");
    let output = factory.command().args(["sandbox", "profile", "s"]).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && text.contains("not-supported") && text.contains("fix: "), "{text}");
}
