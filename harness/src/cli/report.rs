//! `conformance report`: one page over the records of several runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;

use crate::catalogue::Catalogue;
use crate::report::{Report, Source};
use crate::text::print;

/// Exit code: a record is not whole, so that not all that was asked for is in the report.
const INCOMPLETE: u8 = 3;

#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// Records (run.ndjson), or folders of runs; default: all of target/conformance.
    #[arg(value_name = "RECORD")]
    records: Vec<PathBuf>,
    /// Where index.html and matrix.md go; default: target/conformance/matrix.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The checkout.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    root: PathBuf,
}

/// Renders the report: exit code 0, or 3 where a record is not whole.
pub fn report(args: &ReportArgs) -> Result<ExitCode, String> {
    let catalogue = Catalogue::read(&args.root)?;
    let conformance = args.root.join("target/conformance");
    let (records, chosen) = match args.records.as_slice() {
        [] => (runs(&conformance)?, false),
        records => (records.to_vec(), true),
    };
    let mut sources: Vec<Source> = records.iter().map(|path| Source::read(path)).collect();
    if !chosen {
        Source::sort(&mut sources);
    }
    let out = args.out.clone().unwrap_or_else(|| conformance.join("matrix"));
    write(&sources, &catalogue, &out)
}

/// Writes the report of runs and says where it lies, and which runs have no record.
pub fn write(sources: &[Source], catalogue: &Catalogue, out: &Path) -> Result<ExitCode, String> {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let report = Report::of(sources, catalogue, &now)?;
    report.write(out)?;
    let mut code = ExitCode::SUCCESS;
    for source in sources {
        if let Err(reason) = &source.record {
            eprintln!("conformance: {}: no record: {reason}", source.name);
            code = ExitCode::from(INCOMPLETE);
        }
    }
    let (page, size) = (out.join("index.html"), report.html.len() as f64 / 1e6);
    print(&format!("report: {} ({size:.1} MB), {}\n", page.display(), out.join("matrix.md").display()));
    Ok(code)
}

/// The records of all runs below a folder.
fn runs(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries =
        fs::read_dir(folder).map_err(|e| format!("{}: {e}; `conformance run` makes one", folder.display()))?;
    let mut records: Vec<PathBuf> =
        entries.filter_map(|e| Some(e.ok()?.path().join("run.ndjson"))).filter(|path| path.is_file()).collect();
    records.sort();
    match records.is_empty() {
        true => Err(format!("{}: there is no record of a run; `conformance run` makes one", folder.display())),
        false => Ok(records),
    }
}
