//! The lab leaves nothing behind and touches nothing of the host; the command line says what is wrong.

#![allow(clippy::unwrap_used)] // helpers of tests, which clippy does not see as tests

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn conformance(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().unwrap()
}

fn out(name: &str) -> String {
    format!("{}/{name}", env!("CARGO_TARGET_TMPDIR"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What a run could leave on the host: mounts, network links, System V objects, entries of shared folders.
fn traces() -> BTreeSet<String> {
    let mut traces = BTreeSet::new();
    for file in ["/proc/self/mountinfo", "/proc/sysvipc/shm", "/proc/sysvipc/msg", "/proc/sysvipc/sem"] {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        traces.extend(text.lines().map(|line| format!("{file}: {line}")));
    }
    for line in std::fs::read_to_string("/proc/net/dev").unwrap_or_default().lines() {
        traces.extend(line.split_once(':').map(|(name, _)| format!("link {}", name.trim())));
    }
    for folder in ["/home", "/run", "/mnt", "/srv", "/opt", "/media", "/dev/shm", "/var/tmp"] {
        let Ok(entries) = std::fs::read_dir(folder) else { continue };
        traces.extend(entries.flatten().map(|e| e.path().display().to_string()));
    }
    traces
}

fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap()
}

#[test]
fn nothing_is_left_on_the_host() {
    let (before, name) = (traces(), hostname());
    let output = conformance(&["run", "--driver", "none", "--id", "FS-07", "--out", &out("left")]);
    assert_eq!(output.status.code(), Some(0), "{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
    assert_eq!(traces(), before);
    assert_eq!(hostname(), name);
    // Planted: the comparison does see a file in a shared folder.
    let planted = format!("/dev/shm/conformance-planted-{}", std::process::id());
    std::fs::write(&planted, "x").unwrap();
    let seen = traces() != before;
    std::fs::remove_file(&planted).unwrap();
    assert!(seen);
}

#[test]
fn the_record_has_a_run_its_scenarios_and_an_end() {
    let output = conformance(&["run", "--driver", "none", "--id", "FS-06/cannot-list-~", "--out", &out("record")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = std::fs::read_to_string(format!("{}/run.ndjson", out("record"))).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert_eq!(
        (&lines[0]["record"], &lines[0]["driver"], &lines[0]["selected"]),
        (&1.into(), &"none".into(), &1.into())
    );
    assert_eq!((&lines[1]["id"], &lines[1]["verdict"]), (&"FS-06".into(), &"expected-failure".into()));
    assert_eq!(lines[1]["controls"][0]["kind"], "bare");
    assert_eq!(lines[1]["launches"][0]["exit"], 37);
    assert_eq!(lines[2]["end"], true);
}

#[test]
fn a_driver_that_lacks_a_program_is_blocked() {
    let manifest = out("lacking.yaml");
    std::fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let text = "name: lacking\nkind: sandbox\nplatforms: [linux]\nneeds: [no-such-program]\nlaunch: {open: ['{{argv}}']}\nclaims: [FS-07]\n";
    std::fs::write(&manifest, text).unwrap();
    let output = conformance(&["run", "--driver", &manifest, "--id", "FS-07", "--out", &out("lacking")]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("not installed: no-such-program"));
}

#[test]
fn a_folder_of_a_driver_is_there_read_only_or_the_driver_is_blocked() {
    // Not below the checkout, which a container's root may keep in a folder of its own.
    let own = std::env::temp_dir().join(format!("conformance-{}", std::process::id()));
    let (manifest, folder) = (out("with-folder.yaml"), own.join("a-folder").display().to_string());
    let check = "cat /opt/driver/a-folder/deep/file >&2 && ! touch /opt/driver/a-folder/new 2>/dev/null && exec \"$@\"";
    let text = format!(
        "name: with-folder\nkind: sandbox\nplatforms: [linux]\nprovide: [{{folder: {folder}, made_by: make it}}]\nlaunch: {{open: [/bin/sh, -c, '{check}', sh, '{{{{argv}}}}']}}\n"
    );
    std::fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).unwrap();
    std::fs::write(&manifest, text).unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    let missing = conformance(&["smoke", "--driver", &manifest]);
    assert_eq!(missing.status.code(), Some(3), "{}", stderr(&missing));
    assert!(
        stderr(&missing).contains(&format!("not installed: {folder}; `make it` installs it")),
        "{}",
        stderr(&missing)
    );
    std::fs::create_dir_all(format!("{folder}/deep")).unwrap();
    std::fs::write(format!("{folder}/deep/file"), "found").unwrap();
    // Everybody may write there, so that it is the mount that refuses it.
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    let there = conformance(&["smoke", "--driver", &manifest]);
    assert_eq!(there.status.code(), Some(0), "{}{}", String::from_utf8_lossy(&there.stdout), stderr(&there));
    assert!(!Path::new(&folder).join("new").exists());
    std::fs::remove_dir_all(&own).unwrap();
}

#[test]
fn a_sandbox_that_does_nothing_fails() {
    let manifest = out("nothing.yaml");
    std::fs::create_dir_all(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let text = "name: nothing\nkind: sandbox\nplatforms: [linux]\nlaunch: {open: ['{{argv}}'], allowlist: [/bin/true]}\nclaims: [FS-07]\n";
    std::fs::write(&manifest, text).unwrap();
    let run =
        |case: &str| conformance(&["run", "--driver", &manifest, "--id", case, "--out", &out("nothing")]).status.code();
    assert_eq!(run("FS-07/cannot-read-~-.ssh-id_ed25519"), Some(1), "a secret that arrives fails");
    // A sandbox that runs something else keeps the secret, but nothing is proven: never green.
    assert_eq!(run("FS-07/with-network-allowlist-the-keys-are-hidden-as-well"), Some(3));
}

#[test]
fn smoke_of_a_driver() {
    let output = conformance(&["smoke", "--driver", "none"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    // One who reads no further, such as `head`, does not break it.
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    let mut child =
        command.args(["smoke", "--driver", "none"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}
