//! `conformance diff`: what changed between two runs, or what exactly one of several implementations breaks.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::diff::{alone, changes, named, pairs};
use crate::record::{Record, found, none_in};
use crate::text::{line, print};

/// The options of `diff`.
#[derive(Args, Clone, Debug)]
pub struct DiffArgs {
    /// Records, the folders that runs wrote, or folders of such folders. Two: what changed from the first to the second; more,
    /// or one folder of runs: what exactly one of them breaks.
    #[arg(required = true, value_name = "RECORD")]
    records: Vec<PathBuf>,
    /// Leave out the runs of this driver: beside `none`, which keeps nothing, hardly anybody breaks something alone.
    #[arg(long, value_name = "NAME")]
    without: Vec<String>,
}

/// Records, each with where it lies.
type Side = Vec<(String, Record)>;

/// Tells the difference; 0 = there is none, 1 = there is one.
///
/// # Errors
/// What cannot be read, and what is nothing to compare.
pub fn diff(args: &DiffArgs) -> Result<ExitCode, String> {
    let mut sides = args.records.iter().map(|path| records(path)).collect::<Result<Vec<_>, String>>()?;
    args.without.iter().try_for_each(|name| leave_out(&mut sides, name))?;
    if let Some((path, _)) = args.records.iter().zip(&sides).find(|(_, side)| side.is_empty()) {
        return Err(format!("{}: --without {} leaves no run of it", path.display(), args.without.join(" --without ")));
    }
    let differs = match <[Side; 2]>::try_from(sides) {
        Ok([then, now]) => two(then, now)?,
        Err(several) => several_at_once(several.into_iter().flatten().collect())?,
    };
    Ok(ExitCode::from(u8::from(differs)))
}

fn leave_out(sides: &mut [Side], name: &str) -> Result<(), String> {
    let drivers: BTreeSet<String> = sides.iter().flatten().map(|(_, record)| record.run.driver.clone()).collect();
    if !drivers.contains(name) {
        let drivers: Vec<String> = drivers.into_iter().collect();
        return Err(format!("--without {name}: no run of it is there; there are those of {}", drivers.join(", ")));
    }
    sides.iter_mut().for_each(|side| side.retain(|(_, record)| record.run.driver != name));
    Ok(())
}

fn several_at_once(runs: Side) -> Result<bool, String> {
    if let [(place, _)] = runs.as_slice() {
        return Err(format!("{place} alone differs from nothing; name another record, or a folder of several runs"));
    }
    let alone = alone(&named(runs));
    print(&alone.to_string());
    Ok(!alone.is_empty())
}

fn two(then: Side, now: Side) -> Result<bool, String> {
    let pairs = pairs(then, now)?;
    let mut differs = false;
    for (driver, side) in pairs.gone.iter().map(|d| (d, "first")).chain(pairs.new.iter().map(|d| (d, "second"))) {
        print(&format!("{}: only the {side} folder has a run of it\n", shown(driver)));
        differs = true;
    }
    for (then, now) in &pairs.both {
        let changes = changes(then, now);
        differs |= !changes.verdicts.is_empty();
        let (before, after) = (shown(&then.run.started), shown(&now.run.started));
        print(&format!("{}: from {before} to {after}\n{changes}", shown(&now.run.driver)));
    }
    Ok(differs)
}

/// A name of a record, which somebody else may have sent.
fn shown(name: &str) -> String {
    line(name.as_bytes(), 300)
}

/// The record at a path, or those of the folders in it.
fn records(path: &Path) -> Result<Side, String> {
    match found(path).as_slice() {
        [] => Err(none_in(path)),
        some => some.iter().map(|path| Ok((path.display().to_string(), Record::read(path)?))).collect(),
    }
}
