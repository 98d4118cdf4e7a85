//! Mounts, in a namespace of the probe's own.

use std::fs;

use serde_json::{Value, json};

use crate::namespaces::inside;
use crate::{as_ordinary, folder, one, probe, reported};

/// Every line must be ok but those that are named by their place, each with its errno.
fn ok_but(seen: &[Value], errors: &[(usize, &str)]) {
    for (at, line) in seen.iter().enumerate() {
        let errno = errors.iter().find(|(place, _)| *place == at).map(|(_, errno)| *errno);
        assert_eq!(line["errno"], json!(errno), "{at}: {line}");
    }
}

#[test]
fn a_tmpfs_covers_a_folder_until_it_is_taken_away() {
    let (_folder, path) = folder();
    fs::write(format!("{path}/below"), "").unwrap();
    let seen = inside(&format!("mount --tmpfs {path} + create {path}/x + list {path} + umount {path} + list {path}"));
    ok_but(&seen, &[]);
    assert_eq!((&seen[2]["detail"]["names"], &seen[4]["detail"]["names"]), (&json!(["x"]), &json!(["below"])));
    assert!(!fs::exists(format!("{path}/x")).unwrap());
}

#[test]
fn what_is_not_one_of_its_own_mounts_cannot_be_taken_away() {
    let (_folder, path) = folder();
    ok_but(&inside(&format!("umount {path} + umount --detach /proc")), &[(0, "EINVAL"), (1, "EINVAL")]);
}

#[test]
fn a_bind_mount_is_made_read_only_and_writable_again() {
    let (_folder, path) = folder();
    let (a, b) = (format!("{path}/a"), format!("{path}/b"));
    let seen = inside(&format!(
        "mkdir {a} + mkdir {b} + mount --bind {a} {b} + write {b}/x 1 + read {a}/x + \
         remount {b} --ro + write {b}/x 2 + remount {b} + write {b}/x 3 + \
         remount {b} --ro + mount-setattr {b} --recursive + write {b}/x 4 + \
         remount {b} --ro + mount-setattr {b} + write {b}/x 5 + remount --superblock {b} + private /"
    ));
    ok_but(&seen, &[(6, "EROFS"), (15, "EPERM")]);
    assert_eq!(fs::read_to_string(format!("{a}/x")).unwrap(), "5");
    assert!(!fs::exists(format!("{b}/x")).unwrap());
}

#[test]
fn a_superblock_of_its_own_is_remounted() {
    let (_folder, path) = folder();
    let seen = inside(&format!(
        "mount --tmpfs {path} + remount {path} --ro --superblock + write {path}/x 1 + remount {path} --superblock + \
         write {path}/x 1"
    ));
    ok_but(&seen, &[(2, "EROFS")]);
}

#[test]
fn proc_is_mounted_from_a_pid_namespace_of_its_own() {
    let (_folder, path) = folder();
    let own = env!("CARGO_BIN_EXE_kusaw-probe");
    let seen =
        inside(&format!("mount --proc {path} + unshare pid + exec {own} mount --proc {path} + list {path}/self"));
    ok_but(&seen, &[(0, "EPERM"), (3, "ENOENT")]);
    let inner: Value =
        serde_json::from_str(seen[2]["detail"]["stdout"].as_str().unwrap().lines().next().unwrap()).unwrap();
    assert_eq!(inner["ok"], true, "{inner}");
}

#[test]
fn another_root_is_what_later_actions_see() {
    let (_folder, path) = folder();
    let seen = inside(&format!(
        "mount --tmpfs {path} + mkdir {path}/old + create {path}/x + pivot-root {path} {path}/old + list / + argv + \
         umount /old --detach + list /old"
    ));
    ok_but(&seen, &[]);
    assert_eq!((&seen[4]["detail"]["names"], &seen[7]["detail"]["names"]), (&json!(["old", "x"]), &json!([])));
    assert_eq!(seen[5]["detail"]["cwd"], "/");
    let seen = inside(&format!(
        "mkdir {path}/r + create {path}/r/y + pivot-root {path}/r {path}/r + chroot {path}/r + list /"
    ));
    ok_but(&seen, &[(2, "EINVAL")]);
    assert_eq!(seen[4]["detail"]["names"], json!(["y"]));
}

#[test]
fn the_new_calls_make_and_move_mounts_too() {
    let (_folder, path) = folder();
    let (a, b) = (format!("{path}/a"), format!("{path}/b"));
    let seen = inside(&format!(
        "mkdir {a} + mkdir {b} + write {a}/x text + open-tree {a} {b} + read {b}/x + open-tree {a} {b}/none + \
         open-tree {b}/none {b} + fsopen tmpfs + fsopen nofs"
    ));
    ok_but(&seen, &[(5, "ENOENT"), (6, "ENOENT"), (8, "ENODEV")]);
    assert_eq!(
        (&seen[3]["detail"], &seen[4]["detail"]["text"]),
        (&json!({"tree": null, "move": null}), &json!("text"))
    );
    assert_eq!(seen[5]["detail"], json!({"tree": null, "move": "ENOENT"}));
    assert_eq!(seen[6]["detail"], json!({"tree": "ENOENT", "move": null}));
    assert_eq!((&seen[7]["detail"], &seen[8]["detail"]), (&json!({"call": null}), &json!({"call": "fsopen"})));
}

#[test]
fn nothing_of_this_is_for_an_ordinary_user() {
    let words = "mount --tmpfs /tmp + mount --bind / /tmp + mount --proc /proc + umount / + umount /proc --detach + \
                 remount / + remount / --ro --superblock + private / + mount-setattr / + fsopen tmpfs + \
                 open-tree / /tmp + pivot-root / / + chroot /";
    for seen in as_ordinary(words) {
        assert_eq!(seen["errno"], "EPERM", "{seen}");
    }
}

#[test]
fn a_file_is_opened_by_its_handle_where_that_is_allowed() {
    let (_folder, path) = folder();
    fs::write(format!("{path}/x"), "what it holds").unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let seen = as_ordinary(&format!("handle {path}/x"));
    // A file system may have no handles; then that is what is told.
    let refused = if seen[0]["detail"]["name"].is_null() { "EPERM" } else { "EOPNOTSUPP" };
    assert_eq!((&seen[0]["errno"], &seen[0]["detail"]["text"]), (&json!(refused), &json!(null)), "{}", seen[0]);
    assert_eq!(one(&format!("handle {path}/none"))["detail"], json!({"name": "ENOENT", "text": null}));
    if nix::unistd::geteuid().is_root() {
        let words = format!("unshare mnt + private / + mount --tmpfs {path} + write {path}/x text + handle {path}/x");
        let seen = reported(probe().args(words.split(' ')).output().unwrap());
        ok_but(&seen, &[]);
        assert_eq!(seen[4]["detail"], json!({"name": null, "text": "text"}));
    }
}

#[test]
fn a_file_is_filled_until_nothing_fits() {
    let (_folder, path) = folder();
    let seen = inside(&format!(
        "exec mount -t tmpfs -o size=4m none {path} + fill {path}/x 3000000 + list {path} + fill {path}/x 10 --leave + \
         stat {path}/x + fill {path}/x 1 + fill {path}/none/x 1 + fill {path}/y 5000000 + fill {path}/y 1"
    ));
    ok_but(&seen, &[(5, "EEXIST"), (6, "ENOENT"), (7, "ENOSPC")]);
    let written = seen[7]["detail"]["written"].as_u64().unwrap();
    assert!((3_000_000..4_194_304).contains(&written), "{written}");
    assert_eq!((&seen[1]["detail"], &seen[2]["detail"]["names"]), (&json!({"written": 3_000_000}), &json!([])));
    assert_eq!(seen[4]["detail"]["size"], 10, "{}", seen[4]);
    assert_eq!(one("fill /dev/full 1")["errno"], "EEXIST");
}
