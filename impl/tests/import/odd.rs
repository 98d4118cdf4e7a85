//! Harm that stays in the store: the commits are imported, and nothing of the rest is.

use std::fs;
use std::os::unix::fs::symlink;

use crate::ground::{Ground, entry};

#[test]
fn what_is_not_read_does_no_harm() {
    let ground = Ground::new();
    let tip = ground.commit("file", "two\n");
    let git = ground.store.git();
    let outside = ground.record.common.parent().unwrap().join("precious");
    fs::write(&outside, "precious").unwrap();
    ground.set(
        "config",
        "[core]\n\tfsmonitor = touch pwned\n\tsshCommand = touch pwned\n[include]\n\tpath = /dev/zero\n",
    );
    ground.set("hooks/reference-transaction", "#!/bin/sh\ntouch pwned\n");
    ground.set("commondir", "/nowhere\n");
    ground.set("info/grafts", "garbage\n");
    ground.set("shallow", &format!("{tip}\n"));
    ground.set("objects/info/commit-graph", "garbage");
    ground.set("objects/pack/multi-pack-index", "garbage");
    ground.set("logs/HEAD", "garbage");
    ground.set(&format!("refs/replace/{}", ground.record.base), &format!("{tip}\n"));
    for name in ["ORIG_HEAD", "COMMIT_EDITMSG", "index"] {
        let _ = fs::remove_file(git.join(name));
        symlink(&outside, git.join(name)).unwrap();
        let _ = fs::remove_file(ground.store.admin().join(name));
        symlink(&outside, ground.store.admin().join(name)).unwrap();
    }
    fs::remove_file(git.join("HEAD")).unwrap();
    nix::unistd::mkfifo(&git.join("HEAD"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let imported = ground.imported();
    assert_eq!(imported.tip, tip);
    assert_eq!(imported.left, [format!("refs/replace/{}", ground.record.base)]);
    assert_eq!(ground.after(&["status", "--porcelain"]), "");
    assert_eq!(fs::read_to_string(outside).unwrap(), "precious");
    assert!(ground.real(&["for-each-ref", "refs/replace"]).is_empty());
}

#[test]
fn garbage_beside_packs() {
    let ground = Ground::new();
    (0..5).for_each(|n| drop(ground.commit(&format!("{n}"), "x\n")));
    ground.step(&["repack", "-adlq"]);
    let pack = ground.store.git().join("objects/pack");
    let packs: Vec<_> = fs::read_dir(&pack).unwrap().map(|e| e.unwrap().path()).collect();
    for part in ["bitmap", "rev", "mtimes"] {
        let at =
            packs.iter().find(|path| path.extension().is_some_and(|is| is == "pack")).unwrap().with_extension(part);
        let _ = fs::remove_file(&at);
        fs::write(at, "garbage").unwrap();
    }
    ground.imported();
}

#[test]
fn forty_thousand_refs_and_names_that_are_none() {
    let ground = Ground::new();
    let tip = ground.commit("file", "two\n");
    let mut packed = fs::read_to_string(ground.store.git().join("packed-refs")).unwrap();
    packed.push_str(&(0..40_000).map(|n| format!("{tip} refs/tags/x{n:05}\n")).collect::<String>());
    ground.set("packed-refs", &packed);
    ground.set("refs/heads/kusaw/a/-option", &format!("{tip}\n"));
    ground.set("refs/heads/kusaw/a/x.lock", &format!("{tip}\n"));
    ground.set("refs/heads/kusaw/a/esc\u{202e}", &format!("{tip}\n"));
    ground.set("refs/heads/garbage", "garbage");
    let imported = ground.imported();
    assert!(imported.branches.is_empty(), "{:?}", imported.branches);
    assert_eq!(imported.left.len(), 51);
    assert!(imported.left.iter().all(|name| !name.contains('\u{202e}')));
}

#[test]
fn submodules_and_attributes_are_data() {
    let ground = Ground::new();
    let modules = ground.object("blob", b"[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch% pwned\n");
    let attributes = ground.object("blob", b"* filter=evil diff=evil merge=evil\n");
    let tree = [
        entry("100644", ".gitattributes", &attributes),
        entry("100644", ".gitmodules", &modules),
        entry("160000", "x", &"ab".repeat(20)),
    ];
    let tip = ground.commit_tree(&tree.concat());
    ground.record.common.parent().map(|repo| {
        crate::ground::git(repo, &["config", "filter.evil.clean", "touch pwned; cat"], b"");
        crate::ground::git(repo, &["config", "filter.evil.smudge", "touch pwned; cat"], b"")
    });
    assert_eq!(ground.import().unwrap().tip, tip);
    assert!(!ground.record.worktree.join("pwned").exists());
}
