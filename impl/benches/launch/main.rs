//! What a launch costs, as ratios in one run: `true` by kusaw, by bubblewrap with two plans, by other sandboxes, and bare.
//!
//! Whole processes in turn, seen from outside only; started as root, all of them run as an ordinary user.
//! Usage: `make bench [ARGS="--gate --write --all --quick"]`, which installs kusaw with its stage and names it in KUSAW.

#[path = "../ground/mod.rs"]
mod ground;
mod measure;
mod page;
mod plan;
mod programs;
#[path = "../report/mod.rs"]
mod report;
mod repos;

use std::io;
use std::path::Path;
use std::process::Command;

use ground::Ground;
use page::Page;
use report::{Asked, Part};

/// Launches of each program that is fast.
const ROUNDS: usize = 60;

/// The same for a quick look.
const FEW: usize = 4;

fn main() {
    report::run(bench)
}

fn bench(kusaw: &Path, asked: Asked) -> io::Result<Part> {
    let rounds = if asked.quick { FEW } else { ROUNDS };
    let ground = Ground::make(kusaw)?;
    let mut programs = programs::all(&ground, asked.all)?;
    let disk = repos::disk(&ground)?;
    measure::rounds(&mut programs, rounds)?;
    let facts = report::facts(&ground, ("bubblewrap", Command::new("bwrap").arg("--version")))?;
    Ok(Page { programs, disk, facts, rounds }.part())
}
