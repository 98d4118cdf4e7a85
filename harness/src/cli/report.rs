//! `conformance report`: one page over the records of several runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::Args;

use crate::catalogue::Catalogue;
use crate::record::{found, none_in};
use crate::report::{Report, Source};
use crate::text::{line, print};

/// Exit code: a record is not whole, so that not all that was asked for is in the report.
const INCOMPLETE: u8 = 3;

#[derive(Args, Clone, Debug)]
pub struct ReportArgs {
    /// Records (run.ndjson), folders of runs, or folders of such folders; default: all of target/conformance.
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
    let sources: Vec<Source> = match args.records.as_slice() {
        [] if !conformance.is_dir() || found(&conformance).is_empty() => return Err(none_in(&conformance)),
        [] => runs(&conformance),
        places => places.iter().flat_map(|place| runs(place)).collect(),
    };
    let out = args.out.clone().unwrap_or_else(|| conformance.join("matrix"));
    write(&sources, &catalogue, &out)
}

/// The run at a place, or those in it in the order of a matrix, whether or not their records are whole.
fn runs(place: &Path) -> Vec<Source> {
    let records = match found(place) {
        none if none.is_empty() => vec![place.to_owned()],
        records => records,
    };
    let mut runs: Vec<Source> = records.iter().map(|path| Source::read(path)).collect();
    Source::sort(&mut runs);
    runs
}

/// Writes the report of runs and says where it lies, and which runs have no record.
pub fn write(sources: &[Source], catalogue: &Catalogue, out: &Path) -> Result<ExitCode, String> {
    let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let report = Report::of(sources, catalogue, &now)?;
    report.write(out)?;
    let mut code = ExitCode::SUCCESS;
    for source in sources {
        if let Err(reason) = &source.record {
            eprintln!("conformance: {}: no record: {}", source.name, line(reason.as_bytes(), 600));
            code = ExitCode::from(INCOMPLETE);
        }
    }
    let (page, size) = (out.join("index.html"), report.html.len() as f64 / 1e6);
    print(&format!("report: {} ({size:.1} MB), {}\n", page.display(), out.join("matrix.md").display()));
    Ok(code)
}
