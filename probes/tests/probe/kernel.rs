//! What the kernel offers beyond files. What an ordinary user gets of it differs from machine to machine, so each is
//! seen to work where root, or the machine's settings, allow it, and to fail for the reason that there is.

use std::fs;

use nix::unistd::geteuid;
use serde_json::json;

use crate::victim::nobody;
use crate::{as_ordinary, one};

fn setting(path: &str) -> Option<i32> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

#[test]
fn a_bpf_map_is_for_root() {
    let closed = setting("/proc/sys/kernel/unprivileged_bpf_disabled") != Some(0);
    let expected = if closed { json!("EPERM") } else { json!(null) };
    assert_eq!(as_ordinary("bpf")[0]["errno"], expected);
    if geteuid().is_root() {
        assert_eq!(one("bpf")["ok"], true);
    }
}

#[test]
fn time_is_counted_of_own_processes() {
    // Debian's kernels know 3 and 4, which keep it from ordinary users.
    let closed = setting("/proc/sys/kernel/perf_event_paranoid") > Some(2);
    let expected = if closed { json!("EACCES") } else { json!(null) };
    assert_eq!(as_ordinary("perf")[0]["errno"], expected);
    assert_eq!(as_ordinary("perf 1")[0]["errno"], "EACCES");
    assert!(["ESRCH", "EACCES"].contains(&one(&format!("perf {}", nobody()))["errno"].as_str().unwrap()));
}

#[test]
fn page_faults_are_handled_by_who_may() {
    assert_eq!(as_ordinary("userfaultfd")[0]["errno"], json!(null));
    let closed = setting("/proc/sys/vm/unprivileged_userfaultfd") == Some(0);
    let expected = if closed { json!("EPERM") } else { json!(null) };
    assert_eq!(as_ordinary("userfaultfd --kernel")[0]["errno"], expected);
}

#[test]
fn a_ring_is_made_and_a_socket_through_it() {
    let seen = one("io-uring vsock");
    let off =
        setting("/proc/sys/kernel/io_uring_disabled").is_some_and(|it| it == 2 || it == 1 && !geteuid().is_root());
    if off {
        assert_eq!((&seen["errno"], &seen["detail"]), (&json!("EPERM"), &json!({"setup": "EPERM", "socket": null})));
        return;
    }
    let direct = one("socket-type vsock");
    assert_eq!(seen["errno"], direct["errno"], "{seen}");
    assert_eq!(seen["detail"], json!({"setup": null, "socket": direct["errno"]}));
    assert_eq!(one("io-uring")["detail"], json!({"setup": null, "socket": null}));
}

#[test]
fn sockets_of_every_kind_are_asked_for() {
    for kind in ["raw", "raw6", "packet"] {
        assert_eq!(as_ordinary(&format!("socket-type {kind}"))[0]["errno"], "EPERM", "{kind}");
        if geteuid().is_root() {
            assert_eq!(one(&format!("socket-type {kind}"))["ok"], true, "{kind}");
        }
    }
    assert_eq!(one("socket-type netlink")["ok"], true);
    for kind in ["vsock", "netlink", "icmp", "bluetooth", "alg", "xdp"] {
        // A kernel may lack it; a number with a high bit is the same number for it.
        let (seen, high) = (one(&format!("socket-type {kind}")), one(&format!("socket-type {kind} --high")));
        assert_eq!(seen["target"], kind);
        assert_eq!(seen["errno"], high["errno"], "{kind}");
        let known = [json!(null), json!("EAFNOSUPPORT"), json!("EACCES"), json!("EPERM"), json!("EPROTONOSUPPORT")];
        assert!(known.contains(&seen["errno"]), "{seen}");
    }
}

#[test]
fn a_copy_in_memory_runs() {
    let seen = one("memfd-exec exit 37");
    assert_eq!((&seen["ok"], &seen["target"]), (&json!(true), &json!("exit 37")), "{seen}");
    assert_eq!(seen["detail"]["exit"], 37);
    let seen = one("memfd-exec argv x");
    assert!(seen["detail"]["stdout"].as_str().unwrap().contains("\"argv\":[\"kusaw-probe\",\"argv\",\"x\"]"), "{seen}");
    for (words, exit) in [("memfd-exec exit 3", 3), ("memfd-exec nothing", 2)] {
        let seen = one(words);
        assert_eq!((&seen["errno"], &seen["detail"]["exit"]), (&json!("ECHILD"), &json!(exit)), "{seen}");
    }
}
