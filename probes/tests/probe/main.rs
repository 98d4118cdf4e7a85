//! The probe as its callers see it: lines, exit codes, and facts that another program confirms.

#![allow(clippy::unwrap_used, reason = "a test's helpers may panic as its tests do")]

mod ends;
mod files;
mod ipc;
mod kernel;
mod keys;
mod left;
mod mounts;
mod namespaces;
mod network;
mod others;
mod processes;
mod sockets;
mod sweeps;
mod terminal;
mod victim;

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};

use nix::unistd::geteuid;
use serde_json::{Value, json};
use tempfile::TempDir;

const NOBODY: u32 = 65_534;

fn probe() -> Command {
    Command::new(env!("CARGO_BIN_EXE_kusaw-probe"))
}

/// The probe as a user that is not root, from a folder that others can see into.
fn ordinary() -> (TempDir, Command) {
    let (folder, path) = folder();
    let program = format!("{path}/kusaw-probe");
    // By another process: a file that one of a test's other threads holds open for writing cannot be executed
    // (ETXTBSY).
    assert!(Command::new("cp").args([env!("CARGO_BIN_EXE_kusaw-probe"), &program]).status().unwrap().success());
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(program);
    if geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    (folder, command)
}

/// Runs words as an ordinary user.
fn as_ordinary(words: &str) -> Vec<Value> {
    let (_folder, mut probe) = ordinary();
    reported(probe.args(words.split(' ')).output().unwrap())
}

/// Runs words split at blanks; every line must be JSON with a seal, the last one the end, the exit code 37.
fn lines(words: &str) -> Vec<Value> {
    reported(probe().args(words.split(' ')).output().unwrap())
}

fn reported(output: Output) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(37), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<Value> = text.lines().map(unsealed).collect();
    assert_eq!(lines.pop(), Some(json!({"probe": 1, "end": true})));
    lines
}

/// A line without its seal.
fn unsealed(line: &str) -> Value {
    let mut line: Value = serde_json::from_str(line).unwrap();
    let seal = line.as_object_mut().unwrap().remove("seal");
    assert_eq!(seal.unwrap().as_str().unwrap().len(), 16, "16 hexadecimal digits");
    line
}

fn one(words: &str) -> Value {
    let mut lines = lines(words);
    assert_eq!(lines.len(), 1);
    lines.remove(0)
}

fn folder() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    (folder, path)
}

#[test]
fn a_line_has_the_agreed_members() {
    let line = one("read /nonexistent");
    assert_eq!(line["probe"], 1);
    assert_eq!(line["action"], "read");
    assert_eq!(line["target"], "/nonexistent");
    assert_eq!(line["ok"], false);
    assert_eq!(line["errno"], "ENOENT");
    assert_eq!(line["detail"], json!({}));
    assert!(line["us"].is_u64());
}

#[test]
fn a_usage_error_is_found_before_anything_runs() {
    let (_folder, path) = folder();
    for words in WRONG {
        let file = format!("{path}/x");
        let output = probe().args(["write", &file, "text", "+"]).args(words.split(' ')).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}");
        assert!(output.stdout.is_empty());
        assert_eq!(String::from_utf8(output.stderr).unwrap().lines().count(), 1, "{words}");
        assert!(!fs::exists(file).unwrap());
    }
    assert_eq!(probe().output().unwrap().status.code(), Some(2));
}

const WRONG: &[&str] = &[
    "",
    "reed /a",
    "read",
    "write /a",
    "append /a",
    "rename /a",
    "chmod 8 /a",
    "chmod 17777 /a",
    "exec",
    "connect nowhere",
    "connect --proxy socks a:1",
    "sweep /",
    "write-sweep",
    "write-sweep /nonexistent --name a/b",
    "write-sweep /nonexistent --name ..",
    "processes x",
    "processes --find",
    "descriptors x",
    "socket --type raw /a",
    "keyring a b",
    "keys",
    "add-key a",
    "pids",
    "pids a b",
    "status 0",
    "status 1 2",
    "namespaces x",
    "ids x",
    "kill",
    "kill -1 TERM",
    "kill 1 term",
    "flood 1 TERM",
    "flood 1 TERM 0",
    "ptrace",
    "memory --find",
    "memory --find  1",
    "pidfd 1 -1",
    "kcmp",
    "setns 1 all",
    "unshare",
    "unshare mnt all",
    "userns x",
    "sethostname",
    "ipcs x",
    "shm 0",
    "shm key",
    "shm-write 1",
    "shm-make 1",
    "sem",
    "sem-add 1 40000",
    "queue 0x",
    "queue-send 1",
    "mq",
    "mq-send a",
    "sem-named",
    "tty 0 1",
    "open-tty x",
    "tiocsti 0",
    "tioclinux",
    "tiocsctty --setsid",
    "mount /a",
    "mount --tmpfs --proc /a",
    "mount --bind /a",
    "umount",
    "remount --ro",
    "private",
    "mount-setattr",
    "fsopen",
    "open-tree /a",
    "pivot-root /a",
    "chroot",
    "handle",
    "fill /a many",
    "bpf x",
    "perf 0",
    "userfaultfd x",
    "io-uring unix",
    "socket-type tcp",
    "memfd-exec",
    "print many",
    "sleep -1",
    "exit 256",
    "self-signal NONE",
    "linger",
    "daemon --setsid",
    "daemon mark --seconds 601",
    "spawn 0 mark",
    "spawn 1",
];

#[test]
fn argv_and_environment_are_those_of_the_process() {
    let (folder, path) = folder();
    let odd = std::ffi::OsStr::from_bytes(b"\xff\n\"");
    let mut command = probe();
    command.args(["argv", "one two", ""]).arg(odd).args(["+", "env", "A", "B", "+", "env"]);
    let output = command.env_clear().env("A", "1").env("C", odd).current_dir(folder.path()).output().unwrap();
    let seen = reported(output);
    let argv = &seen[0]["detail"]["argv"];
    assert_eq!(argv[2], "one two");
    assert_eq!(argv[3], "");
    assert_eq!(argv[4], "\u{fffd}\n\"");
    assert_eq!(argv.as_array().unwrap().len(), 11);
    assert_eq!(seen[0]["detail"]["cwd"], fs::canonicalize(path).unwrap().to_str().unwrap());
    assert_eq!(seen[0]["detail"]["ppid"], std::process::id());
    assert_eq!(seen[1]["detail"], json!({"vars": {"A": "1"}}));
    assert_eq!(seen[2]["detail"], json!({"vars": {"A": "1", "C": "\u{fffd}\n\""}}));
}
