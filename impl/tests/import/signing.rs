//! What is imported is signed with the user's key, whole or not at all, and once: killed and begun again, the branches stand at
//! the same commits, also with a key that never signs the same bytes twice alike.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use kusaw::git::import::Code;

use crate::ground::{Ground, all, command};

/// A ground whose import signs with a new key of this kind; the private one lies beside it.
fn signing(format: &str, kind: &str) -> Ground {
    let mut ground = Ground::of(format, "files");
    let key = key(&ground, "key", kind);
    let public = fs::read_to_string(&key).unwrap();
    fs::write(allowed(&ground), format!("a@b namespaces=\"git\" {public}")).unwrap();
    ground.record.sign = Some(key);
    ground
}

/// Makes one; the value is its public half.
fn key(ground: &Ground, name: &str, kind: &str) -> PathBuf {
    let key = ground.record.common.join("../..").canonicalize().unwrap().join(name);
    let made = Command::new("ssh-keygen").args(["-q", "-t", kind, "-N", "", "-f"]).arg(&key).status().unwrap();
    assert!(made.success());
    key.with_extension("pub")
}

fn allowed(ground: &Ground) -> PathBuf {
    ground.record.common.join("../../allowed")
}

/// Whether git finds a good signature of the key on the list.
fn is_good(ground: &Ground, id: &str) -> bool {
    let setting = format!("gpg.ssh.allowedSignersFile={}", allowed(ground).display());
    let mut git = command(&ground.record.common, &["-c", &setting, "verify-commit", id]);
    git.output().unwrap().status.success()
}

#[test]
fn every_commit_is_signed_and_else_as_it_was() {
    for (format, kind) in [("sha1", "ed25519"), ("sha1", "ecdsa"), ("sha256", "ed25519")] {
        let ground = signing(format, kind);
        ground.commit("one", "1\n");
        ground.step(&["branch", "kusaw/a/side"]);
        ground.commit("two", "2\n");
        ground.step(&["checkout", "-q", "kusaw/a/side"]);
        ground.commit("three", "3\n");
        ground.step(&["checkout", "-q", "kusaw/a/main"]);
        ground.step(&["merge", "-q", "--no-edit", "kusaw/a/side"]);
        let step = ground.step(&["log", "--format=%T %an %ad %s%n%b", "kusaw/a/main"]);
        let imported = ground.imported();
        assert_eq!(imported.signed, 4, "{format} {kind}");
        assert_eq!(ground.real(&["log", "--format=%T %an %ad %s%n%b", "kusaw/a/main"]), step);
        let new = ground.real(&["rev-list", "kusaw/a/main", "kusaw/a/side", "^main"]);
        assert_eq!(new.lines().count(), 4);
        assert!(new.lines().all(|id| is_good(&ground, id)), "{format} {kind}");
        assert!(!is_good(&ground, &ground.record.base), "what was there before is as it was");
        assert_eq!(ground.after(&["status", "--porcelain"]), "");
        // What the step made is not there beside it.
        assert_eq!(ground.real(&["cat-file", "--batch-all-objects", "--batch-check"]).matches(" commit ").count(), 5);
    }
}

#[test]
fn a_signature_of_the_step_is_taken_out() {
    let ground = signing("sha1", "ed25519");
    let own = key(&ground, "own", "ed25519");
    ground.commit("one", "1\n");
    let config = format!("user.signingkey={}", own.display());
    ground.step(&["-c", "gpg.format=ssh", "-c", &config, "commit", "-q", "-S", "--allow-empty", "-m", "own"]);
    let imported = ground.imported();
    assert!(imported.signed == 2 && is_good(&ground, &imported.tip));
    assert_eq!(ground.real(&["cat-file", "commit", &imported.tip]).matches("gpgsig").count(), 1);
}

#[test]
fn a_parent_in_capitals_is_signed_as_well() {
    let ground = signing("sha1", "ed25519");
    ground.commit("one", "1\n");
    let parent = ground.step(&["rev-parse", "HEAD"]).trim().to_uppercase();
    let tree = ground.step(&["rev-parse", "HEAD^{tree}"]);
    let commit = format!("tree {tree}parent {parent}\nauthor a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\ntwo\n");
    let two = ground.object("commit", commit.as_bytes());
    ground.set_own(&two);
    assert_eq!(ground.imported().signed, 2);
    let new = ground.real(&["rev-list", "kusaw/a/main", "^main"]);
    assert_eq!(new.lines().count(), 2);
    assert!(new.lines().all(|id| is_good(&ground, id)), "{new}");
}

#[test]
fn begun_again_it_comes_to_the_same_commits() {
    // ECDSA's signatures are another each time.
    let ground = signing("sha1", "ecdsa");
    ground.commit("one", "1\n");
    ground.step(&["branch", "kusaw/a/side"]);
    ground.commit("two", "2\n");
    let first = ground.imported();
    let tip = first.tip.clone();
    // Killed after its branches had moved.
    let again = ground.imported();
    assert_eq!((again.tip.clone(), again.branches.clone(), again.signed), (tip.clone(), first.branches.clone(), 2));
    // Killed before the last of them had, and before the first.
    ground.real(&["update-ref", "-d", "refs/heads/kusaw/a/side"]);
    assert_eq!(ground.imported().branches, first.branches);
    ground.real(&["update-ref", "-d", "refs/heads/kusaw/a/side"]);
    ground.real(&["update-ref", "refs/heads/kusaw/a/main", &ground.record.base]);
    assert_eq!(ground.imported().tip, tip);
    // Killed before the repository had any of it: then it is signed anew.
    ground.real(&["update-ref", "-d", "refs/heads/kusaw/a/side"]);
    ground.real(&["update-ref", "refs/heads/kusaw/a/main", &ground.record.base]);
    ground.real(&["worktree", "prune"]);
    ground.real(&["reflog", "expire", "--expire=all", "--all"]);
    ground.real(&["gc", "-q", "--prune=now"]);
    let anew = ground.imported();
    assert!(anew.tip != tip && is_good(&ground, &anew.tip));
}

#[test]
fn what_cannot_be_signed_is_not_imported() {
    let ground = signing("sha1", "ed25519");
    ground.commit("one", "1\n");
    let (private, public) = (ground.record.common.join("../../key"), ground.record.sign.clone().unwrap());
    let kept = fs::read(&private).unwrap();
    fs::remove_file(&private).unwrap();
    let before = all(&ground.record.common);
    let (code, detail) = ground.refused();
    assert!(code == Code::NotSigned && code.may_pass() && detail.contains(public.to_str().unwrap()), "{detail}");
    assert!(all(&ground.record.common) == before);
    fs::write(&private, kept).unwrap();
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&private, fs::Permissions::from_mode(0o600)).unwrap();
    let imported = ground.imported();
    assert!(is_good(&ground, &imported.tip));
}

#[test]
fn where_nothing_is_new_nothing_is_signed() {
    let ground = signing("sha1", "ed25519");
    let imported = ground.imported();
    assert_eq!((imported.signed, &imported.tip), (0, &ground.record.base));
    // What the repository had already is somebody else's.
    let other = ground.real(&["commit-tree", "-p", "main", "-m", "theirs", "main^{tree}"]);
    ground.real(&["update-ref", "refs/heads/theirs", other.trim()]);
    ground.set_own(other.trim());
    let imported = ground.imported();
    assert_eq!((imported.signed, imported.tip), (0, other.trim().to_string()));
}
