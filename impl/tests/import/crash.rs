//! Killed anywhere and called again, an import comes to the same end.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use kusaw::git::import::{Code, import};
use kusaw::git::lock::Lock;
use kusaw::git::store::Store;

use crate::ground::{Ground, git};

/// In a child of this test program: the store whose record is to be imported.
const STORE: &str = "KUSAW_TEST_STORE";

/// Not a test but for the child of the next one.
#[test]
fn child() {
    if let Some(root) = env::var_os(STORE) {
        let store = Store { root: PathBuf::from(root) };
        let record = serde_json::from_slice(&fs::read(store.record()).unwrap()).unwrap();
        import(&store, &record, &|| false).unwrap();
    }
}

#[test]
fn killed_at_any_moment() {
    let mut hits = 0;
    for first in [0, 30, 50, 70, 90] {
        let ground = Ground::new();
        (0..5).for_each(|n| drop(ground.commit("file", &format!("{n}\n"))));
        fs::write(ground.record.worktree.join("same"), "uncommitted\n").unwrap();
        fs::write(ground.store.record(), serde_json::to_vec(&ground.record).unwrap()).unwrap();
        for later in 0..4 {
            let mut child = Command::new(env::current_exe().unwrap());
            child.args(["--exact", "crash::child"]).env(STORE, &ground.store.root).stdout(Stdio::null());
            let mut child = child.spawn().unwrap();
            sleep(Duration::from_millis(first + 4 * later));
            hits += u32::from(child.try_wait().unwrap().is_none());
            child.kill().unwrap();
            child.wait().unwrap();
            // As soon as what it had started has ended as well.
            drop(Lock::take(&ground.record.common).unwrap());
            ground.real(&["fsck", "--strict", "--no-dangling"]);
        }
        ground.imported();
        assert_eq!(ground.after(&["status", "--porcelain"]), " M same\n");
        assert_eq!(ground.after(&["log", "--oneline"]).lines().count(), 6);
    }
    assert!(hits > 3, "it was hit {hits} times only");
}

#[test]
fn what_the_first_one_left_is_taken_away_and_what_others_have_is_not() {
    let ground = Ground::new();
    ground.commit("file", "two\n");
    let real = |name: &str| ground.record.common.join(name);
    let own = ["refs/heads/kusaw/a/main.lock", "refs/heads/kusaw/a/x.lock", "worktrees/repo/HEAD.lock"];
    own.iter().for_each(|name| {
        let lock = fs::File::create(real(name)).unwrap();
        lock.set_modified(SystemTime::now() - Duration::from_secs(120)).unwrap();
    });
    fs::write(real("worktrees/repo/index.kusaw"), "half").unwrap();
    fs::write(real("objects/pack/pack-0.keep"), "kusaw import a/repo\n").unwrap();
    fs::create_dir_all(ground.store.import().join("quarantine.git/objects/pack")).unwrap();
    fs::write(ground.store.import().join("quarantine.git/objects/pack/tmp_pack"), "half").unwrap();
    ground.imported();
    let others = [
        "refs/heads/main.lock",
        // One that somebody's git has just made.
        "refs/heads/kusaw/a/theirs.lock",
        "packed-refs.lock",
        "objects/pack/pack-1.keep",
        "objects/pack/pack-2.keep",
        "objects/pack/pack-3.keep",
    ];
    let texts = ["", "", "", "", "kusaw import a-/repo\n", "kusaw-a-repo\n"];
    others.iter().zip(texts).for_each(|(name, text)| fs::write(real(name), text).unwrap());
    ground.commit("file", "three\n");
    let mut record = ground.record.clone();
    record.base = ground.real(&["rev-parse", "kusaw/a/main"]).trim().into();
    import(&ground.store, &record, &|| false).unwrap();
    assert!(others.iter().all(|name| real(name).exists()));
}

/// The pack of an attempt whose branch was removed: somebody looks at it still, with a detached HEAD.
#[test]
fn a_pack_that_was_there_before_stays_when_the_branches_cannot_move() {
    let ground = Ground::new();
    let tip = ground.commit("file", "two\n");
    ground.imported();
    ground.real(&["update-ref", "refs/heads/kusaw/a/main", &ground.record.base]);
    ground.real(&["config", "core.filesRefLockTimeout", "0"]);
    let before = crate::ground::all(&ground.record.common.join("objects"));
    let lock = ground.record.common.join("refs/heads/kusaw/a/main.lock");
    fs::write(&lock, "").unwrap();
    assert_eq!(ground.import().unwrap_err().code, Code::Failed);
    assert!(crate::ground::all(&ground.record.common.join("objects")) == before);
    ground.real(&["cat-file", "-e", &tip]);
    fs::remove_file(lock).unwrap();
    ground.imported();
}

/// Killed between two of the last stages, as the kernel may at a power failure.
#[test]
fn every_half_of_the_last_stage_is_made_whole() {
    for stage in 1..=2 {
        let ground = Ground::new();
        let tip = ground.commit("file", "two\n");
        let pack = ground.store.root.join("x");
        let base = &ground.record.base;
        let name = ground.step_with(
            &["pack-objects", "--revs", "-q", pack.to_str().unwrap()],
            format!("{tip}\n^{base}\n").as_bytes(),
        );
        let bytes = fs::read(format!("{}-{}.pack", pack.display(), name.trim())).unwrap();
        let repo = ground.record.common.parent().unwrap();
        git(repo, &["index-pack", "--stdin", "--keep=kusaw import a/repo"], &bytes);
        if stage == 2 {
            ground.real(&["update-ref", "refs/heads/kusaw/a/main", &tip]);
        }
        assert_eq!(ground.imported().tip, tip);
        assert_eq!(ground.after(&["status", "--porcelain"]), "");
        let packs = fs::read_dir(ground.record.objects[0].join("pack")).unwrap().map(|entry| entry.unwrap().path());
        assert_eq!(packs.filter(|path| path.extension().is_some_and(|is| is == "pack")).count(), 1);
    }
}

#[test]
fn two_at_once() {
    let first = Ground::new();
    let tip = first.commit("file", "two\n");
    std::thread::scope(|scope| {
        let both = [0; 2].map(|_| scope.spawn(|| first.import().unwrap().tip));
        both.into_iter().for_each(|one| assert_eq!(one.join().unwrap(), tip));
    });
    first.imported();
}
