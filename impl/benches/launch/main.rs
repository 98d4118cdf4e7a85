//! What a launch costs, as ratios in one run: `true` by kusaw, by bubblewrap with two plans, by other sandboxes, and bare.
//!
//! Whole processes in turn, seen from outside only; started as root, all of them run as an ordinary user.
//! Usage: `make bench [ARGS="--gate --write --all"]`, which installs kusaw with its stage and names it in KUSAW.

mod ground;
mod measure;
mod page;
mod plan;
mod programs;
mod repos;

use std::io;
use std::path::Path;
use std::process::exit;

use ground::Ground;
use page::Page;

/// Launches of each program that is fast.
const ROUNDS: usize = 60;

/// Exit code 0; past a target and asked to be a gate, 1; when it cannot be measured, 2.
fn main() {
    let mut given: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect(); // cargo's own
    let mut is_given = |option: &str| {
        let before = given.len();
        given.retain(|a| a != option);
        given.len() < before
    };
    let (gate, write, all) = (is_given("--gate"), is_given("--write"), is_given("--all"));
    if let Some(unknown) = given.first() {
        eprintln!(
            "bench: {unknown}? There are: --gate (exit code 1 past a target), --write (docs/performance.md), --all"
        );
        exit(2);
    }
    let Some(kusaw) = std::env::var_os("KUSAW") else {
        eprintln!("bench: KUSAW is not set; run `make bench`");
        exit(2);
    };
    match bench(Path::new(&kusaw), all) {
        Ok(page) => {
            print!("{}", page.text());
            let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance.md");
            if write && let Err(e) = std::fs::write(&file, page.text()) {
                eprintln!("bench: {}: {e}", file.display());
                exit(2);
            }
            exit(i32::from(gate && !page.within_targets()));
        }
        Err(e) => {
            eprintln!("bench: {e}");
            exit(2);
        }
    }
}

fn bench(kusaw: &Path, all: bool) -> io::Result<Page> {
    let ground = Ground::make(kusaw)?;
    let mut programs = programs::all(&ground, all)?;
    let disk = repos::disk(&ground)?;
    measure::rounds(&mut programs, ROUNDS)?;
    Ok(Page { programs, disk, facts: page::facts(&ground)?, rounds: ROUNDS })
}
