//! `conformance diff`: what changed between two runs, or what exactly one of several implementations breaks.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::diff::{alone, changes, named, pairs};
use crate::record::Record;
use crate::text::print;

/// The options of `diff`.
#[derive(Args, Clone, Debug)]
pub struct DiffArgs {
    /// Records, the folders that runs wrote, or folders of such folders. Two: what changed from the first to the second; more:
    /// what exactly one of them breaks.
    #[arg(required = true, num_args = 2.., value_name = "RECORD")]
    records: Vec<PathBuf>,
}

/// Tells the difference; 0 = there is none, 1 = there is one.
///
/// # Errors
/// What cannot be read.
pub fn diff(args: &DiffArgs) -> Result<ExitCode, String> {
    let sides = args.records.iter().map(|path| records(path)).collect::<Result<Vec<_>, String>>()?;
    let differs = match <[_; 2]>::try_from(sides) {
        Ok([then, now]) => two(then, now)?,
        Err(several) => {
            let alone = alone(&named(several.into_iter().flatten().collect()));
            print(&alone.to_string());
            !alone.is_empty()
        }
    };
    Ok(ExitCode::from(u8::from(differs)))
}

fn two(then: Vec<(String, Record)>, now: Vec<(String, Record)>) -> Result<bool, String> {
    let pairs = pairs(then, now)?;
    let mut differs = false;
    for (driver, side) in pairs.gone.iter().map(|d| (d, "first")).chain(pairs.new.iter().map(|d| (d, "second"))) {
        print(&format!("{driver}: only the {side} folder has a run of it\n"));
        differs = true;
    }
    for (then, now) in &pairs.both {
        let changes = changes(then, now);
        differs |= !changes.verdicts.is_empty();
        print(&format!("{}: from {} to {}\n{changes}", now.run.driver, then.run.started, now.run.started));
    }
    Ok(differs)
}

/// The record at a path, or those of the folders in it.
fn records(path: &Path) -> Result<Vec<(String, Record)>, String> {
    let one = |path: &Path| Ok((path.display().to_string(), Record::read(path)?));
    if !path.is_dir() || path.join(RECORD).exists() {
        return Ok(vec![one(path)?]);
    }
    let entries = std::fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    folders.retain(|folder| folder.join(RECORD).exists());
    folders.sort();
    match folders.as_slice() {
        [] => Err(format!("{}: no {RECORD} is in it, nor in a folder of it", path.display())),
        some => some.iter().map(|folder| one(folder)).collect(),
    }
}

const RECORD: &str = "run.ndjson";
