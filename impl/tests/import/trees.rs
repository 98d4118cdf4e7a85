//! Trees made by hand, as no git makes them: what fsck refuses, and what it accepts and the policy refuses.

use kusaw::git::import::Code;

use crate::ground::{Ground, entry};

fn blob(ground: &Ground) -> String {
    ground.object("blob", b"x\n")
}

/// A tree with one entry of this name.
fn named(ground: &Ground, name: &str, mode: &str) -> (Code, String) {
    let id = match mode {
        "40000" => ground.object("tree", &entry("100644", "config", &blob(ground))),
        _ => blob(ground),
    };
    ground.commit_tree(&entry(mode, name, &id));
    ground.refused()
}

#[test]
fn every_spelling_of_git() {
    let ground = Ground::new();
    let names = [".git", ".GIT", "git~1", ".g\u{200c}it", ".git::$INDEX_ALLOCATION", ".git ", ".git."];
    for name in names {
        for mode in ["40000", "100644", "120000"] {
            let (code, detail) = named(&ground, name, mode);
            assert_eq!(code, Code::PathGit, "{name:?} {mode}: {detail}");
        }
    }
    let inner = ground.object("tree", &entry("100644", "config", &blob(&ground)));
    let deep = ground.object("tree", &entry("40000", ".GIT", &inner));
    ground.commit_tree(&entry("40000", "sub", &deep));
    assert_eq!(ground.refused().0, Code::PathGit);
}

#[test]
fn names_that_are_no_names() {
    let ground = Ground::new();
    let wide = "a".repeat(5000);
    for name in ["..", ".", "a/b"] {
        let (code, detail) = named(&ground, name, "100644");
        assert_eq!(code, Code::ObjectsBad, "{name:?}: {detail}");
    }
    // Git before 2.43 takes any length: then it is the policy that refuses.
    assert!(matches!(named(&ground, &wide, "100644").0, Code::ObjectsBad | Code::PathTooLong));
    // Already git in the box cannot read it.
    assert_eq!(named(&ground, "", "100644").0, Code::ObjectsMissing);
    let id = blob(&ground);
    for tree in [
        [entry("100644", "a", &id), entry("100644", "a", &id)].concat(),
        [entry("100644", "b", &id), entry("100644", "a", &id)].concat(),
        entry("0100644", "a", &id),
        entry("100644", "a", &"00".repeat(20)),
    ] {
        ground.commit_tree(&tree);
        let (code, detail) = ground.refused();
        assert!(matches!(code, Code::ObjectsBad | Code::ObjectsMissing), "{detail}");
    }
}

#[test]
fn submodules_that_lead_elsewhere() {
    for text in [
        "[submodule \"x\"]\n\tpath = x\n\turl = -u./payload\n",
        "[submodule \"../../x\"]\n\tpath = x\n\turl = ./x\n",
        "[submodule \"x\"]\n\tpath = x\n\turl = ./x\n\tupdate = !touch /tmp/x\n",
        "[submodule \"x\"]\n\tpath = -x\n\turl = ./x\n",
    ] {
        let ground = Ground::new();
        let modules = ground.object("blob", text.as_bytes());
        ground.commit_tree(&entry("100644", ".gitmodules", &modules));
        assert_eq!(ground.refused().0, Code::ObjectsBad, "{text}");
    }
    let ground = Ground::new();
    ground.commit_tree(&entry("120000", ".gitmodules", &blob(&ground)));
    assert_eq!(ground.refused().0, Code::ObjectsBad);
}

/// The bytes are in the repository already, under a name that is harmless.
#[test]
fn a_bad_file_of_the_repository_under_another_name() {
    let ground = Ground::with("sha1", "files", |repo| {
        std::fs::write(repo.join("fixture"), "[submodule \"x\"]\n\tpath = x\n\turl = -u./payload\n").unwrap();
        crate::ground::git(repo, &["add", "fixture"], b"");
        crate::ground::git(repo, &["commit", "-q", "-m", "fixture"], b"");
    });
    let id = ground.step(&["rev-parse", "HEAD:fixture"]);
    ground.commit_tree(&entry("100644", ".gitmodules", id.trim()));
    assert_eq!(ground.refused().0, Code::ObjectsBad);
}

#[test]
fn commits_and_trees_that_are_broken() {
    let ground = Ground::new();
    let tree = ground.step(&["rev-parse", "HEAD^{tree}"]);
    for (author, code) in [("author a 1 +0000", Code::ObjectsBad), ("author a <a@b> 01 +0000", Code::ObjectsBad)] {
        let text = format!("tree {tree}{author}\ncommitter a <a@b> 1 +0000\n\nx\n");
        ground.set_own(&ground.object("commit", text.as_bytes()));
        assert_eq!(ground.refused().0, code, "{author}");
    }
    // A folder that is a file, and a file that is a folder.
    for (mode, what) in [("40000", "file"), ("100644", "dir")] {
        let id = ground.step(&["rev-parse", &format!("{}:{what}", ground.record.base)]);
        ground.commit_tree(&entry(mode, "x", id.trim()));
        let (code, detail) = ground.refused();
        assert!(matches!(code, Code::ObjectsBad | Code::ObjectsMissing), "{mode} {what}: {code} {detail}");
    }
    // 3,000 deep.
    let branch = ground.record.branch();
    let who = "committer a <a@b> 1 +0000\ndata 1\nx";
    let deep = format!("commit {branch}\n{who}\nM 644 inline {}x\ndata 1\nx\n", "d/".repeat(3000));
    ground.step_with(&["fast-import", "--quiet", "--force"], deep.as_bytes());
    let (code, detail) = ground.refused();
    // As above, for any depth.
    let deep = [Code::ObjectsBad, Code::ObjectsMissing, Code::PathTooLong];
    assert!(deep.contains(&code), "{code} {detail}");
}

#[test]
fn paths_that_only_the_policy_refuses() {
    let ground = Ground::new();
    for (name, code) in [
        ("..\\pwned", Code::PathBackslash),
        ("a\\b", Code::PathBackslash),
        ("line\nfeed", Code::PathControl),
        ("esc\u{1b}[2J", Code::PathControl),
        ("a\u{202e}txt.exe", Code::PathControl),
        ("\u{3164}", Code::PathControl),
        (&"a".repeat(300), Code::PathTooLong),
    ] {
        let (is, detail) = named(&ground, name, "100644");
        assert_eq!(is, code, "{name:?}: {detail}");
    }
}

#[test]
fn links_that_leave_the_tree() {
    for (target, code) in [
        ("/home/dev/.ssh/id", Code::LinkOutside),
        ("../outside", Code::LinkOutside),
        ("dir/../../outside", Code::LinkOutside),
        (".git/hooks", Code::LinkGit),
    ] {
        let ground = Ground::new();
        let link = ground.object("blob", target.as_bytes());
        ground.commit_tree(&entry("120000", "leak", &link));
        let (is, detail) = ground.refused();
        assert_eq!(is, code);
        assert!(detail.contains("leak") && detail.contains(target), "{detail}");
        // Gone again in the next commit: the first one can still be checked out.
        let tip = ground.tip();
        let tree = ground.step(&["rev-parse", "HEAD~1^{tree}"]);
        ground.set_own(ground.step(&["commit-tree", tree.trim(), "-p", &tip, "-m", "x"]).trim());
        assert_eq!(ground.refused().0, code);
    }
    let ground = Ground::new();
    let link = ground.object("blob", b"../file");
    let inner = ground.object("tree", &entry("120000", "link", &link));
    ground
        .commit_tree(&[entry("40000", "dir", &inner), entry("120000", "up", &ground.object("blob", b"dir"))].concat());
    ground.imported();
}

#[test]
fn names_that_are_one_elsewhere() {
    let ground = Ground::new();
    let id = blob(&ground);
    let folder = ground.object("tree", &entry("100644", "x", &id));
    let link = ground.object("blob", b"dir");
    ground.commit_tree(&[entry("120000", "D", &link), entry("40000", "d", &folder)].concat());
    assert_eq!(ground.refused().0, Code::PathCase);
    let ground = Ground::new();
    ground.commit("dir/INNER", "x\n");
    let (code, detail) = ground.refused();
    assert_eq!(code, Code::PathCase);
    assert!(detail.contains("/dir"), "{detail}");
}

#[test]
fn what_the_repository_has_already_is_not_the_step_s_doing() {
    let ground = Ground::with("sha1", "files", |repo| {
        std::fs::create_dir(repo.join("Dir")).unwrap();
        std::os::unix::fs::symlink("/dev/null", repo.join("out")).unwrap();
        for name in ["Same", "a\\b", "Dir/x"] {
            std::fs::write(repo.join(name), "x\n").unwrap();
        }
        crate::ground::git(repo, &["add", "-A"], b"");
        crate::ground::git(repo, &["commit", "-q", "-m", "odd"], b"");
    });
    ground.commit("Same", "changed\n");
    ground.commit("a\\b", "changed\n");
    ground.commit("dir/more", "x\n");
    std::fs::remove_file(ground.record.worktree.join("out")).unwrap();
    ground.step(&["commit", "-q", "-am", "without the link"]);
    ground.imported();
}

/// git shows no path in them, and checks them out.
#[test]
fn empty_folders_have_names_as_well() {
    let ground = Ground::new();
    let empty = ground.object("tree", b"");
    for (name, code) in [("a\\b", Code::PathBackslash), ("a\u{1b}", Code::PathControl)] {
        ground.commit_tree(&entry("40000", name, &empty));
        assert_eq!(ground.refused().0, code);
    }
}

/// git fsck would speak of it for ever, and git shows and checks it out as if it was a usual one.
#[test]
fn modes_that_are_none() {
    let ground = Ground::new();
    for mode in ["100666", "100664", "120777", "10644"] {
        let (code, detail) = named(&ground, "odd", mode);
        assert_eq!(code, Code::ObjectsBad, "{mode}: {detail}");
    }
}

#[test]
fn links_that_leave_the_tree_through_others() {
    use std::os::unix::fs::symlink;
    let with_links = || {
        Ground::with("sha1", "files", |repo| {
            symlink("/nowhere", repo.join("ext")).unwrap();
            symlink("dir/sub/../inner", repo.join("in")).unwrap();
            std::fs::create_dir(repo.join("dir/sub")).unwrap();
            std::fs::write(repo.join("dir/sub/x"), "x\n").unwrap();
            crate::ground::git(repo, &["add", "-A"], b"");
            crate::ground::git(repo, &["commit", "-q", "-m", "links"], b"");
        })
    };
    let ground = with_links();
    let file = |name: &str| ground.record.worktree.join(name);
    symlink("ext/x", file("dir/leak")).unwrap();
    symlink("ext/x", file("leak")).unwrap();
    symlink("dir/inner", file("fine")).unwrap();
    ground.step(&["add", "fine", "dir/leak"]);
    ground.step(&["commit", "-q", "-m", "links"]);
    ground.imported();
    let ground = with_links();
    symlink("ext/x", ground.record.worktree.join("leak")).unwrap();
    ground.step(&["add", "leak"]);
    ground.step(&["commit", "-q", "-m", "leak"]);
    let (code, detail) = ground.refused();
    assert_eq!(code, Code::LinkOutside);
    assert!(detail.contains("leak") && detail.contains("ext/x, through another link"), "{detail}");
    // A link of the repository's, led elsewhere by a new one on its way.
    let ground = with_links();
    std::fs::remove_dir_all(ground.record.worktree.join("dir/sub")).unwrap();
    symlink("..", ground.record.worktree.join("dir/sub")).unwrap();
    ground.step(&["add", "-A"]);
    ground.step(&["commit", "-q", "-m", "up"]);
    let (code, detail) = ground.refused();
    assert_eq!(code, Code::LinkOutside);
    assert!(detail.starts_with("in in "), "{detail}");
}
