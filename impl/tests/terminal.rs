//! A step on a terminal: it has one of its own, and the user does not notice. Each test has a terminal of its own, on which
//! kusaw runs as from a shell.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs::{self, File};
use std::io::Read;
use std::process::{Command, Stdio};

use factory::fault::refuse;
use factory::tty::Tty;
use factory::{Factory, factory, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, SpecialCharacterIndices};
use nix::unistd::Pid;

fn run(factory: &Factory) -> Command {
    let mut command = factory.command();
    command.args(["run", "s", "--attempt", "a"]);
    command
}

/// A shell that runs it as `"$@"`.
fn shell(program: &str, script: &str, kusaw: &Command) -> Command {
    let mut shell = Command::new(program);
    shell.args(["-c", script, "sh"]).arg(kusaw.get_program()).args(kusaw.get_args());
    shell.envs(kusaw.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

fn line(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args()).map(|word| word.to_str().unwrap());
    words.collect::<Vec<_>>().join(" ")
}

fn on_a_terminal(script: &str) -> (Factory, Tty) {
    let factory = factory("", script);
    let mut tty = Tty::open(41, 133);
    tty.run(&run(&factory));
    (factory, tty)
}

#[test]
fn the_step_has_a_terminal_of_its_own_in_the_users_size() {
    let script = "for n in 0 1 2; do [ -t $n ] && echo \"$n is one\"; done; tty; stty size; echo own >/dev/tty\n\
        ls -1 /dev/pts; cut -d' ' -f7 /proc/$$/stat";
    // Alone, and beside the listeners of the proxy.
    for network in ["", "network: allowlist"] {
        let factory = factory(network, script);
        let mut tty = Tty::open(41, 133);
        tty.run(&run(&factory));
        assert_eq!(tty.until("\r\n2 is one\r\n").matches(" is one").count(), 3);
        // The first of a devpts of its own, and the session's.
        tty.until("/dev/pts/0\r\n41 133\r\nown\r\n0\r\nptmx\r\n34816\r\n");
        assert_eq!(tty.end(), (Some(0), String::new()));
    }
}

#[test]
fn keys_are_bytes_for_a_step_that_wants_them_and_the_users_modes_go_in_and_come_back() {
    let factory =
        factory("", "stty -a | grep -o 'intr = [^;]*'; stty raw -echo; echo up; head -c 4 | od -An -tx1; exit 3");
    let mut tty = Tty::open(24, 80);
    tty.set_modes(|modes| modes.control_chars[SpecialCharacterIndices::VINTR as usize] = 7);
    let before = tty.modes();
    tty.run(&run(&factory));
    tty.until("intr = ^G\r\n");
    tty.until("up");
    assert!(!tty.modes().local_flags.intersects(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG));
    tty.type_in("\x03\x1a\x04\x07");
    tty.until("03 1a 04 07");
    assert_eq!(tty.end().0, Some(3));
    assert_eq!(tty.modes(), before);
}

#[test]
fn what_is_typed_is_seen_once_and_ctrl_d_ends_it() {
    let (_factory, mut tty) = on_a_terminal("echo up; cat; echo end");
    tty.until("up\r\n");
    tty.type_in("abc\r");
    assert_eq!(tty.until("abc\r\nabc\r\n"), "abc\r\nabc\r\n");
    tty.type_in("\x04");
    tty.until("end\r\n");
    assert_eq!(tty.end().0, Some(0));
}

#[test]
fn ctrl_c_ends_a_step_and_its_children_or_is_its_own_affair() {
    let (factory, mut tty) = on_a_terminal("echo up; sleep 999 & sleep 999");
    tty.until("up");
    tty.type_in("\x03");
    assert_eq!(tty.end().0, Some(130));
    assert_eq!((&factory.outcome()["signal"], &factory.outcome()["outcome"]), (&2.into(), &"killed".into()));
    let (_factory, mut tty) = on_a_terminal("trap 'echo mine; exit 7' INT; echo up; read line");
    tty.until("up");
    tty.type_in("\x03");
    tty.until("mine");
    assert_eq!(tty.end().0, Some(7));
}

#[test]
fn the_windows_size_follows() {
    let (_factory, mut tty) = on_a_terminal("trap 'stty size; exit 4' WINCH; echo up; while sleep 0.1; do :; done");
    tty.until("up\r\n");
    tty.resize(7, 77);
    tty.until("7 77\r\n");
    assert_eq!(tty.end().0, Some(4));
}

/// A program that has sent its 0, 1 and 2 elsewhere still asks its user by /dev/tty.
#[test]
fn the_terminal_is_there_again_after_nobody_was_on_it() {
    let (_factory, mut tty) = on_a_terminal(
        "exec </dev/null >/dev/null 2>&1; sleep 0.3; echo later >/dev/tty; read line </dev/tty; exit $line",
    );
    tty.until("later\r\n");
    tty.type_in("4\r");
    assert_eq!(tty.end().0, Some(4));
}

#[test]
fn a_shell_inside_has_job_control() {
    let (_factory, mut tty) = on_a_terminal("PS1='in> ' exec bash --norc -i");
    tty.until("in> ");
    tty.type_in("sh -c 'echo m$((40+2)); exec sleep 999'\r");
    tty.until("m42\r\n");
    tty.type_in("\x1a");
    tty.until("Stopped");
    tty.until("in> ");
    tty.type_in("kill %1; fg; exit 6\r");
    assert_eq!(tty.end().0, Some(6));
}

#[test]
fn ctrl_z_does_not_stop_a_step_without_a_shell() {
    let (_factory, mut tty) = on_a_terminal("echo up; read -r line; echo \"got $line\"");
    tty.until("up\r\n");
    tty.type_in("\x1aon\r");
    tty.until("got on\r\n");
    assert_eq!(tty.end().0, Some(0));
}

#[test]
fn only_what_is_the_terminal_is_one_inside() {
    let factory = factory(
        "",
        "for n in 0 1 2; do [ -t $n ] && echo \"$n is one\"; done; read -r line; echo \"got $line\"; echo e >&2",
    );
    let mut tty = Tty::open(24, 80);
    tty.run_with(&run(&factory), |command| _ = command.stdout(Stdio::piped()));
    let mut stdout = tty.child().stdout.take().unwrap();
    tty.type_in("typed\r");
    let mut said = String::new();
    stdout.read_to_string(&mut said).unwrap();
    assert_eq!(said, "0 is one\n2 is one\ngot typed\n");
    tty.until("e\r\n");
    assert_eq!(tty.end().0, Some(0));
}

#[test]
fn with_no_terminal_but_stdout_the_step_has_none() {
    let factory = factory("", "for n in 0 1 2; do [ -t $n ] && echo \"$n is one\"; done; cat; echo no >/dev/tty");
    let mut tty = Tty::open(24, 80);
    tty.run(&shell("sh", "exec \"$@\" </dev/null", &run(&factory)));
    assert!(tty.until("/dev/tty: No such device or address").lines().all(|line| !line.contains(" is one")));
    assert_eq!(tty.end().0, Some(1));
}

#[test]
fn a_terminal_by_the_name_dev_tty_is_the_same() {
    let factory =
        factory("", "for n in 0 1 2; do [ -t $n ] && echo \"$n is one\"; done; read -r line </dev/tty; exit 5");
    let mut tty = Tty::open(24, 80);
    tty.run(&shell("sh", "exec \"$@\" </dev/tty", &run(&factory)));
    tty.until("0 is one\r\n1 is one\r\n2 is one\r\n");
    tty.type_in("go\r");
    assert_eq!(tty.end().0, Some(5));
}

#[test]
fn lines_and_an_end_that_were_typed_too_early_are_the_steps() {
    let factory = factory("", "cat; echo end");
    let mut tty = Tty::open(24, 80);
    tty.type_in("one\rtwo\r\x04");
    tty.run(&run(&factory));
    tty.until("end\r\n");
    assert_eq!(tty.end().0, Some(0));
}

#[test]
fn however_much_was_typed_too_early_the_step_starts_and_gets_all_of_it() {
    let lines = "a line that was typed before anything was there to read it\r".repeat(7_000);
    let flooded = |script: &str| {
        let factory = factory("", script);
        let mut tty = Tty::open(24, 80);
        tty.type_in(&lines[..8 << 10]);
        tty.go_on_typing(format!("{}\x04", &lines[8 << 10..]));
        tty.run(&run(&factory));
        (factory, tty)
    };
    let (_factory, mut tty) = flooded("echo STARTED; exec sleep 999");
    tty.until("STARTED");
    kill(Pid::from_raw(tty.child().id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(tty.end().0, Some(143));
    let (_factory, mut tty) = flooded("echo lines: $(grep -c 'typed before'); exit 5");
    tty.until("lines: 7000\r");
    assert_eq!(tty.end().0, Some(5));
}

#[test]
fn all_of_much_output_is_shown() {
    let (_factory, mut tty) = on_a_terminal("head -c 3000000 /dev/zero | tr '\\0' '#'; echo; echo end");
    assert_eq!(tty.until("\r\nend\r\n").matches('#').count(), 3_000_000);
    assert_eq!(tty.end().0, Some(0));
}

#[test]
fn the_modes_come_back_from_a_refusal_and_from_a_signal() {
    let factory = Factory::new("sandbox: {mode: required}\nsteps: {s: {run: [nothere]}}");
    let mut tty = Tty::open(24, 80);
    let before = tty.modes();
    tty.run(&run(&factory));
    tty.until("\"nothere\": no such file");
    assert_eq!((tty.end().0, tty.modes() == before), (Some(127), true));
    let other = Factory::new("sandbox: {mode: required}\nsteps: {s: {run: ['true']}}");
    tty.run_with(&run(&other), |command| {
        refuse(command, libc::SYS_ioctl, Some((1, libc::TIOCGPTPEER as u32)), libc::EIO)
    });
    tty.until("setup-failed: the step's terminal: EIO");
    assert_eq!((tty.end().0, tty.modes() == before), (Some(125), true));
    let (_factory, mut tty) = on_a_terminal("echo up; exec sleep 999");
    tty.until("up");
    kill(Pid::from_raw(tty.child().id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!((tty.end().0, tty.modes() == before), (Some(143), true));
}

#[test]
fn when_the_window_is_closed_the_step_ends() {
    for script in ["echo up; exec sleep 999", "echo up; sleep 999 & while :; do echo more; done"] {
        let (factory, mut tty) = on_a_terminal(script);
        tty.until("up");
        assert_eq!(tty.hang_up().wait().unwrap().code(), Some(129), "{script}");
        assert_eq!(factory.outcome()["signal"], 1);
        factory.assert_no_temp();
    }
}

#[test]
fn who_ignores_hangups_goes_on_without_a_terminal_and_does_not_ask_it_again() {
    let factory = factory("", "echo up; until [ -e ../../artifacts/go ]; do echo more; sleep 0.05; done; exit 8");
    let mut tty = Tty::open(24, 80);
    tty.run(&shell("sh", "trap '' HUP; exec \"$@\"", &run(&factory)));
    tty.until("up");
    let mut kusaw = tty.hang_up();
    let threads = || fs::read_dir(format!("/proc/{}/task", kusaw.id())).unwrap().flatten();
    let name = |thread: fs::DirEntry| fs::read_to_string(thread.path().join("comm")).unwrap_or_default();
    wait_until(|| !threads().any(|thread| name(thread) == "kusaw-keys\n"));
    fs::write(factory.attempt().join("artifacts/go"), "").unwrap();
    assert_eq!(kusaw.wait().unwrap().code(), Some(8));
}

#[test]
fn in_the_background_it_takes_no_key_and_in_the_foreground_it_does() {
    let factory = factory("", "echo up; read -r line; echo \"got $line\"");
    let script =
        "set -m; \"$@\" & read -r line; echo \"shell $line\"; stty -a | grep -o -- '-*icanon'; fg; echo \"code $?\"";
    let mut tty = Tty::open(24, 80);
    tty.run(&shell("bash", script, &run(&factory)));
    tty.until("up");
    tty.type_in("one\r");
    tty.until("shell one\r\nicanon\r\n");
    tty.type_in("two\r");
    // Until it has looked, both terminals end a line in their way.
    tty.until("got two");
    tty.until("code 0\r\n");
    assert_eq!(tty.end().0, Some(0));
}

#[test]
fn stopped_it_leaves_the_terminal_to_the_shell_and_takes_it_again() {
    let factory = factory("", "echo up; read -r line; echo \"got $line\"; exit 4");
    let kusaw = run(&factory);
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-i"]).envs(kusaw.get_envs().filter_map(|(name, value)| Some((name, value?))));
    bash.env("PS1", "out> ").env("KUSAW", line(&kusaw));
    let mut tty = Tty::open(24, 80);
    tty.run(&bash);
    tty.until("out> ");
    tty.type_in("(echo pid $BASHPID.; exec $KUSAW)\r");
    tty.until("\r\npid ");
    let pid = tty.until(".\r\n").trim_end_matches(".\r\n").parse().unwrap();
    tty.until("up\r\n");
    kill(Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
    tty.until("out> ");
    tty.type_in("stty -a | grep -o -- '-*icanon '\r");
    tty.until("\r\nicanon \r\nout> ");
    // It runs on in the background, where it looks no more, and comes to the front without a signal.
    tty.type_in("bg\r");
    tty.until("exec");
    tty.until("out> ");
    tty.type_in("fg\r");
    tty.until("exec");
    wait_until(|| !tty.modes().local_flags.intersects(LocalFlags::ISIG | LocalFlags::ICANON));
    tty.type_in("on\r");
    tty.until("got on\r\nout> ");
    tty.type_in("exit $?\r");
    assert_eq!(tty.end().0, Some(4));
}

#[test]
fn two_on_one_terminal_have_the_keys_in_turn_and_leave_it_as_it_was() {
    let factory = factory("", "touch ../../artifacts/is-up; read -r line; echo \"got $line\"");
    let mut kusaw = factory.command();
    kusaw.args(["run", "s"]);
    let mut tty = Tty::open(24, 80);
    let before = tty.modes();
    // A shell without job control: both are in the foreground.
    tty.run(&shell("sh", "exec 3<&0; \"$@\" --attempt a <&3 & \"$@\" --attempt b <&3 & wait", &kusaw));
    let has = |id: &str, file: &str| factory.path().join("attempts").join(id).join(file).exists();
    wait_until(|| has("a", "artifacts/is-up") && has("b", "artifacts/is-up"));
    // The one that gets no key says so, and only that one, and once.
    tty.until("kusaw: warning: another kusaw has this terminal: ");
    tty.type_in("one\r");
    let mut said = tty.until("got one");
    wait_until(|| has("a", "outcome.json") || has("b", "outcome.json"));
    tty.type_in("two\r");
    said += &tty.until("got two");
    said += &tty.end().1;
    assert!(!said.contains("another kusaw"), "{said}");
    assert_eq!(tty.modes(), before);
}

#[test]
fn it_works_below_script() {
    let factory = factory("", "cat; stty size; exit 9");
    let kusaw = run(&factory);
    let mut script = Command::new("script");
    script
        .args(["-qec", &line(&kusaw), "/dev/null"])
        .envs(kusaw.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let input = factory.home().join("input");
    fs::write(&input, "a line\n").unwrap();
    let output = script.stdin(File::open(input).unwrap()).output().unwrap();
    assert_eq!(output.status.code(), Some(9), "{output:?}");
}

#[test]
fn nobody_is_asked_for_the_prompt_of_what_is_refused_anyway() {
    for (more, reason) in [("requires: [network]", "not-supported"), ("setup: []", "not-found")] {
        let step = format!("{{provider: cursor, {more}}}");
        let factory = Factory::new(&format!("sandbox: {{mode: required}}\nsteps: {{s: {step}}}\n"));
        let mut tty = Tty::open(24, 80);
        tty.run(&run(&factory));
        let (_, seen) = tty.end();
        assert!(seen.contains(reason) && !seen.contains("Ctrl-D"), "{seen}");
        assert_eq!(factory.outcome()["reason"], reason);
    }
}
