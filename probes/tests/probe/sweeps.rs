//! Walks over whole trees.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::{folder, one};

#[test]
fn a_sweep_finds_texts_but_not_through_links_or_skipped_folders() {
    let (_folder, path) = folder();
    for (name, text) in [("a/x", "..KEY-1"), ("a/b/y", "KEY-1 KEY-2"), ("skip/z", "KEY-1"), ("long", "0123456789KEY-2")]
    {
        let file = format!("{path}/in/{name}");
        fs::create_dir_all(file.rsplit_once('/').unwrap().0).unwrap();
        fs::write(file, text).unwrap();
    }
    fs::write(format!("{path}/outside"), "KEY-1").unwrap();
    symlink(&path, format!("{path}/in/up")).unwrap();
    symlink(format!("{path}/outside"), format!("{path}/in/out")).unwrap();
    let seen = one(&format!("sweep {path}/in --find KEY-1 --find KEY-2 --skip {path}/in/skip --max-file 12"));
    let detail = &seen["detail"];
    assert_eq!((&detail["files"], &detail["folders"]), (&json!(3), &json!(3)));
    let hits = detail["hits"].as_array().unwrap();
    assert_eq!(hits.len(), 3, "{hits:?}");
    for hit in [("a/x", 0), ("a/b/y", 0), ("a/b/y", 1)] {
        assert!(hits.contains(&json!({"path": format!("{path}/in/{}", hit.0), "text": hit.1})));
    }
    assert_eq!(one("sweep /nonexistent --find x")["errno"], "ENOENT");
}

#[test]
fn a_write_sweep_tries_every_folder_and_leaves_nothing() {
    let (_folder, path) = folder();
    fs::create_dir_all(format!("{path}/in/a/b")).unwrap();
    fs::create_dir_all(format!("{path}/in/skip/c")).unwrap();
    fs::create_dir_all(format!("{path}/out")).unwrap();
    symlink(format!("{path}/out"), format!("{path}/in/link")).unwrap();
    let seen = one(&format!("write-sweep {path}/in --skip {path}/in/skip --name n"));
    let written: Vec<String> = ["n", "a/n", "a/b/n"].map(|name| format!("{path}/in/{name}")).into();
    assert_eq!(
        seen["detail"],
        json!({"folders": 3, "tried": 3, "made": 3, "bytes": 3, "left": 0, "existed": 0, "written": written,
            "mounts": 0, "capped": false, "kept": false})
    );
    for name in &written {
        assert!(!fs::exists(name).unwrap());
    }
    assert!(!fs::exists(format!("{path}/out/n")).unwrap());
}

#[test]
fn a_write_sweep_keeps_files_where_told_to_and_touches_no_other() {
    let (_folder, path) = folder();
    fs::create_dir_all(format!("{path}/in/a")).unwrap();
    fs::write(format!("{path}/in/n"), "mine").unwrap();
    symlink(format!("{path}/beyond"), format!("{path}/in/a/n")).unwrap();
    fs::create_dir(format!("{path}/in/b")).unwrap();
    let seen = one(&format!("write-sweep {path}/in --keep --name n"));
    assert_eq!(seen["detail"]["written"], json!([format!("{path}/in/b/n")]));
    assert_eq!((&seen["detail"]["left"], &seen["detail"]["existed"]), (&json!(1), &json!(2)));
    assert_eq!(seen["detail"]["kept"], true);
    assert_eq!(fs::read(format!("{path}/in/b/n")).unwrap(), b"x");
    assert_eq!(fs::read(format!("{path}/in/n")).unwrap(), b"mine");
    assert!(!fs::exists(format!("{path}/beyond")).unwrap());
}

#[test]
fn a_write_sweep_ends_at_its_depth_and_needs_a_folder() {
    let (_folder, path) = folder();
    fs::create_dir_all(format!("{path}/1/2/3/4/5/6/7/8")).unwrap();
    fs::write(format!("{path}/x"), "").unwrap();
    let detail = &one(&format!("write-sweep {path}"))["detail"];
    assert_eq!(detail["folders"], 7);
    let last = detail["written"][6].as_str().unwrap().strip_prefix(&path).unwrap().to_owned();
    assert!(last.starts_with("/1/2/3/4/5/6/.kusaw-probe-"), "{last}");
    assert_eq!(one(&format!("write-sweep {path}/x"))["errno"], "ENOTDIR");
    assert_eq!(one(&format!("write-sweep {path}/y"))["errno"], "ENOENT");
}

#[test]
fn a_write_sweep_finds_no_place_where_none_is() {
    let detail = &one("write-sweep /proc/self/task")["detail"];
    assert!(detail["tried"].as_i64().unwrap() > 1, "{detail}");
    assert_eq!((&detail["made"], &detail["written"]), (&json!(0), &json!([])));
}
