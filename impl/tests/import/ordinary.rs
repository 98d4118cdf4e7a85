//! Ordinary work arrives whole.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::ground::{Ground, command, git};

#[test]
fn without_a_commit_nothing_happens() {
    let ground = Ground::new();
    let before = crate::ground::all(&ground.record.common);
    fs::write(ground.record.worktree.join("file"), "edited\n").unwrap();
    let imported = ground.imported();
    assert_eq!(imported.tip, ground.record.base);
    assert!(imported.branches.is_empty() && imported.left.is_empty() && imported.quarantined.is_empty());
    assert!(crate::ground::all(&ground.record.common) == before);
}

#[test]
fn commits_and_uncommitted_work_are_there_whatever_the_repository_keeps_them_in() {
    // Git before 2.45 has no reftables.
    let folder = tempfile::tempdir().unwrap();
    let reftables = command(folder.path(), &["init", "-q", "--ref-format=reftable"]).status().unwrap().success();
    let kinds = [("sha1", "files"), ("sha256", "files"), ("sha1", "reftable"), ("sha256", "reftable")];
    for (format, refs) in kinds.into_iter().filter(|(_, refs)| reftables || *refs == "files") {
        let ground = Ground::of(format, refs);
        for n in 0..10 {
            ground.commit("file", &format!("{n}\n"));
        }
        let tip = ground.commit("new/file", "new\n");
        fs::write(ground.record.worktree.join("same"), "uncommitted\n").unwrap();
        fs::write(ground.record.worktree.join("untracked"), "untracked\n").unwrap();
        let imported = ground.imported();
        assert_eq!(imported.tip, tip, "{format} {refs}");
        assert_eq!(ground.after(&["status", "--porcelain"]), " M same\n?? untracked\n", "{format} {refs}");
        assert_eq!(ground.after(&["log", "--oneline"]).lines().count(), 12);
        let line = ground.after(&["reflog", "-1", "--format=%gs %gn", "HEAD"]);
        assert_eq!(line.trim(), "kusaw: import kusaw");
        assert_eq!(ground.real(&["reflog", "-1", "--format=%gs", "kusaw/a/main"]).trim(), "kusaw: import");
        // Again: it is there already.
        assert_eq!(ground.imported(), imported);
        assert_eq!(ground.real(&["rev-parse", "main"]).trim(), ground.record.base);
    }
}

#[test]
fn the_index_keeps_what_it_knows_of_unchanged_files() {
    let ground = Ground::new();
    ground.commit("file", "changed\n");
    ground.imported();
    let known = ground.after(&["ls-files", "--debug", "same"]);
    let inode = fs::metadata(ground.record.worktree.join("same")).unwrap().ino();
    assert!(known.contains(&format!("ino: {inode}")), "{known}");
}

#[test]
fn further_branches_of_the_namespace_come_along_and_the_rest_is_named() {
    let ground = Ground::new();
    let tip = ground.commit("file", "two\n");
    ground.step(&["branch", "kusaw/a/second"]);
    ground.step(&["tag", "mine"]);
    ground.step(&["branch", "-f", "main"]);
    ground.step(&["branch", "-D", "feat"]);
    fs::write(ground.record.worktree.join("file"), "stashed\n").unwrap();
    ground.step(&["stash", "-q"]);
    let imported = ground.imported();
    assert_eq!(imported.branches, [("refs/heads/kusaw/a/second".into(), tip.clone())]);
    assert_eq!(imported.left, ["branch main", "stash", "tag mine", "branch feat (removed)"]);
    let refs = ground.real(&["for-each-ref", "--format=%(refname:short)"]);
    assert_eq!(refs.lines().collect::<Vec<_>>(), ["feat", "kusaw/a/main", "kusaw/a/second", "main", "v1"]);
    assert_eq!(ground.real(&["rev-parse", "main"]).trim(), ground.record.base);
}

#[test]
fn only_a_further_branch() {
    let ground = Ground::new();
    ground.step(&["switch", "-q", "-c", "kusaw/a/second"]);
    ground.commit("file", "two\n");
    let imported = ground.imported();
    assert_eq!((imported.tip, imported.branches.len()), (ground.record.base.clone(), 1));
}

#[test]
fn history_can_be_rewritten_and_gone_back_in() {
    let ground = Ground::with("sha1", "files", |repo| {
        fs::write(repo.join("file"), "second\n").unwrap();
        git(repo, &["commit", "-q", "-am", "second"], b"");
    });
    ground.step(&["reset", "-q", "--hard", "HEAD~1"]);
    let back = ground.imported();
    assert_eq!(back.tip, ground.real(&["rev-parse", "main~1"]).trim());
    assert_eq!(ground.after(&["status", "--porcelain"]), "");
}

#[test]
fn packed_objects_and_refs_arrive_as_well() {
    let ground = Ground::new();
    (0..20).for_each(|n| drop(ground.commit(&format!("d/{n}"), "text\n")));
    ground.step(&["gc", "-q", "--aggressive"]);
    ground.step(&["pack-refs", "--all"]);
    assert!(!ground.store.git().join(ground.record.branch()).exists());
    let tip = ground.tip();
    assert_eq!(ground.imported().tip, tip);
}

#[test]
fn what_others_have_committed_badly_long_ago_may_be_merged() {
    let ground = Ground::with("sha1", "files", |repo| {
        let tree = git(repo, &["rev-parse", "HEAD^{tree}"], b"");
        let blob = git(repo, &["rev-parse", "HEAD:file"], b"");
        let old = crate::ground::entry("100644", "a\\b", blob.trim());
        let bad = git(repo, &["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], &old);
        assert_ne!(bad, tree);
        // A date that fsck refuses, and a name that the policy refuses.
        let text = format!("tree {}author a <a@b> 01 +0000\ncommitter a <a@b> 01 +0000\n\nold\n", bad);
        let commit = git(repo, &["hash-object", "-t", "commit", "-w", "--literally", "--stdin"], text.as_bytes());
        git(repo, &["update-ref", "refs/heads/old", commit.trim()], b"");
    });
    ground.step(&["merge", "-q", "--allow-unrelated-histories", "-m", "merge", "old"]);
    let tip = ground.commit("file", "after\n");
    assert_eq!(ground.import().unwrap().tip, tip);
    assert_eq!(ground.real(&["rev-parse", "kusaw/a/main"]).trim(), tip);
}

#[test]
fn alternates_of_alternates_and_paths_that_need_quotes() {
    let mut ground = Ground::new();
    let odd = ground.record.common.parent().unwrap().join("a:b \"c\\d");
    crate::ground::copy(&ground.record.common.join("objects"), &odd);
    ground.record.objects.push(odd);
    let tip = {
        let mut only = ground.record.objects.clone();
        only.truncate(1);
        let all = std::mem::replace(&mut ground.record.objects, only);
        let tip = ground.commit("file", "two\n");
        ground.record.objects = all;
        tip
    };
    assert_eq!(ground.imported().tip, tip);
}

/// The repository becomes a clone of itself, made with `arguments`.
fn cloned(arguments: &'static [&'static str]) -> Ground {
    Ground::with("sha1", "files", |repo| {
        fs::write(repo.join("file"), "second\n").unwrap();
        git(repo, &["commit", "-q", "-am", "second"], b"");
        let above = repo.parent().unwrap();
        git(repo, &["config", "uploadpack.allowFilter", "true"], b"");
        fs::rename(repo, above.join("origin")).unwrap();
        let from = format!("file://{}", above.join("origin").display());
        git(above, &[&["clone", "-q"], arguments, &[&from, "repo"]].concat(), b"");
    })
}

#[test]
fn clones_that_do_not_have_everything() {
    for arguments in [&["--depth=1"][..], &["--filter=blob:none"]] {
        let ground = cloned(arguments);
        ground.commit("file", "third\n");
        let tip = ground.commit("new", "x\n");
        assert_eq!(ground.import().unwrap().tip, tip, "{arguments:?}");
        assert_eq!(ground.after(&["status", "--porcelain"]), "");
    }
}

#[test]
fn a_broken_ref_of_the_repository_is_in_nobody_s_way() {
    let ground = Ground::new();
    ground.real(&["commit", "-q", "--allow-empty", "-m", "outside"]);
    ground.step(&["merge", "-q", ground.real(&["rev-parse", "main"]).trim()]);
    let tip = ground.commit("file", "two\n");
    fs::write(ground.record.common.join("refs/heads/broken"), "12".repeat(20) + "\n").unwrap();
    assert_eq!(ground.import().unwrap().tip, tip);
}

#[test]
fn a_folder_that_is_borrowed_from_may_be_away() {
    let mut ground = Ground::new();
    ground.record.objects.push(ground.record.common.join("../away/objects"));
    let tip = ground.commit("file", "two\n");
    assert_eq!(ground.imported().tip, tip);
}
