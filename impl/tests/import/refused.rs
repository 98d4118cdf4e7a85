//! Stores that no git may be given to read, refs that are none, objects that are not there: refused, each with its code, and
//! the repository is byte for byte as it was.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use kusaw::git::import::Code;
use nix::sys::stat::Mode;

use crate::ground::Ground;

fn committed() -> Ground {
    let ground = Ground::new();
    ground.commit("file", "changed\n");
    ground
}

/// A store with one commit, after `harm`: refused with this code.
fn refused(code: Code, harm: impl Fn(&Ground)) {
    let ground = committed();
    harm(&ground);
    let (is, detail) = ground.refused();
    assert_eq!(is, code, "{detail}");
}

fn own(ground: &Ground) -> PathBuf {
    ground.store.git().join(ground.record.branch())
}

fn replace(file: &PathBuf, with: impl Fn(&PathBuf)) {
    fs::remove_file(file).unwrap();
    with(file);
}

fn fifo(at: &PathBuf) {
    nix::unistd::mkfifo(at, Mode::S_IRWXU).unwrap();
}

#[test]
fn what_is_neither_file_nor_folder() {
    for name in ["objects/zz", "objects/pack/pack-x.idx", "objects/info/commit-graph", "refs/heads/x", "refs/x"] {
        refused(Code::StoreFile, |ground| fifo(&ground.store.git().join(name)));
        refused(Code::StoreFile, |ground| symlink("/etc/passwd", ground.store.git().join(name)).unwrap());
    }
    refused(Code::StoreFile, |ground| replace(&ground.store.git().join("packed-refs"), fifo));
    refused(Code::StoreFile, |ground| {
        replace(&ground.store.git().join("packed-refs"), |at| symlink("/etc/passwd", at).unwrap());
    });
    refused(Code::StoreFile, |ground| {
        let heads = ground.store.git().join("refs/heads");
        fs::rename(&heads, ground.store.git().join("moved")).unwrap();
        symlink("../moved", heads).unwrap();
    });
    refused(Code::StoreFile, |ground| replace(&own(ground), fifo));
    refused(Code::StoreFile, |ground| replace(&own(ground), |at| symlink("/etc/hostname", at).unwrap()));
    refused(Code::StoreFile, |ground| fs::remove_dir_all(ground.store.git().join("objects")).unwrap());
}

#[test]
fn what_borrows_from_elsewhere() {
    for name in ["alternates", "http-alternates"] {
        refused(Code::StoreBorrows, |ground| ground.set(&format!("objects/info/{name}"), "/elsewhere\n"));
    }
}

#[test]
fn what_is_too_large() {
    refused(Code::StoreTooLarge, |ground| File::create(own(ground)).unwrap().set_len(2 << 30).unwrap());
}

#[test]
fn a_folder_that_cannot_be_read_hides_nothing() {
    refused(if nix::unistd::geteuid().is_root() { Code::ObjectsMissing } else { Code::StoreFile }, |ground| {
        let closed = ground.store.git().join("objects").join(&ground.tip()[..2]);
        fs::set_permissions(closed, PermissionsExt::from_mode(0o0)).unwrap();
    });
}

#[test]
fn an_own_branch_that_is_none() {
    refused(Code::BranchMissing, |ground| {
        fs::remove_file(own(ground)).unwrap();
        fs::remove_file(ground.store.git().join("packed-refs")).unwrap();
    });
    refused(Code::BranchSymbolic, |ground| ground.set(&ground.record.branch(), "ref: refs/heads/main\n"));
    refused(Code::BranchMissing, |ground| ground.set(&ground.record.branch(), "ref: refs/heads/nowhere\n"));
    refused(Code::BranchMissing, |ground| ground.set(&ground.record.branch(), "--upload-pack=touch /tmp/x\n"));
    refused(Code::BranchMissing, |ground| {
        fs::remove_file(own(ground)).unwrap();
        fs::create_dir(own(ground)).unwrap();
        fs::write(own(ground).join("x"), "x").unwrap();
        fs::remove_file(ground.store.git().join("packed-refs")).unwrap();
    });
    refused(Code::ObjectsMissing, |ground| ground.set_own(&"12".repeat(20)));
    refused(Code::BranchMissing, |ground| ground.set_own(&"12".repeat(32)[..63]));
}

#[test]
fn an_own_branch_at_no_commit() {
    refused(Code::NoCommit, |ground| ground.set_own(ground.step(&["rev-parse", "HEAD:file"]).trim()));
    refused(Code::NoCommit, |ground| ground.set_own(ground.step(&["rev-parse", "HEAD^{tree}"]).trim()));
    // One of the repository itself: there is nothing new in it.
    refused(Code::NoCommit, |ground| ground.set_own(ground.step(&["rev-parse", "HEAD~1:same"]).trim()));
    refused(Code::NoCommit, |ground| {
        ground.step(&["tag", "-a", "-m", "x", "t"]);
        ground.set_own(ground.step(&["rev-parse", "t"]).trim());
    });
    refused(Code::NoCommit, |ground| {
        ground.step(&["tag", "-a", "-m", "x", "t"]);
        let tag = ground.step(&["rev-parse", "t"]);
        ground.set("refs/heads/kusaw/a/second", &tag);
    });
}

#[test]
fn objects_that_are_gone_or_broken() {
    refused(Code::ObjectsMissing, |ground| {
        let objects = ground.store.git().join("objects");
        for entry in fs::read_dir(&objects).unwrap().map(Result::unwrap).filter(|entry| entry.file_name().len() == 2) {
            fs::remove_dir_all(entry.path()).unwrap();
        }
    });
    let of = |ground: &Ground, what: &str| {
        let id = ground.step(&["rev-parse", what]);
        ground.store.git().join("objects").join(&id[..2]).join(id[2..].trim())
    };
    for what in ["HEAD:file", "HEAD^{tree}", "HEAD"] {
        refused(Code::ObjectsMissing, |ground| fs::remove_file(of(ground, what)).unwrap());
        refused(Code::ObjectsMissing, |ground| {
            let at = of(ground, what);
            replace(&at, |at| fs::write(at, "garbage").unwrap());
        });
    }
    refused(Code::ObjectsMissing, |ground| {
        ground.step(&["repack", "-adlq"]);
        let pack = ground.store.git().join("objects/pack");
        let index = fs::read_dir(pack).unwrap().map(|e| e.unwrap().path());
        let index = index.into_iter().find(|path| path.extension().is_some_and(|is| is == "idx")).unwrap();
        replace(&index, |at| fs::write(at, "garbage").unwrap());
    });
}

#[test]
fn an_object_under_the_name_of_another_does_not_come_along() {
    // Where `file` of the base is asked for, the store has other bytes.
    let ground = Ground::new();
    let blob = ground.step(&["rev-parse", "HEAD:file"]);
    let forged = ground.object("blob", b"forged\n");
    let at = |id: &str| ground.store.git().join("objects").join(&id[..2]).join(id[2..].trim());
    fs::create_dir_all(at(&blob).parent().unwrap()).unwrap();
    fs::rename(at(&forged), at(&blob)).unwrap();
    ground.commit("other", "x\n");
    ground.imported();
    assert_eq!(ground.real(&["cat-file", "blob", blob.trim()]), "one\n");
    // And a new one whose bytes are not what it is called.
    refused(Code::ObjectsMissing, |ground| {
        let at = |id: &str| ground.store.git().join("objects").join(&id[..2]).join(id[2..].trim());
        let blob = ground.step(&["rev-parse", "HEAD:file"]);
        let forged = ground.object("blob", b"forged\n");
        fs::remove_file(at(&blob)).unwrap();
        fs::rename(at(&forged), at(&blob)).unwrap();
    });
}

#[test]
fn a_branch_that_somebody_else_has_moved() {
    refused(Code::BranchMoved, |ground| {
        ground.real(&["commit", "-q", "--allow-empty", "-m", "outside"]);
        ground.real(&["update-ref", "refs/heads/kusaw/a/main", "main"]);
    });
    refused(Code::BranchMoved, |ground| drop(ground.real(&["update-ref", "-d", "refs/heads/kusaw/a/main"])));
    refused(Code::BranchMoved, |ground| {
        ground.step(&["branch", "kusaw/a/second"]);
        ground.real(&["branch", "kusaw/a/second", "main"]);
    });
}

/// The step's git cannot make these, but a file can say anything.
#[test]
fn a_branch_below_another_is_named_and_stops_nothing() {
    let ground = committed();
    let (tip, main) = (ground.tip(), ground.record.branch());
    let packed = ["x", "x/y", "z/a/b"].map(|name| format!("{tip} refs/heads/kusaw/a/{name}\n")).concat();
    fs::remove_file(own(&ground)).unwrap();
    ground.set("packed-refs", &format!("# pack-refs with: sorted \n{tip} {main}\n{packed}"));
    ground.real(&["branch", "kusaw/a/z/a", "main"]);
    let imported = ground.imported();
    assert_eq!(imported.branches, [("refs/heads/kusaw/a/x".into(), tip)]);
    assert!(["x/y", "z/a/b"].iter().all(|name| imported.left.contains(&format!("branch kusaw/a/{name}"))));
    assert_eq!(ground.imported().branches, imported.branches);
}

#[test]
fn branches_that_git_does_not_take_are_tried_once() {
    let ground = committed();
    let namespace = ground.record.common.join("refs/heads/kusaw/a");
    ground.step(&["branch", "kusaw/a/x/y"]);
    // A file that git takes for a broken ref.
    fs::write(namespace.join("x"), "garbage\n").unwrap();
    let rejected = ground.import().unwrap_err();
    assert_eq!(rejected.code, Code::BranchRefused, "{rejected}");
    assert!(!rejected.code.may_pass());
}

#[test]
fn a_blob_that_is_larger_unpacked_than_packed() {
    refused(Code::TooLarge, |ground| {
        let zeros = ground.record.worktree.join("zeros");
        File::create(&zeros).unwrap().set_len(600 << 20).unwrap();
        ground.step(&["-c", "core.bigFileThreshold=1m", "-c", "core.compression=1", "add", "zeros"]);
        fs::remove_file(zeros).unwrap();
        ground.step(&["commit", "-q", "-m", "zeros"]);
    });
}
