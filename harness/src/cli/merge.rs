//! `conformance merge`: one record of the shards of a run.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::output::Outputs;
use crate::catalogue::Catalogue;
use crate::lab::namespaces::BLOCKED;
use crate::record::merge::{Refusal, merge as merged};
use crate::record::{Record, Recorder};

/// The options of `merge`.
#[derive(Args, Clone, Debug)]
pub struct MergeArgs {
    /// Records of shards: the files, or the folders that the runs wrote.
    #[arg(required = true, value_name = "RECORD")]
    records: Vec<PathBuf>,
    /// Where the record of the whole run and its reports go.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The checkout.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    root: PathBuf,
}

/// Merges shards; the exit code is that of a run with their verdicts, and 3 where a shard is missing.
///
/// # Errors
/// What cannot be read, and what does not fit together.
pub fn merge(args: &MergeArgs) -> Result<ExitCode, String> {
    let read = |path: &PathBuf| Ok((path.display().to_string(), Record::read(path)?));
    let shards = args.records.iter().map(read).collect::<Result<Vec<_>, String>>()?;
    let record = match merged(&shards) {
        Ok(record) => record,
        Err(Refusal::Unfit(why)) => return Err(why),
        Err(Refusal::Missing(why)) => {
            eprintln!("conformance: the run is not whole, and nothing was written: {why}");
            return Ok(ExitCode::from(BLOCKED));
        }
    };
    let catalogue = Catalogue::read(&args.root)?;
    let outputs = Outputs::create(&args.out)?;
    let mut files = outputs.files()?;
    let failed = |e: std::io::Error| format!("the record: {e}");
    let mut recorder = Recorder::begin(files.record()?, &record.run).map_err(failed)?;
    record.scenarios.iter().try_for_each(|line| recorder.add(line.clone())).map_err(failed)?;
    recorder.end(record.end.ms).map_err(failed)?;
    let code = files.tell(&record.run, &record.scenarios, &catalogue, record.end.ms)?;
    outputs.finish()?;
    Ok(ExitCode::from(code))
}
