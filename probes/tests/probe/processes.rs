//! Programs, the processes of the machine, and the descriptors of this one.

use std::fs::{self, File};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{folder, lines, one, probe, reported, unsealed};

fn shell(script: &str) -> Value {
    reported(probe().args(["exec", "/bin/sh", "-c", script]).output().unwrap()).remove(0)
}

#[test]
fn a_program_is_run_and_its_end_shown() {
    let seen = shell("echo out; echo err >&2; read line; exit 3");
    assert_eq!(seen["target"], "/bin/sh");
    assert_eq!(seen["detail"], json!({"exit": 3, "signal": null, "stdout": "out\n"}));
    assert_eq!(shell("kill -9 $$")["detail"], json!({"exit": null, "signal": 9, "stdout": ""}));
    let detail = &shell("yes | head -c 300000; exit 0")["detail"];
    assert_eq!((&detail["exit"], detail["stdout"].as_str().unwrap().len()), (&json!(0), 4096));
}

#[test]
fn a_program_that_cannot_start_has_an_errno() {
    let (_folder, path) = folder();
    fs::write(format!("{path}/x"), "exit 0").unwrap();
    let seen = lines(&format!("exec {path}/y + exec {path}/x + chmod 700 {path}/x + exec {path}/x"));
    assert_eq!((&seen[0]["errno"], &seen[0]["detail"]), (&json!("ENOENT"), &json!({})));
    assert_eq!(seen[1]["errno"], "EACCES");
    assert_eq!(seen[3]["errno"], "ENOEXEC");
}

#[test]
fn what_a_program_leaves_running_is_not_waited_for() {
    let (_folder, path) = folder();
    // It ends with the folder, whatever becomes of the test.
    let seen = shell(&format!("(while test -d {path}; do sleep 0.1; done) & echo left"));
    assert_eq!(seen["detail"], json!({"exit": 0, "signal": null, "stdout": "left\n"}));
}

/// Runs a shell that waits for its stdin while the probe looks at it.
fn watching(words: &str, key: &str, other: &str) -> (u32, Value) {
    let (_folder, path) = folder();
    let folder = format!("{path}/{other}");
    fs::create_dir(&folder).unwrap();
    let mut watched = Command::new("/bin/sh");
    watched.args(["-c", "echo ready; read line", other]).env("CANARY", key).current_dir(&folder);
    let mut watched = watched.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    std::io::Read::read_exact(watched.stdout.as_mut().unwrap(), &mut ready).unwrap();
    let seen = one(words);
    drop(watched.stdin.take());
    watched.wait().unwrap();
    (watched.id(), seen)
}

#[test]
fn processes_show_where_a_text_stands() {
    // Put together at run time, so that no other process holds them.
    let (key, other) = (format!("K-{}", std::process::id()), format!("O-{}", std::process::id()));
    let (pid, seen) = watching(&format!("processes --find {key} --find {other}"), &key, &other);
    assert_eq!(seen["ok"], true);
    let hits = seen["detail"]["hits"].as_array().unwrap();
    let hit = |file: &str, index: u32| json!({"pid": pid, "file": file, "index": index});
    assert_eq!(hits, &[hit("environ", 0), hit("cmdline", 1), hit("cwd", 1)]);
}

#[test]
fn processes_say_what_can_be_read_of_each() {
    let seen = one("processes");
    let detail = &seen["detail"];
    assert!(detail["self"].is_u64());
    let shown = detail["processes"].as_array().unwrap();
    assert_eq!(shown.len() as u64, detail["count"].as_u64().unwrap().min(64));
    for process in shown {
        assert!(process["pid"].is_u64() && process["comm"].is_string());
        for file in ["environ", "cmdline", "root", "cwd", "exe", "fd", "maps", "mem"] {
            let fact = &process[file];
            assert!(fact.is_u64() || fact.as_str().is_some_and(|errno| errno.starts_with('E')), "{process}");
        }
    }
    let own = shown.iter().find(|process| process["pid"] == detail["self"]);
    assert!(own.is_none_or(|own| own["comm"] == "kusaw-probe" && own["mem"] == 64 && own["root"] == 1), "{own:?}");
}

#[test]
fn descriptors_show_what_an_inherited_folder_gives_away() {
    let (_folder, path) = folder();
    fs::create_dir(format!("{path}/in")).unwrap();
    fs::write(format!("{path}/in/x"), "").unwrap();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "exec 7<\"$1/in\" 8>>\"$1/log\"; exec \"$0\" descriptors", env!("CARGO_BIN_EXE_kusaw-probe")]);
    let seen = reported(command.arg(&path).output().unwrap()).remove(0);
    let all = seen["detail"]["descriptors"].as_array().unwrap();
    let at = |number: u32| all.iter().find(|it| it["fd"] == number).unwrap();
    let real = fs::canonicalize(&path).unwrap();
    assert_eq!(at(7)["target"], real.join("in").to_str().unwrap());
    assert_eq!((&at(7)["kind"], &at(7)["access"]), (&json!("folder"), &json!("read")));
    assert_eq!((&at(7)["here"], &at(7)["above"]), (&json!(["x"]), &json!(["in", "log"])));
    assert_eq!((&at(8)["kind"], &at(8)["access"]), (&json!("file"), &json!("write")));
    assert_eq!(at(8)["above"], "ENOTDIR");
    let flags = i32::from_str_radix(at(8)["flags"].as_str().unwrap(), 8).unwrap();
    assert_ne!(flags & libc::O_APPEND, 0);
    assert_eq!(at(8)["directory"], false);
}

#[test]
fn standard_output_is_tried_and_not_changed() {
    let (_folder, path) = folder();
    let file = format!("{path}/out");
    let status = probe().arg("descriptors").stdout(File::create(&file).unwrap()).status().unwrap();
    assert_eq!(status.code(), Some(37));
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(unsealed(text.lines().last().unwrap()), json!({"probe": 1, "end": true}));
    let seen: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    let out = &seen["detail"]["descriptors"][1];
    assert_eq!((&out["fd"], &out["reopen"], &out["fchmod"]), (&json!(1), &json!("ok"), &json!("ok")));
}
