//! What is done to one file or folder.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use serde_json::json;

use crate::{folder, lines, one};

#[test]
fn files_are_written_read_listed_and_looked_at() {
    let (_folder, path) = folder();
    let seen = lines(&format!(
        "write {path}/b new + write {path}/a longer + read {path}/a --max 4 + read {path}/b + list {path} + stat {path}/b"
    ));
    assert_eq!(seen[1]["detail"], json!({"bytes": 6}));
    assert_eq!(seen[2]["detail"], json!({"bytes": 4, "text": "long"}));
    assert_eq!(seen[3]["detail"], json!({"bytes": 3, "text": "new"}));
    assert_eq!(seen[4]["detail"], json!({"names": ["a", "b"]}));
    let there = fs::metadata(format!("{path}/b")).unwrap();
    assert_eq!(seen[5]["detail"]["kind"], "file");
    assert_eq!(seen[5]["detail"]["size"], 3);
    assert_eq!(seen[5]["detail"]["mode"], format!("{:04o}", there.mode() & 0o7777));
    assert_eq!(seen[5]["detail"]["uid"], there.uid());
    assert_eq!(seen[5]["detail"]["mtime"], there.mtime());
}

#[test]
fn open_write_never_creates_nor_truncates() {
    let (_folder, path) = folder();
    fs::write(format!("{path}/x"), "text").unwrap();
    std::os::unix::fs::symlink(format!("{path}/y"), format!("{path}/dangling")).unwrap();
    let before = fs::metadata(format!("{path}/x")).unwrap();
    let seen =
        lines(&format!("open-write {path}/x + open-write {path}/y + open-write {path}/dangling + open-write {path}"));
    assert_eq!(seen[0]["ok"], true);
    assert_eq!((&seen[1]["errno"], &seen[2]["errno"]), (&json!("ENOENT"), &json!("ENOENT")));
    assert_eq!(seen[3]["errno"], "EISDIR");
    let after = fs::metadata(format!("{path}/x")).unwrap();
    assert_eq!(fs::read(format!("{path}/x")).unwrap(), b"text");
    let changed = |it: &fs::Metadata| (it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec());
    assert_eq!(changed(&before), changed(&after));
    assert!(!fs::exists(format!("{path}/y")).unwrap());
}

#[test]
fn append_and_create_are_strict_about_what_exists() {
    let (_folder, path) = folder();
    let seen = lines(&format!(
        "append {path}/x a + create {path}/x + create {path}/x + append {path}/x a + append {path}/x bc"
    ));
    assert_eq!(seen[0]["errno"], "ENOENT");
    assert_eq!(seen[1]["ok"], true);
    assert_eq!(seen[2]["errno"], "EEXIST");
    assert_eq!(seen[4]["detail"], json!({"bytes": 2}));
    assert_eq!(fs::read(format!("{path}/x")).unwrap(), b"abc");
}

#[test]
fn names_are_moved_swapped_and_removed() {
    let (_folder, path) = folder();
    let text = |name: &str| fs::read_to_string(format!("{path}/{name}")).unwrap();
    let seen = lines(&format!(
        "write {path}/a A + write {path}/b B + rename {path}/a {path}/c + exchange {path}/b {path}/c + exchange {path}/b {path}/a"
    ));
    assert_eq!(seen[2]["target"], format!("{path}/c"));
    assert_eq!(seen[2]["detail"], json!({"from": format!("{path}/a")}));
    assert_eq!(seen[3]["target"], format!("{path}/b"));
    assert_eq!(seen[3]["detail"], json!({"with": format!("{path}/c")}));
    assert_eq!(seen[4]["errno"], "ENOENT");
    assert_eq!((text("b"), text("c")), ("A".to_owned(), "B".to_owned()));

    let seen = lines(&format!(
        "mkdir {path}/d + mkdir {path}/d + mkdir {path}/d/e + remove {path}/d + remove {path}/d/e + remove {path}/d + symlink {path}/c {path}/l + remove {path}/l + remove {path}/b + remove {path}/b"
    ));
    assert_eq!(seen[1]["errno"], "EEXIST");
    assert_eq!((&seen[3]["errno"], &seen[3]["detail"]), (&json!("ENOTEMPTY"), &json!({"call": "rmdir"})));
    assert_eq!(seen[5]["ok"], true);
    assert_eq!(seen[7]["detail"], json!({"call": "unlink"}));
    assert_eq!(seen[9]["errno"], "ENOENT");
    assert_eq!(one(&format!("list {path}"))["detail"]["names"], json!(["c"]));
}

#[test]
fn chmod_shows_what_became_of_the_mode() {
    let (_folder, path) = folder();
    fs::write(format!("{path}/x"), "").unwrap();
    let seen = lines(&format!("chmod 600 {path}/x + chmod 4755 {path}/x + chmod 600 {path}/y"));
    assert_eq!(seen[1]["detail"], json!({"before": "0600", "after": "4755"}));
    assert_eq!(fs::metadata(format!("{path}/x")).unwrap().mode() & 0o7777, 0o4755);
    assert_eq!(seen[2]["errno"], "ENOENT");
    assert_eq!(seen[2]["detail"], json!({"before": "ENOENT", "after": "ENOENT"}));
}

#[test]
fn links_are_made_and_not_followed_by_stat() {
    let (_folder, path) = folder();
    let seen = lines(&format!(
        "write {path}/x text + link {path}/x {path}/hard + symlink {path}/x {path}/soft + read {path}/soft + stat {path}/soft + link {path}/x {path}/hard"
    ));
    assert_eq!(fs::metadata(format!("{path}/x")).unwrap().nlink(), 2);
    assert_eq!(seen[2]["target"], format!("{path}/soft"));
    assert_eq!(seen[3]["detail"]["text"], "text");
    assert_eq!(seen[4]["detail"]["kind"], "symlink");
    assert_eq!(seen[5]["errno"], "EEXIST");
    assert_eq!(seen[5]["detail"], json!({"from": format!("{path}/x")}));
}

#[test]
fn nothing_waits_for_a_fifo() {
    let (_folder, path) = folder();
    assert_eq!(one(&format!("mkfifo {path}/f"))["ok"], true);
    assert!(fs::metadata(format!("{path}/f")).unwrap().file_type().is_fifo());
    let seen = lines(&format!(
        "read {path}/f + write {path}/f x + open-write {path}/f + append {path}/f x + stat {path}/f + sweep {path} --find x"
    ));
    assert_eq!(seen[0]["detail"]["bytes"], 0);
    assert_eq!(seen[1]["errno"], "ENXIO");
    assert_eq!(seen[2]["errno"], "ENXIO");
    assert_eq!(seen[3]["errno"], "ENXIO");
    assert_eq!(seen[4]["detail"]["kind"], "fifo");
    assert_eq!(seen[5]["detail"], json!({"files": 0, "folders": 1, "unreadable": 0, "hits": []}));
}
