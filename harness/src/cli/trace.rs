//! `conformance trace`: the page docs/traceability.md.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::catalogue::Catalogue;
use crate::features;
use crate::record::Record;
use crate::text::print;
use crate::traceability::{Column, page};

/// The options of `trace`.
#[derive(Args, Clone, Debug)]
pub struct TraceArgs {
    /// Take the verdicts from this record, a column for each; without, they are those of the run that README.md shows.
    #[arg(long = "record", value_name = "RECORD")]
    records: Vec<PathBuf>,
    /// The checkout.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    root: PathBuf,
}

/// Prints it.
///
/// # Errors
/// What cannot be read.
pub fn trace(args: &TraceArgs) -> Result<ExitCode, String> {
    let read = |name: &str| {
        let path = args.root.join(name);
        std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    };
    let catalogue = Catalogue::read(&args.root)?;
    let cases = features::cases(&features::read(&args.root)?);
    let mut columns = Vec::new();
    for path in &args.records {
        columns.push(Column::of(&Record::read(path)?, &catalogue));
    }
    if columns.is_empty() {
        columns.push(Column::shown(&read("README.md")?));
    }
    print(&page(&read("docs/os-sandbox.md")?, &catalogue, &cases, &columns));
    Ok(ExitCode::SUCCESS)
}
