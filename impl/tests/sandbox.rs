//! The launch as a whole, with the real bubblewrap: works as root and as any other user.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::fs;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use factory::{Factory, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

const REQUIRED: &str = "sandbox: {mode: required}\nrepos: {demo: {path: ../demo}}\nsteps:\n";

fn step(script: &str) -> Factory {
    let factory = Factory::new("");
    // A JSON string is a YAML string, whatever is in it.
    let quoted = serde_json::to_string(script).unwrap();
    let settings = format!("{REQUIRED}  s:\n    repos: [demo]\n    run: [bash, -c, {quoted}]\n");
    fs::write(factory.path().join("kusaw.yaml"), settings).unwrap();
    factory.repo();
    factory
}

fn allowlist(allow: &str, script: &str) -> Factory {
    let factory = step(script);
    let file = factory.path().join("kusaw.yaml");
    let settings = fs::read_to_string(&file).unwrap();
    let block = format!("sandbox: {{mode: required, network: allowlist, egress: {{allow: [{allow}]}}}}");
    fs::write(&file, settings.replacen("sandbox: {mode: required}", &block, 1)).unwrap();
    factory
}

#[test]
fn codes_and_signals_are_the_steps_own() {
    for (script, code, signal, outcome) in [
        ("true", 0, None, "succeeded"),
        ("exit 37", 37, None, "failed"),
        ("kill -TERM $$", 143, Some(15), "killed"),
        ("kill -KILL $$", 137, Some(9), "killed"),
    ] {
        let factory = step(script);
        factory.run("s").code(code);
        let record = factory.outcome();
        assert_eq!((&record["exit_code"], &record["outcome"]), (&code.into(), &outcome.into()));
        assert_eq!(record["signal"].as_i64(), signal);
        assert_eq!(record["sandbox"]["backend"], "bubblewrap");
        factory.assert_no_temp();
    }
}

#[test]
fn a_program_that_is_not_there_or_not_executable_is_told() {
    for (run, code, reason, said) in [
        ("[nothere]", 127, "not-found", "not-found: \"nothere\": no such file inside the sandbox"),
        ("[/etc/passwd]", 126, "cannot-execute", "cannot-execute: \"/etc/passwd\": Permission denied"),
    ] {
        let factory = Factory::new(&format!("sandbox: {{mode: required}}\nsteps: {{s: {{run: {run}}}}}"));
        let told = factory.run("s").code(code).get_output().stderr.clone();
        assert_eq!(factory.outcome()["reason"], reason);
        assert!(String::from_utf8(told).unwrap().contains(said));
    }
    // In the private home inside there is no such program.
    let factory = Factory::new("sandbox: {mode: required}\nsteps: {s: {run: [mytool]}}");
    let tool = factory.home().join("mytool");
    fs::copy("/bin/true", &tool).unwrap();
    let path = format!("{}:/usr/bin:/bin", factory.home().display());
    let told = factory.run_with("s", &[("PATH", &path)]).code(127).get_output().stderr.clone();
    assert!(String::from_utf8(told).unwrap().contains(&format!("fix: {} is not shown", tool.display())));
}

#[test]
fn the_home_is_hidden_and_writes_stay_in_their_places() {
    let factory = step(
        "cat ~/.ssh/id; ls -A ~; echo w > new; echo a > ../../artifacts/a; echo t > $TMPDIR/t; echo h > ~/h\n\
         for f in /x /etc/x /usr/x /run/x /dev/x ../x ../../x ../../events.jsonl .git; do echo x > $f && echo \"wrote $f\"; done 2>/dev/null\n\
         mv .git g 2>/dev/null && echo moved; chmod 000 $TMPDIR; true",
    );
    fs::create_dir(factory.home().join(".ssh")).unwrap();
    fs::write(factory.home().join(".ssh/id"), "secret").unwrap();
    factory.run("s").code(0).stdout("");
    assert_eq!(fs::read_to_string(factory.attempt().join("worktrees/demo/new")).unwrap(), "w\n");
    assert_eq!(fs::read_to_string(factory.attempt().join("artifacts/a")).unwrap(), "a\n");
    assert!(!factory.home().join("h").exists());
    factory.assert_no_temp();
}

#[test]
fn a_step_starts_in_its_first_repo_and_writes_in_all_of_its_own_only() {
    let factory = Factory::new(
        "sandbox: {mode: required}\nrepos: {a: {path: ../a}, b: {path: ../b}, c: {path: ../c}}\nsteps:\n  s:\n    \
         repos: [b, a]\n    run: [sh, -c, 'basename $(pwd); ls ..; echo x > ../a/new; cat ../../../../../c/file; true']\n",
    );
    factory.repo_named("a").repo_named("b").repo_named("c");
    factory.run("s").code(0).stdout("b\na\nb\n");
    assert!(factory.attempt().join("worktrees/a/new").exists());
    assert!(!factory.attempt().join("worktrees/c").exists());
}

#[test]
fn only_listed_variables_are_inside_and_no_descriptor_but_three() {
    let factory = step("env -0 | tr '\\0' '\\n' | cut -d= -f1 | sort | tr '\\n' ' '; ls /proc/self/fd | wc -l");
    let assert = factory.run_with("s", &[("SSH_AUTH_SOCK", "/x"), ("API_KEY", "secret"), ("TERM", "dumb")]);
    // bash adds PWD, SHLVL and _; ls itself holds a fourth descriptor.
    assert.code(0).stdout("GIT_CONFIG_SYSTEM HOME PATH PWD SHLVL TERM TMPDIR XDG_CACHE_HOME XDG_RUNTIME_DIR _ 4\n");
}

#[test]
fn a_file_as_stdin_cannot_be_changed() {
    let factory = step("cat; echo evil > /proc/self/fd/0; chmod 777 /proc/self/fd/0; true");
    let file = factory.home().join("input");
    fs::write(&file, "data").unwrap();
    let mut command = factory.command();
    command.args(["run", "s"]).stdin(fs::File::open(&file).unwrap()).stderr(Stdio::null());
    assert_eq!(command.output().unwrap().stdout, b"data");
    assert_eq!(fs::read_to_string(&file).unwrap(), "data");
}

/// One request to the proxy, without any tool but bash.
const ASK: &str = "ask() { exec 3<>/dev/tcp/127.0.0.1/3128; printf \"$1\" >&3; IFS= read -r line <&3; echo \"${line%?}\"; exec 3>&-; }\n";

#[test]
fn a_blocked_host_is_refused_logged_and_summed_up() {
    let script = format!(
        "{ASK}ask 'CONNECT evil.example:443 HTTP/1.1\\r\\n\\r\\n'; ask 'CONNECT EVIL.example.:80 HTTP/1.1\\r\\n\\r\\n'; kill -9 $$"
    );
    let factory = allowlist("good.invalid", &script);
    factory.run("s").code(137).stdout("HTTP/1.1 403 Forbidden\nHTTP/1.1 403 Forbidden\n");
    let log = factory.lines("egress.log");
    assert_eq!(log.len(), 1);
    assert_eq!(
        (&log[0]["host"], &log[0]["port"], &log[0]["via"]),
        (&"evil.example".into(), &443.into(), &"connect".into())
    );
    let events = factory.lines("events.jsonl");
    assert_eq!(events.len(), 2);
    assert_eq!(events[0]["type"], "egress.blocked");
    assert_eq!((&events[1]["type"], &events[1]["blocked_total"]), (&"egress.summary".into(), &2.into()));
}

#[test]
fn sixty_blocked_hosts_are_fifty_lines() {
    let script = format!(
        "{ASK}for i in $(seq 60); do ask \"GET http://h$i.example/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n\"; done | sort | uniq -c | tr -s ' '"
    );
    let factory = allowlist("good.invalid", &script);
    factory.run("s").code(0).stdout(" 60 HTTP/1.1 403 Forbidden\n");
    assert_eq!(factory.lines("egress.log").len(), 50);
    let events = factory.lines("events.jsonl");
    assert_eq!((events.len(), &events[50]["blocked_distinct"]), (51, &60.into()));
}

#[test]
fn an_allowed_port_of_localhost_is_reached_and_no_other() {
    let origin = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = origin.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in origin.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 Origin\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
        }
    });
    let script = format!(
        "{ASK}ask 'GET http://localhost:{port}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'; ask 'CONNECT 127.0.0.1:{port} HTTP/1.0\\r\\n\\r\\n'\n\
         ask 'CONNECT localhost:1 HTTP/1.1\\r\\n\\r\\n'; exec 4<>/dev/tcp/127.0.0.1/{port} && echo direct; (exec 5<>/dev/tcp/127.0.0.1/1) 2>/dev/null || echo closed"
    );
    let factory = allowlist(&format!("'localhost:{port}'"), &script);
    factory.run("s").code(0).stdout("HTTP/1.1 200 Origin\nHTTP/1.0 200 OK\nHTTP/1.1 403 Forbidden\ndirect\nclosed\n");
}

#[test]
fn a_signal_reaches_the_step_and_the_records_are_written() {
    let factory = allowlist("good.invalid", "trap 'echo asked; exit 5' TERM; echo up; sleep 60 & wait");
    let mut child = factory.command().args(["run", "s", "--attempt", "a"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert_eq!(factory.outcome()["exit_code"], 5);
    assert_eq!(factory.lines("events.jsonl").len(), 1);
    factory.assert_no_temp();
}

#[test]
fn when_kusaw_is_killed_so_is_everything_and_the_next_run_clears_up() {
    let factory = step("echo up; setsid sleep 4242.25 & sleep 4242.25");
    let mut child = factory.command().args(["run", "s"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let sleeps = |entry: fs::DirEntry| fs::read(entry.path().join("cmdline")).is_ok_and(|c| c == b"sleep\x004242.25\0");
    let alive = || fs::read_dir("/proc").unwrap().flatten().any(sleeps);
    wait_until(|| !alive());
    let quick = Factory::new("sandbox: {mode: required}\nsteps: {s: {run: [\"true\"]}}");
    quick.run_with("s", &[("TMPDIR", factory.tmp().to_str().unwrap())]).code(0);
    factory.assert_no_temp();
}

/// A command whose step writes so many bytes to a socket, then says so beside it.
fn talkative(bytes: usize, stdout: UnixStream) -> (Factory, Command) {
    let factory = step(&format!("head -c {bytes} /dev/zero; touch ../../artifacts/done"));
    let mut command = factory.command();
    command.args(["run", "s", "--attempt", "a"]).stdout(OwnedFd::from(stdout)).stderr(Stdio::piped());
    (factory, command)
}

#[test]
fn a_slow_reader_gets_all_of_the_output() {
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let (_factory, mut command) = talkative(300_000, theirs);
    let child = command.spawn().unwrap();
    drop(command);
    let mut got = 0;
    loop {
        std::thread::sleep(Duration::from_millis(200));
        match ours.read(&mut [0; 16 << 10]).unwrap() {
            0 => break,
            n => got += n,
        }
    }
    let out = child.wait_with_output().unwrap();
    assert_eq!((got, out.status.code()), (300_000, Some(0)));
    assert!(!String::from_utf8(out.stderr).unwrap().contains("lost"));
}

#[test]
fn output_that_nobody_takes_is_given_up_at_a_signal_and_said_to_be_lost() {
    let (_ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    while (&theirs).write(&[0; 512]).is_ok() {}
    theirs.set_nonblocking(false).unwrap();
    let (factory, mut command) = talkative(50_000, theirs);
    let mut child = command.spawn().unwrap();
    wait_until(|| factory.attempt().join("artifacts/done").exists());
    // More than one: the first may still be the step's.
    while child.try_wait().unwrap().is_none() {
        let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM);
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("output is lost"), "{said}");
}

#[test]
fn check_tries_both_networks() {
    let factory = Factory::new("");
    let mut command = Command::new("unshare");
    let limited = "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$@\"";
    command.args(["--user", "--map-root-user", "sh", "-c", limited, "sh", env!("CARGO_BIN_EXE_kusaw")]);
    let out = command.args(["sandbox", "check", "--json"]).env("HOME", factory.home()).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&report["available"], &report["reason"]), (&false.into(), &"userns-limit".into()), "{report}");
    assert!(report["detail"].as_str().unwrap().contains("network: allowlist"), "{report}");
}

#[test]
fn check_tries_a_real_launch_and_prints_the_limits() {
    let factory = Factory::new("");
    let out = factory.command().args(["sandbox", "check", "--json"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&report["available"], &report["backend"]), (&true.into(), &"bubblewrap".into()), "{report}");
    assert_eq!(report["filter"]["protects"], true, "{report}");
    let scopes = kusaw_enter::landlock::has_scopes().unwrap();
    assert_eq!(
        (&report["landlock"]["protects"], report["landlock"]["why"].is_null()),
        (&scopes.into(), scopes),
        "{report}"
    );
    let out = factory.command().args(["sandbox", "check", "--verbose"]).output().unwrap();
    assert!(
        String::from_utf8(out.stdout).unwrap().contains("- Anything in sandbox.allow_read or sandbox.allow_write.")
    );
    let mut without = factory.command();
    let out = without.env("PATH", "/nonexistent").args(["sandbox", "check", "--json"]).output().unwrap();
    let report: serde_json::Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((out.status.code(), &report["reason"]), (Some(1), &"no-bwrap".into()));
    assert!(report["fix"].as_str().unwrap().contains("bubblewrap"));
}
