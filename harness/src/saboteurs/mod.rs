//! `conformance saboteurs`: would the suite notice if a guarantee were broken?
//!
//! Named faults (`harness/saboteur/faults/`), each the smallest change that breaks one guarantee while everything else works,
//! are put in force one at a time. A scenario of that guarantee must fail, and scenarios of other chapters must hold.
//! They are edits of the reference's source, made in a copy of it that is built once, or changes of what bubblewrap is told.

pub mod change;
pub mod enumeration;
pub mod fault;
pub mod judge;
pub mod page;
pub mod patch;
mod results;
mod stage;
pub mod tree;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use crate::catalogue::Catalogue;
use crate::text::print;
use fault::Fault;
use judge::State;
use results::Results;
use stage::Stage;

/// Words of the command line.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Only these: a fault's name, a chapter (launch, egress, ...), or a guarantee.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Only those that no run so far has caught: goes on where one was ended, or after a fault was mended.
    #[arg(long)]
    rest: bool,
    /// So many faults at a time, each in a lab of its own.
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// Leave out the run without any fault: while one works on a fault, not for a proof.
    #[arg(long, conflicts_with = "list")]
    no_baseline: bool,
    /// List the faults.
    #[arg(long)]
    list: bool,
    /// Only write docs/saboteurs.md of the results so far.
    #[arg(long, conflicts_with_all = ["only", "rest", "list"])]
    page: bool,
    /// The checkout.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    root: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// When a fault is not in order, the copy does not build, or the copy without any fault does not hold.
pub fn run(args: &Args) -> Result<ExitCode, String> {
    let root = std::fs::canonicalize(&args.root).map_err(|e| format!("{}: {e}", args.root.display()))?;
    let all = fault::read(&root)?;
    let wrong = fault::wrong(&all, &Catalogue::read(&root)?);
    if !wrong.is_empty() {
        return Err(wrong.join("\n"));
    }
    let is_meant = |fault: &&Fault| args.only.is_empty() || args.only.iter().any(|word| fault.is_meant(word));
    let meant: Vec<&Fault> = all.iter().filter(is_meant).collect();
    if let Some(word) = args.only.iter().find(|word| !all.iter().any(|fault| fault.is_meant(word))) {
        return Err(format!("--only {word}: no fault, chapter or guarantee of a fault; --list shows them"));
    }
    if args.list {
        meant.iter().for_each(|f| print(&format!("{:<10} {:<8} {:<40} {}\n", f.chapter, f.breaks, f.name, f.how)));
        return Ok(ExitCode::SUCCESS);
    }
    let folder = root.join("target/saboteurs");
    let results = Results::read(&folder.join("saboteurs.ndjson"), &all)?;
    if args.page {
        return page::write(&root, &results, &all).map(|()| ExitCode::SUCCESS);
    }
    let in_force: Vec<&Fault> = meant.iter().copied().filter(|fault| fault.unnoticed.is_none()).collect();
    if let ([fault, ..], []) = (&meant[..], &in_force[..]) {
        let why = fault.unnoticed.as_deref().unwrap_or_default();
        return Err(format!("nothing to put in force: {}: {why}", fault.name));
    }
    let meant: Vec<&Fault> = in_force.into_iter().filter(|f| !(args.rest && results.is_caught(&f.name))).collect();
    if meant.is_empty() {
        print("all of them are caught already\n");
        return Ok(ExitCode::SUCCESS);
    }
    let programs = tree::build(&root, &folder.join("tree"), &all)?;
    let (stage, began) = (Stage::new(root, folder, programs), Instant::now());
    if !args.no_baseline {
        enumerate(&stage, &all)?;
        stage.baseline(&meant)?;
    }
    let results = stage.faults(&meant, args.jobs.max(1), results)?;
    let rows: Vec<_> = results.of(&meant).collect();
    let caught = rows.iter().filter(|row| row.state == State::Caught).count();
    print(&format!("\n{caught} of {} faults were caught, in {} s\n", rows.len(), began.elapsed().as_secs()));
    if args.only.is_empty() && !args.no_baseline {
        page::write(&stage.root, &results, &all)?;
    }
    Ok(if caught == meant.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every option that bubblewrap is told is left out or weakened by a fault.
fn enumerate(stage: &Stage, faults: &[Fault]) -> Result<(), String> {
    let told = stage.told()?;
    let missing = enumeration::without_a_fault(&told, faults);
    if !missing.is_empty() {
        let lines: Vec<_> = missing.iter().map(|told| format!("{:?}: {}", told.of, told.words.join(" "))).collect();
        return Err(format!(
            "no fault leaves out or weakens what bubblewrap is told, write one:\n  {}",
            lines.join("\n  ")
        ));
    }
    print(&format!("each of {} options that bubblewrap is told has a fault\n", told.len()));
    Ok(())
}
