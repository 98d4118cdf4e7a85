//! How a step ends, whatever it and its processes do: typed, within the bound, and with nothing left alive.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use factory::fault::refuse;
use factory::{Factory, factory, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// What a signal that asks leaves the step, as documented.
const GRACE: Duration = Duration::from_secs(5);

/// What is left of a promised bound for a busy machine.
const BUSY: Duration = Duration::from_secs(5);

fn start(factory: &Factory) -> (Child, BufReader<ChildStdout>) {
    start_with(factory, |_| {})
}

/// Waits for the step's line `up`.
fn start_with(factory: &Factory, set: impl FnOnce(&mut Command)) -> (Child, BufReader<ChildStdout>) {
    let mut command = factory.command();
    command.args(["run", "s", "--attempt", "a"]).stdout(Stdio::piped());
    set(&mut command);
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "up\n");
    (child, out)
}

fn send(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

/// A number of seconds that no other run of these tests on this machine has in an argv.
fn mark(digits: &str) -> String {
    format!("999.{digits}{}", std::process::id())
}

/// Processes whose argv has this word.
fn with(word: &str) -> Vec<PathBuf> {
    let has = |process: &PathBuf| {
        let argv = fs::read(process.join("cmdline")).unwrap_or_default();
        argv.split(|b| *b == 0).any(|argument| argument == word.as_bytes())
    };
    fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path()).filter(has).collect()
}

fn alive(word: &str) -> usize {
    with(word).len()
}

fn is_stopped(word: &str) -> bool {
    let status = with(word).first().map(|process| fs::read_to_string(process.join("status")).unwrap_or_default());
    status.is_some_and(|status| status.contains("State:\tT"))
}

/// As on a kernel without Landlock: then the step can send signals to pid 1.
fn without_landlock(command: &mut Command) {
    refuse(command, libc::SYS_landlock_create_ruleset, None, libc::ENOSYS);
}

#[test]
fn without_landlock_it_goes_on_and_check_says_so() {
    let factory = factory("", "kill -0 1 && echo reached; exit 3");
    let mut command = factory.command();
    without_landlock(command.args(["run", "s", "--attempt", "a"]));
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(3), b"reached\n".into()));
    let mut check = factory.command();
    without_landlock(check.args(["sandbox", "check", "--json"]));
    let report: serde_json::Value = serde_json::from_slice(&check.output().unwrap().stdout).unwrap();
    assert_eq!((&report["available"], &report["landlock"]["protects"]), (&true.into(), &false.into()), "{report}");
    assert_eq!(
        (&report["landlock"]["why"], report["landlock"]["abi"].is_null()),
        (&"the kernel is built without Landlock".into(), true)
    );
}

#[test]
fn what_cannot_be_set_up_is_a_refusal_that_names_it() {
    for (number, when, errno, said) in [
        (libc::SYS_landlock_create_ruleset, None, libc::EPERM, "Landlock: EPERM"),
        (libc::SYS_landlock_restrict_self, None, libc::E2BIG, "Landlock: E2BIG"),
        (libc::SYS_prctl, Some((0, libc::PR_SET_SECCOMP as u32)), libc::EINVAL, "the filter of system calls: EINVAL"),
    ] {
        let factory = factory("", "echo executed");
        let mut command = factory.command();
        refuse(command.args(["run", "s", "--attempt", "a"]), number, when, errno);
        let output = command.output().unwrap();
        assert_eq!((output.status.code(), output.stdout), (Some(125), Vec::new()), "{said}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains(&format!("setup-failed: {said}")), "{told}");
    }
}

#[test]
fn pid_1_stays_whatever_the_step_does_to_it() {
    // Every signal a thousand times and more than can wait at once, from many; then as root of a user namespace of its own.
    let script = "echo up; for p in 1 2 3 4; do perl -e 'for (1..20000) { kill 17, 1; kill 28, 1; kill 40, 1; kill 64, 1 }' & done\n\
        (kill -STOP 1; kill -KILL 1; kill -TSTP 1) 2>/dev/null; unshare -r sh -c 'kill -KILL 1; kill -STOP 1' 2>/dev/null\n\
        perl -e '$! = 0; syscall(PTRACE, 16, 1, 0, 0); print \"traced\\n\" unless $!{EPERM}' ; wait; exit 4";
    // Another on each architecture.
    let script = script.replace("PTRACE", &libc::SYS_ptrace.to_string());
    for without in [false, true] {
        let factory = factory("", &script);
        let set = |command: &mut Command| {
            if without {
                without_landlock(command)
            }
        };
        let (mut child, mut out) = start_with(&factory, set);
        let mut said = String::new();
        out.read_to_string(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(4), ""), "without Landlock: {without}");
    }
}

#[test]
fn a_signal_that_asks_ends_a_step_within_two_seconds() {
    let mark = mark("125");
    for (signal, code) in [(Signal::SIGTERM, 143), (Signal::SIGINT, 130), (Signal::SIGHUP, 129)] {
        let factory = factory("", &format!("echo up; sleep {mark} & exec sleep {mark}"));
        let (mut child, _out) = start(&factory);
        let asked = Instant::now();
        send(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
        assert_eq!((&factory.outcome()["outcome"], alive(&mark)), (&"killed".into(), 0));
        factory.assert_no_temp();
    }
}

#[test]
fn a_step_that_ignores_it_is_killed_after_the_grace_however_often_it_is_asked() {
    let mark = mark("25");
    let script =
        format!("trap '' TERM INT HUP; (trap '' TERM; setsid sleep {mark}) & echo up; while :; do sleep 1; done");
    let factory = factory("", &script);
    let (mut child, _out) = start(&factory);
    let asked = Instant::now();
    for signal in [Signal::SIGINT, Signal::SIGINT, Signal::SIGTERM] {
        send(&child, signal);
    }
    assert_eq!(child.wait().unwrap().code(), Some(137));
    assert!((GRACE..GRACE + BUSY).contains(&asked.elapsed()), "{:?}", asked.elapsed());
    let outcome = factory.outcome();
    assert_eq!((&outcome["outcome"], &outcome["signal"], alive(&mark)), (&"killed".into(), &9.into(), 0));
}

#[test]
fn signals_that_come_with_the_steps_end_do_not_change_it() {
    for _ in 0..10 {
        let factory = factory("", "trap 'exit 5' TERM; echo up; while sleep 0.01; do :; done");
        let (mut child, _out) = start(&factory);
        let code = loop {
            match child.try_wait().unwrap() {
                Some(status) => break status.code(),
                None => send(&child, Signal::SIGTERM),
            }
        };
        assert_eq!(code, Some(5));
    }
}

#[test]
fn a_step_that_has_stopped_itself_is_killed_too() {
    let mark = mark("875");
    let factory = factory("", &format!("echo up; exec sh -c 'kill -STOP $$' {mark}"));
    let (mut child, _out) = start(&factory);
    wait_until(|| is_stopped(&mark));
    send(&child, Signal::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(137));
}

/// Removing it can take longer than a step may need to start.
#[test]
fn what_a_killed_one_left_is_removed_when_the_step_is_over() {
    let factory = factory("", "echo up; read -r line; exit 3");
    let left = factory.tmp().join("kusaw-private-killed");
    fs::DirBuilder::new().mode(0o700).create(&left).unwrap();
    fs::create_dir_all(left.join("tmp/part")).unwrap();
    let (mut child, _out) = start_with(&factory, |command| _ = command.stdin(Stdio::piped()));
    assert!(left.exists(), "removed before the step");
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
    factory.assert_no_temp();
}

#[test]
fn five_hundred_processes_go_with_the_step() {
    let mark = mark("5");
    let factory = factory("", &format!("for i in $(seq 500); do sleep {mark} & done; echo up; read -r line; exit 3"));
    let (mut child, _out) = start_with(&factory, |command| _ = command.stdin(Stdio::piped()));
    wait_until(|| alive(&mark) == 500);
    drop(child.stdin.take());
    assert_eq!((child.wait().unwrap().code(), alive(&mark)), (Some(3), 0));
}

/// `ulimit -f` of the caller: the write fails, and kusaw goes on to the step's end.
#[test]
fn output_past_the_callers_limit_on_files_does_not_end_kusaw() {
    let factory = factory("", "echo up >&2; head -c 1000000 /dev/zero; exit 7");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 1000; exec \"$0\" \"$@\" >limited"]).current_dir(factory.path());
    let kusaw = factory.command();
    command.arg(kusaw.get_program()).args(kusaw.get_args()).args(["run", "s", "--attempt", "a"]).env_clear();
    command.envs(kusaw.get_envs().filter_map(|(name, value)| Some((name, value?)))).stdin(Stdio::null());
    assert_eq!(command.stderr(Stdio::null()).status().unwrap().code(), Some(7));
    factory.assert_no_temp();
}

#[test]
fn a_daemon_that_keeps_or_fills_the_output_holds_nobody() {
    let mark = mark("75");
    let script = format!("setsid sh -c 'echo daemon; exec yes {mark}' & setsid sleep {mark} & read -r line; exit 5");
    let factory = factory("", &script);
    // A pipe goes in as it is, a file is pumped.
    let mut command = factory.command();
    command.args(["run", "s", "--attempt", "a"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    for _ in ["daemon", &mark] {
        out.read_line(&mut String::new()).unwrap();
    }
    drop(child.stdin.take());
    // Its end comes, although the daemon would write for ever.
    std::io::copy(&mut out, &mut std::io::sink()).unwrap();
    assert_eq!((child.wait().unwrap().code(), alive(&mark)), (Some(5), 0));
    let file = factory.home().join("out");
    let mut command = factory.command();
    command.args(["run", "s", "--attempt", "b"]).stdin(Stdio::piped()).stdout(File::create(&file).unwrap());
    let mut child = command.spawn().unwrap();
    wait_until(|| fs::metadata(&file).unwrap().len() > 0);
    drop(child.stdin.take());
    assert_eq!((child.wait().unwrap().code(), alive(&mark)), (Some(5), 0));
}

#[test]
fn what_nohup_and_shells_have_ignored_does_not_end_the_step() {
    let factory = factory("", "echo up; read -r line; exit 6");
    let mut command = Command::new("sh");
    let kusaw = factory.command();
    command.args(["-c", "trap '' HUP INT; exec \"$@\"", "sh"]).arg(kusaw.get_program()).args(kusaw.get_args());
    command
        .args(["run", "s", "--attempt", "a"])
        .envs(kusaw.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    for signal in [Signal::SIGHUP, Signal::SIGINT] {
        send(&child, signal);
    }
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(6));
}
