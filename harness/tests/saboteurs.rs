//! The faults, without building anything: they are in order, they apply to today's source, and there are enough of them.

#![allow(clippy::unwrap_used)] // helpers of tests, which clippy does not see as tests

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kusaw_conformance::catalogue::Catalogue;
use kusaw_conformance::saboteurs::{fault, patch, tree};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn every_fault_is_in_order_and_applies_to_the_source_as_it_is() {
    let faults = fault::read(&root()).unwrap();
    let wrong = fault::wrong(&faults, &Catalogue::read(&root()).unwrap());
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    let applied = patch::apply(&mut tree::sources(&root()).unwrap(), &faults);
    assert!(applied.is_ok(), "\n{}\n", applied.unwrap_err().join("\n"));
}

#[test]
fn there_are_enough() {
    let faults = fault::read(&root()).unwrap();
    let of = |chapters: &[&str]| {
        faults.iter().filter(|f| f.unnoticed.is_none() && chapters.contains(&f.chapter.as_str())).count()
    };
    for chapters in [&["launch", "bubblewrap"][..], &["egress"], &["git"], &["commands"]] {
        let count = of(chapters);
        assert!(count >= 15, "{}: {count} faults, 15 are the least", chapters.join(" and "));
    }
}

/// Every guarantee that counts and is asked on Linux is broken by at least one fault that is put in force.
#[test]
fn every_guarantee_that_counts_is_broken_by_a_fault() {
    let faults = fault::read(&root()).unwrap();
    let in_force = faults.iter().filter(|fault| fault.unnoticed.is_none());
    let broken: BTreeSet<&str> = in_force.map(|fault| fault.breaks.as_str()).collect();
    let catalogue = Catalogue::read(&root()).unwrap();
    let counts = catalogue.iter().filter(|row| row.kind.counts() && row.platforms.contains('L'));
    let missing: Vec<&str> = counts.map(|row| row.id.as_str()).filter(|id| !broken.contains(id)).collect();
    assert!(missing.is_empty(), "no fault breaks {}: write one", missing.join(", "));
}

/// docs/saboteurs.md is of these faults.
#[test]
fn the_page_is_of_today_s_faults() {
    let page = std::fs::read_to_string(root().join("docs/saboteurs.md")).unwrap();
    let shown: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).collect();
    let shown: BTreeSet<&str> = shown.into_iter().filter(|name| *name != "fault").collect();
    let faults = fault::read(&root()).unwrap();
    let names: BTreeSet<&str> = faults.iter().map(|fault| fault.name.as_str()).collect();
    let other: Vec<_> = shown.symmetric_difference(&names).collect();
    assert!(other.is_empty(), "docs/saboteurs.md is of other faults, `make saboteurs` writes it anew: {other:?}");
}
