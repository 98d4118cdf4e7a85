//! The faults, without building anything: they are in order, they apply to today's source, and there are enough of them.

#![allow(clippy::unwrap_used)] // helpers of tests, which clippy does not see as tests

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kusaw_conformance::catalogue::{Catalogue, Kind};
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
    // Chapters whose file is not there yet are not counted.
    for chapters in [&["launch", "bubblewrap"][..], &["egress"], &["git"], &["commands"]] {
        let count = of(chapters);
        assert!(count == 0 || count >= 15, "{}: {count} faults, 15 are the least", chapters.join(" and "));
    }
}

/// Every guarantee that counts on Linux is broken by at least one fault.
#[test]
fn what_no_fault_breaks_is_told() {
    let faults = fault::read(&root()).unwrap();
    let broken: BTreeSet<&str> = faults.iter().map(|fault| fault.breaks.as_str()).collect();
    let catalogue = Catalogue::read(&root()).unwrap();
    let must = catalogue.iter().filter(|row| row.kind == Kind::Must && row.platforms.contains('L'));
    let missing: Vec<&str> = must.map(|row| row.id.as_str()).filter(|id| !broken.contains(id)).collect();
    println!("no fault breaks: {}", missing.join(", "));
}
