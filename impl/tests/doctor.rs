//! `kusaw sandbox doctor`, with the real sandbox: what it says of one that keeps its promises, and of one that does not.
//! Nothing leaves the machine: the allowed host is an address of its loopback.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use factory::Factory;
use serde_json::Value;

struct Told {
    code: Option<i32>,
    text: String,
    report: Value,
}

const PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

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
        None => assert!(
            told.seen(2).contains("no other address")
                || told.seen(2).contains('[')
                || told.seen(2).contains("not tried"),
            "{}",
            told.report
        ),
    }
}

/// As a real launch is, which the test lets say it as well.
#[test]
fn a_step_that_a_launch_would_refuse_is_marked() {
    let repos = "gone: {path: ../gone}, new: {path: ../new}, demo: {path: ../demo, sign: nobody.pub}";
    let secret = "egress: {inject: [{name: k, upstream: 'https://a.example', base_url_env: U, key_env: K}]}";
    for (sandbox, more, reason) in [
        ("network: allowlist, SECRET", "", "no-secret"),
        ("allow_read: [~/gone]", "", "unresolved-path"),
        ("network: open", "requires: [network],", "not-supported"),
        ("network: open", "repos: [gone],", "worktree-failed"),
        ("network: open", "repos: [new],", "worktree-failed"),
        ("network: open", "repos: [demo],", "cannot-sign"),
        ("network: open", "provider: cursor, prompt: x,", "not-found"),
    ] {
        let sandbox = sandbox.replace("SECRET", secret);
        let run = if more.starts_with("provider") { "" } else { " run: ['true']" };
        let factory = Factory::new(&format!(
            "sandbox: {{mode: required, {sandbox}}}\nrepos: {{{repos}}}\nsteps:\n  s: {{{more}{run}}}\n"
        ));
        factory.repo();
        fs::create_dir(factory.path().join("../new")).unwrap();
        factory.git("new", &["init", "-q"]);
        let told = told(&|| factory.command());
        let step = &told.report["steps"][0];
        assert_eq!((told.code, &step["refused"]["reason"]), (Some(1), &reason.into()), "{}", told.report);
        assert!(told.text.contains(&format!("REFUSED a launch of it: {reason}: ")), "{}", told.text);
        assert_eq!(step["missing"].as_array().unwrap().len(), usize::from(reason == "no-secret"), "{step}");
        assert!(!factory.path().join("attempts").exists());
        factory.run("s").code(if reason == "not-found" { 127 } else { 125 });
        assert_eq!(factory.outcome()["reason"], reason);
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
    let told = doctor("'127.0.0.1:1'");
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
    let factory = with("'*.a.example'");
    let apart = |weakened: bool| {
        let kusaw = factory.command();
        let mut command = Command::new(bwrap());
        command.args(["--dev-bind", "/", "/", "--unshare-net", "--"]).arg(kusaw.get_program()).args(kusaw.get_args());
        by(command, &kusaw, weakened.then(|| factory.home()))
    };
    let sound = told(&|| apart(false));
    assert_eq!((sound.code, sound.verdicts()), (Some(0), vec!["not-tried", "held", "held"]), "{}", sound.report);
    assert!(sound.seen(2).ends_with("this machine has no other address to try"), "{}", sound.report);
    weaken(&factory, "exec BWRAP \"$@\"");
    let shared = told(&|| apart(true));
    assert_eq!((shared.code, shared.verdicts()), (Some(1), vec!["not-tried", "held", "failed"]), "{}", shared.report);
    assert!(shared.text.contains("\nP7 FAILED ") && shared.seen(2).contains("it was made"), "{}", shared.text);
}

/// A namespace of its own with a way out: loopback alone would not show it. Only root can make one here.
#[test]
fn a_step_with_a_route_out_is_a_failure() {
    if !nix::unistd::geteuid().is_root() {
        // Past what the test's harness keeps to itself.
        let not_judged =
            b"a_step_with_a_route_out_is_a_failure: not judged, an ordinary user cannot make its network\n";
        return std::io::stderr().write_all(not_judged).unwrap();
    }
    let factory = with("'*.a.example'");
    // This machine is a namespace with one end of a pair of interfaces; the other end goes into the step's.
    let own = "ip link set lo up; ip link add out type veth peer name in
        ip addr add 10.77.0.1/24 dev out; ip link set out up";
    let inside = "nsenter --net=/proc/$PPID/ns/net ip link set in netns $$
        ip addr add 10.77.0.2/24 dev in; ip link set in up; ip link set lo up";
    weaken(&factory, &format!("exec unshare --net bash -c '{inside}; exec BWRAP \"$@\"' bash \"$@\""));
    let routed = told(&|| {
        let kusaw = factory.command();
        let mut command = Command::new("unshare");
        command.args(["--net", "bash", "-c", &format!("{own}; exec \"$@\""), "bash"]);
        command.arg(kusaw.get_program()).args(kusaw.get_args());
        by(command, &kusaw, Some(factory.home()))
    });
    assert_eq!(routed.verdicts(), ["not-tried", "held", "failed"], "{}", routed.report);
    let seen = routed.seen(2);
    assert!(seen.contains("refused") && seen.contains("; 10.77.0.1:") && seen.ends_with(": it was made"), "{seen}");
}

/// In place of bubblewrap, for whoever finds it in the home folder: this, with every word but the one that takes the network
/// away. They come in a pipe.
fn weaken(factory: &Factory, start: &str) {
    let kept = r#"kept=$(mktemp) && sed -z '/^--unshare-net$/d' <&"$2" >"$kept" || exit
        eval "exec $2<'$kept'" && rm "$kept" || exit"#;
    let script = format!("#!/bin/bash\n{kept}\n{start}\n").replace("BWRAP", &bwrap());
    let path = factory.home().join("bwrap");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn bwrap() -> String {
    PATH.split(':').map(|folder| format!("{folder}/bwrap")).find(|path| fs::exists(path).unwrap()).unwrap()
}

/// With the environment of `kusaw`, and this folder first on its PATH.
fn by(mut command: Command, kusaw: &Command, first: Option<PathBuf>) -> Command {
    let path = first.map_or(PATH.to_string(), |first| format!("{}:{PATH}", first.display()));
    command.env_clear().envs(kusaw.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("PATH", path);
    command
}
