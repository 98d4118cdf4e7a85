//! What the probe leaves behind where it is told to.

#![allow(unsafe_code)]

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::victim::until;
use crate::{folder, lines, one, ordinary, probe, reported};

fn fields(pid: u64) -> Option<Vec<String>> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    Some(stat.rsplit_once(") ")?.1.split(' ').map(str::to_owned).collect())
}

fn kill(pid: u64, signal: &str) -> Value {
    one(&format!("kill {pid} {signal}"))
}

fn gone(pid: u64) -> bool {
    until(|| fields(pid).is_none_or(|fields| fields[0] == "Z"))
}

/// Its lines, and the pid that it leaves behind.
fn daemon(words: &str) -> (Vec<Value>, u64) {
    let seen = lines(&format!("daemon {words} + ids"));
    let pid = seen[0]["detail"]["pid"].as_u64().unwrap();
    (seen, pid)
}

#[test]
fn a_daemon_outlives_the_probe_and_gives_signs() {
    let (_folder, path) = folder();
    let mark = format!("daemon-{}", std::process::id());
    let (seen, pid) = daemon(&format!("{mark} --signs {path}/signs --seconds 20"));
    assert_eq!((&seen[0]["target"], &seen[1]["ok"]), (&json!(mark), &json!(true)));
    let size = || fs::metadata(format!("{path}/signs")).map_or(0, |it| it.len());
    assert!(until(|| size() > 0));
    let before = size();
    assert!(until(|| size() > before + 1));
    assert_eq!(one(&format!("pids {mark}"))["detail"]["pids"], json!([pid]));
    let ids = &seen[1]["detail"];
    assert_eq!(fields(pid).unwrap()[2..4], [ids["pgrp"].to_string(), ids["sid"].to_string()]);
    assert_eq!(kill(pid, "TERM")["ok"], true);
    assert!(gone(pid));
}

#[test]
fn a_daemon_ends_by_itself() {
    let (_, pid) = daemon("mark --seconds 1 --double");
    assert!(fields(pid).is_some());
    assert!(gone(pid));
}

#[test]
fn a_daemon_has_its_own_session_and_no_ear_if_told_so() {
    let (_, pid) = daemon("mark --setsid --ignore-term --seconds 20");
    assert_eq!(fields(pid).unwrap()[2..4], [pid.to_string(), pid.to_string()]);
    for signal in ["TERM", "INT", "HUP"] {
        assert_eq!(kill(pid, signal)["ok"], true);
    }
    std::thread::sleep(Duration::from_millis(100));
    assert_ne!(fields(pid).unwrap()[0], "Z");
    kill(pid, "KILL");
    assert!(gone(pid));
    let (seen, pid) = daemon("mark --setsid --double --seconds 20");
    let fields = fields(pid).unwrap();
    assert_eq!(fields[2], fields[3]);
    let session = seen[1]["detail"]["sid"].to_string();
    assert!(fields[2] != pid.to_string() && fields[3] != session, "{fields:?}");
    kill(pid, "KILL");
    assert!(gone(pid));
}

#[test]
fn a_daemon_keeps_stdout_open_if_told_so() {
    for (words, open) in [("daemon mark --double --seconds 1 --keep", true), ("daemon mark --seconds 60", false)] {
        let started = Instant::now();
        let mut child = probe().args(words.split(' ')).stdout(Stdio::piped()).spawn().unwrap();
        let mut out = child.stdout.take().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(37));
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        let seconds = if open { 1..20 } else { 0..50 };
        assert!(seconds.contains(&started.elapsed().as_secs()), "{words}: {:?}", started.elapsed());
        assert_eq!(text.lines().count(), 2, "the process that stays says nothing: {text}");
        let seen: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        if !open {
            assert_eq!(kill(seen["detail"]["pid"].as_u64().unwrap(), "KILL")["ok"], true);
        }
    }
}

#[test]
fn whoever_lingers_says_nothing() {
    let started = Instant::now();
    let output = probe().args(["argv", "+", "linger", "mark", "--seconds", "1"]).output().unwrap();
    assert!(started.elapsed() >= Duration::from_secs(1));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1);
}

#[test]
fn many_are_started_and_end_by_themselves() {
    let mark = format!("spawn-{}", std::process::id());
    let started = Instant::now();
    let seen = one(&format!("spawn 20 {mark} --seconds 3"));
    assert!(started.elapsed() < Duration::from_secs(3), "they hold nothing open");
    assert_eq!((&seen["ok"], &seen["detail"]), (&json!(true), &json!({"count": 20, "errno": null})));
    let there = || one(&format!("pids {mark}"))["detail"]["pids"].as_array().unwrap().len();
    assert_eq!(there(), 20);
    assert!(until(|| there() == 0));
}

#[test]
fn too_many_are_an_error() {
    let (_folder, mut probe) = ordinary();
    let limit = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
    // SAFETY: one system call, and the limit lives as long as the closure.
    unsafe {
        probe.pre_exec(move || match libc::setrlimit(libc::RLIMIT_NPROC, &raw const limit) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        })
    };
    let seen = reported(probe.args(["spawn", "5", "mark", "--seconds", "1"]).output().unwrap()).remove(0);
    assert_eq!(
        (&seen["errno"], &seen["detail"]),
        (&json!("EAGAIN"), &json!({"count": 0, "errno": "EAGAIN"})),
        "{seen}"
    );
}
