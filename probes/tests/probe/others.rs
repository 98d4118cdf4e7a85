//! What can be seen of another process, and done to it.

use std::fs;

use nix::unistd::{getegid, geteuid};
use serde_json::json;

use crate::victim::{Victim, nobody, state};
use crate::{as_ordinary, folder, lines, one, probe, reported};

#[test]
fn a_process_is_traced_and_runs_on() {
    let victim = Victim::new("VICTIM", "x", None);
    let seen = one(&format!("ptrace {}", victim.pid()));
    assert_eq!((&seen["ok"], &seen["target"]), (&json!(true), &json!(victim.pid().to_string())), "{seen}");
    assert_eq!(seen["detail"], json!({"read": true}));
    assert_eq!(state(victim.pid(), 'S'), Some('S'));
    assert!(victim.ends());
}

#[test]
fn a_stopped_process_that_is_traced_stays_stopped() {
    let victim = Victim::new("VICTIM", "x", None);
    let seen = lines(&format!("kill {0} STOP + sleep 50 + ptrace {0}", victim.pid()));
    assert_eq!((&seen[0]["ok"], &seen[2]["detail"]), (&json!(true), &json!({"read": true})), "{seen:?}");
    assert_eq!(state(victim.pid(), 'T'), Some('T'));
}

#[test]
fn a_process_that_is_left_stays_stopped() {
    let victim = Victim::new("VICTIM", "x", None);
    let seen = one(&format!("ptrace --leave {}", victim.pid()));
    assert_eq!((&seen["ok"], &seen["detail"]), (&json!(true), &json!({})), "{seen}");
    assert_eq!(state(victim.pid(), 'T'), Some('T'));
    assert_eq!(one(&format!("kill {} CONT", victim.pid()))["ok"], true);
    assert!(victim.ends());
}

#[test]
fn nobody_traces_itself_or_who_is_not_there() {
    for (words, errno) in [("ptrace self".to_owned(), "EPERM"), (format!("ptrace {}", nobody()), "ESRCH")] {
        assert_eq!(one(&words)["errno"], errno, "{words}");
    }
    for action in ["kill", "memory", "kcmp", "ptrace --leave"] {
        assert_eq!(one(&format!("{action} {}", nobody()))["errno"], "ESRCH", "{action}");
    }
}

#[test]
fn an_ordinary_user_has_no_hold_on_the_first_process() {
    let words = "kill 1 + ptrace 1 + ptrace --leave 1 + memory 1 + pidfd 1 0 + kcmp 1 + setns 1 pidfd";
    for seen in as_ordinary(words) {
        assert_eq!(seen["errno"], "EPERM", "{seen}");
    }
    for seen in as_ordinary("namespaces 1 + setns 1 mnt") {
        assert_eq!(seen["errno"], "EACCES", "{seen}");
    }
}

#[test]
fn memory_gives_away_a_secret() {
    let (name, value) = (format!("MEM_{}", std::process::id()), "s3cr3t-of-it");
    let victim = Victim::new(&name, value, None);
    assert_eq!(one(&format!("memory {}", victim.pid()))["detail"], json!({"bytes": 64}));
    let seen = one(&format!("memory --find {name}= {}", victim.pid()));
    assert_eq!(seen["ok"], true, "{seen}");
    assert_eq!(seen["detail"]["text"], format!("{name}={value}"));
    // Put together by the probe itself, and so nowhere in its question.
    let absent = one(&format!("memory {} --find {name}-absent", victim.pid()));
    assert_eq!((&absent["ok"], &absent["detail"]["text"]), (&json!(true), &json!(null)), "{absent}");
}

#[test]
fn a_descriptor_is_taken_out_of_a_process() {
    let (_folder, path) = folder();
    fs::write(format!("{path}/file"), "what it holds").unwrap();
    let victim = Victim::new("VICTIM", "x", Some(&format!("{path}/file")));
    let seen = one(&format!("pidfd {} 7", victim.pid()));
    assert_eq!(seen["detail"], json!({"taken": true, "text": "what it holds"}), "{seen}");
    let pipe = one(&format!("pidfd {} 0", victim.pid()));
    assert_eq!((&pipe["errno"], &pipe["detail"]["taken"]), (&json!("ESPIPE"), &json!(true)), "{pipe}");
    let closed = one(&format!("pidfd {} 99", victim.pid()));
    assert_eq!((&closed["errno"], &closed["detail"]), (&json!("EBADF"), &json!({"taken": false})), "{closed}");
}

#[test]
fn processes_are_compared() {
    let victim = Victim::new("VICTIM", "x", None);
    assert_eq!(one("kcmp self")["detail"], json!({"result": 0}));
    let seen = one(&format!("kcmp {}", victim.pid()));
    assert_eq!(seen["ok"], true, "{seen}");
    assert!(matches!(seen["detail"]["result"].as_i64(), Some(1 | 2)), "{seen}");
}

#[test]
fn signals_are_sent_one_or_many() {
    let victim = Victim::new("VICTIM", "x", None);
    let seen = lines(&format!("kill {0} + flood {0} 0 1000 + flood {1} 0 3 + kill {0} KILL", victim.pid(), nobody()));
    assert_eq!(seen[0]["ok"], true);
    assert_eq!(seen[1]["detail"], json!({"sent": 1000, "errno": null}));
    assert_eq!((&seen[2]["errno"], &seen[2]["detail"]), (&json!("ESRCH"), &json!({"sent": 0, "errno": "ESRCH"})));
    assert_eq!(seen[3]["ok"], true);
    assert_eq!(state(victim.pid(), 'Z'), Some('Z'));
}

#[test]
fn marked_processes_are_found_but_not_who_asks() {
    let mark = format!("mark-{}", std::process::id());
    let victim = Victim::new(&mark, "x", None);
    let seen = one(&format!("pids {mark}"));
    assert_eq!(seen["detail"]["pids"], json!([victim.pid()]));
    assert!(seen["detail"]["count"].as_u64() >= Some(2));
    assert!(victim.ends());
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", &format!("{} pids {mark}; exit $?", env!("CARGO_BIN_EXE_kusaw-probe"))]);
    assert_eq!(reported(shell.output().unwrap())[0]["detail"]["pids"], json!([]));
}

#[test]
fn the_status_and_the_numbers_are_those_of_the_process() {
    let victim = Victim::new("VICTIM", "x", None);
    let status = one(&format!("status {}", victim.pid()))["detail"].clone();
    let text = fs::read_to_string(format!("/proc/{}/status", victim.pid())).unwrap();
    for name in ["CapEff", "CapBnd"] {
        assert!(text.contains(&format!("{name}:\t{}\n", status[name].as_str().unwrap())), "{status}");
    }
    let id = |name: &str| status[name][1].as_u64().unwrap();
    let own = (geteuid().as_raw().into(), getegid().as_raw().into());
    assert_eq!((id("Uid"), id("Gid")), own);
    assert_eq!((&status["TracerPid"], &status["State"]), (&json!(0), &json!("S")));
    assert_eq!(one("status")["detail"]["State"], "R");
    assert_eq!(one(&format!("status {}", nobody()))["errno"], "ENOENT");
    let seen = reported(probe().args(["ids", "+", "argv"]).output().unwrap());
    assert_eq!(seen[0]["detail"]["pid"], seen[1]["detail"]["pid"]);
    assert_eq!(seen[0]["detail"]["ppid"], std::process::id());
    let hostname = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(seen[0]["detail"]["hostname"], hostname.trim_end());
    assert_eq!(seen[0]["detail"]["foreground"], json!(null));
    assert!(seen[0]["detail"]["sid"].is_u64() && seen[0]["detail"]["pgrp"].is_u64());
}
