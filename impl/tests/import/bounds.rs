//! Few objects that are much: refused in bounded time, at the first try. And an import that is told to end.

use std::cell::Cell;
use std::time::{Duration, Instant};

use kusaw::git::import::{Code, import};
use kusaw::git::lock::Lock;

use crate::ground::{Ground, entry};

/// 2^depth folders out of `depth` objects, with `id` at the end of each way.
fn bomb(ground: &Ground, depth: usize, id: &str) -> String {
    let leaf = ground.object("tree", &entry("100644", "a", id));
    (0..depth)
        .fold(leaf, |tree, _| ground.object("tree", &[entry("40000", "a", &tree), entry("40000", "b", &tree)].concat()))
}

#[test]
fn many_folders_of_few_objects() {
    // More paths than are looked at; more than git itself has memory for.
    for depth in [19, 22] {
        let ground = Ground::new();
        let tree = bomb(&ground, depth, &ground.object("blob", b"x\n"));
        let tip = ground.commit_tree(&entry("40000", "bomb", &tree));
        (0..20).for_each(|n| ground.set(&format!("refs/heads/kusaw/a/b{n}"), &format!("{tip}\n")));
        let start = Instant::now();
        let (code, detail) = ground.refused();
        assert_eq!(code, Code::TooMany, "{detail}");
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    }
    assert!(!Code::TooMany.may_pass());
}

/// Two names that differ in case, in each of many folders, in all tips.
#[test]
fn many_folders_to_look_at_more_closely() {
    let ground = Ground::new();
    let id = ground.object("blob", b"x\n");
    let pair = ground.object("tree", &[entry("100644", "A", &id), entry("100644", "a", &id)].concat());
    let tree = (0..15).fold(pair, |tree, _| {
        ground.object("tree", &[entry("40000", "a", &tree), entry("40000", "b", &tree)].concat())
    });
    ground.commit_tree(&entry("40000", "bomb", &tree));
    assert_eq!(ground.refused().0, Code::TooMany);
}

#[test]
fn a_checkout_that_is_larger_than_its_objects() {
    let ground = Ground::new();
    // Half a megabyte, 8,192 times.
    let tree = bomb(&ground, 13, &ground.object("blob", &vec![0; 1 << 19]));
    ground.commit_tree(&entry("40000", "bomb", &tree));
    let (code, detail) = ground.refused();
    assert_eq!(code, Code::TooLarge);
    assert!(detail.contains("4294967296 bytes more than its base"), "{detail}");
    // A change that goes back and forth is no such thing.
    let ground = Ground::new();
    for text in ["a", "b"].repeat(4) {
        ground.commit("file", &text.repeat(1 << 20));
    }
    ground.imported();
}

#[test]
fn a_link_s_target_of_megabytes_is_not_read() {
    let ground = Ground::new();
    let target = ground.object("blob", &vec![b'a'; 64 << 20]);
    ground.commit_tree(&entry("120000", "link", &target));
    let (code, detail) = ground.refused();
    assert_eq!(code, Code::LinkOutside);
    assert!(detail.contains("longer than paths go"), "{detail}");
}

#[test]
fn an_import_that_is_told_to_end_is_begun_again() {
    let ground = Ground::new();
    let tip = ground.commit("file", "two\n");
    let before = crate::ground::all(&ground.record.common);
    // Everywhere it looks, one place after the other; the last ones are after the branches have moved.
    let mut told = 0;
    for after in 0.. {
        let looks = Cell::new(0);
        let stop = || looks.replace(looks.get() + 1) >= after;
        match import(&ground.store, &ground.record, &stop) {
            Ok(imported) => {
                assert_eq!(imported.tip, tip);
                break;
            }
            Err(rejected) => assert_eq!(rejected.code, Code::Interrupted, "{rejected}"),
        }
        assert!(Code::Interrupted.may_pass() && crate::ground::all(&ground.record.common) == before);
        told += 1;
    }
    assert!(told > 5, "{told}");
    ground.imported();
}

/// The repository is somebody else's for as long as it is not written.
#[test]
fn what_is_refused_or_empty_never_waits_for_the_repository() {
    let ground = Ground::new();
    let _lock = Lock::take(&ground.record.common).unwrap();
    assert_eq!(ground.import().unwrap().tip, ground.record.base);
    ground.commit("file", "two\n");
    let start = Instant::now();
    let stop = || start.elapsed() > Duration::from_millis(300);
    assert_eq!(import(&ground.store, &ground.record, &stop).unwrap_err().code, Code::Interrupted);
}
