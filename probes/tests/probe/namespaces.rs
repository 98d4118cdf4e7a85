//! The namespaces of a process, and entering others.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::victim::{Victim, nobody, until};
use crate::{as_ordinary, folder, lines, one, probe};

#[test]
fn the_numbers_are_those_of_the_links() {
    let victim = Victim::new("VICTIM", "x", None);
    for words in ["namespaces".to_owned(), format!("namespaces {}", victim.pid())] {
        let seen = one(&words);
        assert_eq!(seen["ok"], true, "{seen}");
        let numbers = seen["detail"].as_object().unwrap();
        assert_eq!(numbers.len(), 7);
        for (kind, number) in numbers {
            let link = fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
            assert_eq!(link.to_str().unwrap(), format!("{kind}:[{number}]"));
        }
    }
    let seen = one(&format!("namespaces {}", nobody()));
    assert_eq!((&seen["errno"], &seen["detail"]["pid"]), (&json!("ENOENT"), &json!("ENOENT")));
}

/// Runs words in a user and a mount namespace of the probe's own. Where the machine refuses one to this user, the test
/// fails and says so: what it is about cannot be seen then.
pub fn inside(words: &str) -> Vec<Value> {
    let mut seen = lines(&format!("userns + {words}"));
    let userns = seen.remove(0);
    assert_eq!(userns["ok"], true, "this test needs user namespaces for this user (user_namespaces(7)): {userns}");
    assert_eq!(userns["detail"], json!({"maps": true}));
    seen
}

#[test]
fn a_user_namespace_of_its_own_has_this_user_as_root() {
    let seen = inside("namespaces + status + unshare user + status");
    for kind in ["user", "mnt"] {
        let link = fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
        assert_ne!(link.to_str().unwrap(), format!("{kind}:[{}]", seen[0]["detail"][kind]));
    }
    let status = &seen[1]["detail"];
    assert_eq!((&status["Uid"], &status["Gid"]), (&json!([0, 0, 0, 0]), &json!([0, 0, 0, 0])));
    assert_ne!(status["CapEff"], "0000000000000000");
    // Nobody is mapped into the next one: the overflow user.
    assert_eq!((&seen[2]["ok"], &seen[3]["detail"]["Uid"][0]), (&json!(true), &json!(65_534)));
}

#[test]
fn a_second_one_is_refused_where_the_limit_says_so() {
    let seen = inside("write /proc/sys/user/max_user_namespaces 0 + userns + unshare user");
    assert_eq!(seen[0]["ok"], true, "{}", seen[0]);
    assert_eq!((&seen[1]["errno"], &seen[1]["detail"]), (&json!("ENOSPC"), &json!({"maps": false})));
    assert_eq!(seen[2]["errno"], "ENOSPC");
}

#[test]
fn every_kind_can_be_left() {
    for kind in ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time"] {
        let seen = inside(&format!("unshare {kind} + namespaces"));
        assert_eq!((&seen[0]["ok"], &seen[0]["target"]), (&json!(true), &json!(kind)), "{}", seen[0]);
        if !matches!(kind, "pid" | "time") {
            // Those two are for children only.
            let link = fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
            assert_ne!(link.to_str().unwrap(), format!("{kind}:[{}]", seen[1]["detail"][kind]));
        }
    }
    for seen in as_ordinary("unshare mnt + unshare net uts + sethostname kusaw-test") {
        assert_eq!(seen["errno"], "EPERM", "{seen}");
    }
}

#[test]
fn the_host_is_renamed_in_its_own_namespace_only() {
    let before = one("ids")["detail"]["hostname"].clone();
    let seen = inside("unshare uts + sethostname kusaw-test + ids");
    assert_eq!((&seen[1]["ok"], &seen[1]["detail"]), (&json!(true), &json!({"hostname": "kusaw-test"})));
    assert_eq!(seen[2]["detail"]["hostname"], "kusaw-test");
    assert_eq!(one("ids")["detail"]["hostname"], before);
}

#[test]
fn namespaces_of_a_child_are_entered() {
    let mut child = probe();
    let signs = folder();
    let file = format!("{}/signs", signs.1);
    child.args(["userns", "+", "unshare", "uts", "+", "linger", "mark", "--seconds", "20", "--signs", &file]);
    let mut child = child.stdout(Stdio::null()).spawn().unwrap();
    assert!(until(|| fs::exists(&file).unwrap()), "this test needs user namespaces for this user");
    let number = |kind: &str| fs::read_link(format!("/proc/{}/ns/{kind}", child.id())).unwrap();
    for (words, kinds) in [("user", &["user"][..]), ("pidfd", &["user", "mnt"])] {
        let seen = lines(&format!("setns {0} {words} + setns {0} uts + namespaces", child.id()));
        assert_eq!((&seen[0]["ok"], &seen[1]["ok"]), (&json!(true), &json!(true)), "{seen:?}");
        for kind in kinds.iter().chain(&["uts"]) {
            assert_eq!(number(kind).to_str().unwrap(), format!("{kind}:[{}]", seen[2]["detail"][kind]));
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(one("setns self user")["errno"], "EINVAL");
}
