//! `conformance saboteurs`: would the suite notice if a guarantee were broken?
//!
//! Named faults (`harness/saboteur/faults/`), each the smallest change that breaks one guarantee while everything else works,
//! are put in force one at a time. A scenario of that guarantee must fail, and scenarios of other chapters must hold.
//! They are edits of the reference's source, made in a copy of it that is built once, or changes of what bubblewrap is told.

pub mod change;
pub mod fault;
pub mod judge;
pub mod page;
pub mod patch;
pub mod tree;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use crate::catalogue::Catalogue;
use crate::record::{Record, millis};
use crate::text::print;
use fault::Fault;
use judge::{Row, SOUND, State};
use tree::Programs;

/// Words of the command line.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Only these: a fault's name, a chapter (launch, egress, ...), or a guarantee.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Leave out the run without any fault: while one works on a fault, not for a proof.
    #[arg(long, requires = "only")]
    no_baseline: bool,
    /// List the faults.
    #[arg(long)]
    list: bool,
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
    let programs = tree::build(&root, &folder.join("tree"), &all)?;
    let stage = Stage { root, folder, programs };
    if !args.no_baseline {
        stage.baseline(&meant)?;
    }
    let rows = stage.faults(&meant)?;
    if args.only.is_empty() {
        let page = stage.root.join("docs/saboteurs.md");
        std::fs::write(&page, page::markdown(&rows, &all)).map_err(|e| format!("{}: {e}", page.display()))?;
    }
    let caught = rows.iter().filter(|row| row.state == State::Caught).count();
    let seconds = rows.iter().map(|row| row.ms).sum::<u64>() / 1000;
    print(&format!("\n{caught} of {} faults were caught, in {seconds} s\n", rows.len()));
    Ok(if caught == rows.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where faults are put in force.
struct Stage {
    root: PathBuf,
    folder: PathBuf,
    programs: Programs,
}

impl Stage {
    /// Without any fault, every guarantee that is used must hold, or a failure would prove nothing.
    fn baseline(&self, faults: &[&Fault]) -> Result<(), String> {
        let mut ids: Vec<&str> = faults.iter().map(|fault| fault.breaks.as_str()).chain(SOUND).collect();
        ids.sort_unstable();
        ids.dedup();
        print(&format!("the copy without any fault: {} guarantees and scenarios that must hold\n", ids.len()));
        let record = self.conformance("no-fault", None, &ids)?;
        let not: Vec<String> = judge::not_sound(&record.scenarios);
        if !not.is_empty() {
            return Err(format!("no fault is in force, and yet:\n  {}\nmend that first", not.join("\n  ")));
        }
        Ok(())
    }

    fn faults(&self, faults: &[&Fault]) -> Result<Vec<Row>, String> {
        let path = self.folder.join("saboteurs.ndjson");
        let told = |e: std::io::Error| format!("{}: {e}", path.display());
        let mut file = std::fs::File::create(&path).map_err(told)?;
        let mut rows = Vec::new();
        for fault in faults.iter().filter(|fault| fault.unnoticed.is_none()) {
            let began = Instant::now();
            let ids: Vec<&str> = judge::sound(fault).chain([fault.breaks.as_str()]).collect();
            let scenarios = self.conformance(&fault.name, Some(fault), &ids).map(|record| record.scenarios);
            let row = judge::row(fault, scenarios, millis(began.elapsed()));
            print(&row.line());
            serde_json::to_writer(&file, &row).map_err(|e| told(e.into()))?;
            file.write_all(b"\n").map_err(told)?;
            rows.push(row);
        }
        Ok(rows)
    }

    /// Runs the suite on the programs with this fault in force, as a process of its own; its record.
    fn conformance(&self, name: &str, fault: Option<&Fault>, ids: &[&str]) -> Result<Record, String> {
        let programs = self.folder.join("programs").join(name);
        let out = self.folder.join("runs").join(name);
        let _ = std::fs::remove_dir_all(&out);
        std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
        let in_source = fault.filter(|fault| !fault.edits.is_empty());
        self.programs.write(&programs, in_source)?;
        let own = std::env::current_exe().map_err(|e| format!("own path: {e}"))?;
        let mut command = Command::new(own);
        command.arg("run").arg("--root").arg(&self.root).arg("--programs").arg(&programs).arg("--out").arg(&out);
        if let Some(change) = fault.and_then(|fault| fault.bubblewrap.as_ref()) {
            let folder = programs.join("bubblewrap");
            self.programs.write_bubblewrap(&folder, &change.told())?;
            command.arg("--bwrap").arg(folder);
        }
        command.args(ids.iter().flat_map(|id| ["--id", id]));
        said(command, &out)?;
        let _ = std::fs::remove_dir_all(&programs);
        Record::read(&out).map_err(|e| format!("{e}; what it said: {}", out.join("said.txt").display()))
    }
}

/// Runs it to its end; what it says goes into a file of its folder.
fn said(mut command: Command, out: &Path) -> Result<(), String> {
    let path = out.join("said.txt");
    let told = |e: std::io::Error| format!("{}: {e}", path.display());
    let file = std::fs::File::create(&path).map_err(told)?;
    let both = file.try_clone().map_err(told)?;
    command.stdin(Stdio::null()).stdout(file).stderr(both);
    command.status().map(drop).map_err(|e| format!("conformance: {e}"))
}
