//! `conformance matrix`: every driver, one after another, each in a process of its own, and the report over all of them.
//!
//! A run that crashes, hangs or cannot be built becomes "no record" with its reason, and the others go on.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use clap::Args;

use super::output::Outputs;
use super::report;
use crate::apart;
use crate::catalogue::Catalogue;
use crate::driver::manifest;
use crate::record::Record;
use crate::report::{Source, is_peer};
use crate::summary;
use crate::text::{line, print};
use crate::verdict::Verdict;

/// Exit code: a run broke.
const BROKEN: u8 = 1;

/// Exit code: fewer peers could be run than asked for, a run has no record, or one took too long.
const INCOMPLETE: u8 = 3;

#[derive(Args, Clone, Debug)]
pub struct MatrixArgs {
    /// Only these drivers; default: all of harness/drivers.
    #[arg(long = "driver", value_name = "NAME")]
    drivers: Vec<String>,
    /// A run that goes on for longer hangs, and is killed.
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    bound: u64,
    /// How long the scenarios of a driver may take: one that takes longer is named, and the exit code is 3.
    #[arg(long, value_name = "SECONDS", default_value_t = 240)]
    at_most: u64,
    /// How many implementations of others must have been run.
    #[arg(long, value_name = "NUMBER", default_value_t = 6)]
    peers: usize,
    /// Where the records and the report go; default: target/conformance/matrix.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Where the Markdown goes as well.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// The checkout.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    root: PathBuf,
    /// More arguments of each run, such as `--id FS`.
    #[arg(last = true, value_name = "ARGUMENT")]
    more: Vec<String>,
}

/// Runs the drivers and reports: exit code 0; 1 where a run broke, as it does by what its manifest does not declare; or 3 where a
/// record is missing, a run took too long or too few peers were run.
///
/// # Errors
/// When a driver has no name, or the report cannot be written.
pub fn matrix(args: &MatrixArgs) -> Result<ExitCode, String> {
    let root = fs::canonicalize(&args.root).map_err(|e| format!("{}: {e}", args.root.display()))?;
    let catalogue = Catalogue::read(&root)?;
    let out = args.out.clone().unwrap_or_else(|| root.join("target/conformance/matrix"));
    let drivers = if args.drivers.is_empty() { manifest::names(&root) } else { args.drivers.clone() };
    let folders = drivers.iter().map(|driver| Ok(out.join(name(driver)?))).collect::<Result<Vec<_>, String>>()?;
    let (mut sources, mut broken): (Vec<Source>, Vec<&str>) = (Vec::new(), Vec::new());
    for (driver, folder) in drivers.iter().zip(&folders) {
        let began = Instant::now();
        let (record, status) = run(driver, &root, folder, args);
        let source = Source { name: driver.clone(), record };
        print(&format!("{driver:<16} {:>6.1} s  {}\n", began.elapsed().as_secs_f64(), told(&source, &catalogue)));
        if status.and_then(|status| status.code()) == Some(i32::from(BROKEN)) {
            broken.push(driver);
        }
        sources.push(source);
    }
    Source::sort(&mut sources);
    let code = report::write(&sources, &catalogue, &out)?;
    if let Some(path) = &args.markdown {
        fs::copy(out.join("matrix.md"), path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let is_whole = is_whole(&sources, args);
    if !broken.is_empty() {
        let (names, out) = (broken.join(", "), out.display());
        eprintln!(
            "conformance: ended with exit code 1: {names}; {out}/NAME/log tells what is not as its manifest says"
        );
        return Ok(ExitCode::from(BROKEN));
    }
    Ok(if is_whole { code } else { ExitCode::from(INCOMPLETE) })
}

/// Says how many peers were run, and whether they are enough and no driver took too long.
fn is_whole(sources: &[Source], args: &MatrixArgs) -> bool {
    let peers: Vec<&str> = sources.iter().filter(|s| was_run(s)).map(|s| s.name.as_str()).collect();
    print(&format!("{} peers were run: {}\n", peers.len(), peers.join(", ")));
    let most = Duration::from_secs(args.at_most);
    let slow = sources.iter().filter_map(|s| Some((&s.name, Duration::from_millis(s.record.as_ref().ok()?.end.ms))));
    let slow: Vec<_> = slow.filter(|(_, took)| *took > most).collect();
    for (name, took) in &slow {
        let (took, most) = (took.as_secs_f64(), args.at_most);
        eprintln!("conformance: {name}: its scenarios took {took:.1} s, {most} are the most (--at-most)");
    }
    let are_enough = peers.len() >= args.peers;
    if !are_enough {
        eprintln!(
            "conformance: {} peers are needed; `ci/peers` installs them, and their runs say what is missing",
            args.peers
        );
    }
    are_enough && slow.is_empty()
}

/// Runs one driver; its record, or why there is none, and how the run ended.
fn run(driver: &str, root: &Path, folder: &Path, args: &MatrixArgs) -> (Result<Record, String>, Option<ExitStatus>) {
    let log = folder.join("log");
    match ended(driver, root, folder, &log, args) {
        Err(why) => (Err(why), None),
        Ok(None) => {
            let (bound, last) = (args.bound, last_line(&log));
            (Err(format!("its run did not end within {bound} s and was killed; {last}")), None)
        }
        Ok(Some(status)) => {
            let record = Record::read(folder).map_err(|e| match folder.join("run.ndjson").is_file() {
                true => e,
                false => format!("its run left none ({status}); {}", last_line(&log)),
            });
            (record, Some(status))
        }
    }
}

/// How the run of a driver ended; none if it had to be killed.
fn ended(
    driver: &str,
    root: &Path,
    folder: &Path,
    log: &Path,
    args: &MatrixArgs,
) -> Result<Option<ExitStatus>, String> {
    Outputs::remove(folder)?; // an earlier run's record must not stand for this one; all else there is not ours
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let program = std::env::current_exe().map_err(|e| format!("this program is not found: {e}"))?;
    let mut command = Command::new(program);
    command.args(["run", "--driver", driver]).arg("--root").arg(root).arg("--out").arg(folder).args(&args.more);
    command.stdin(Stdio::null());
    apart::run(command, log, Duration::from_secs(args.bound)).map_err(|e| format!("its run ({}): {e}", log.display()))
}

/// The folder of a driver's record: its name, or that of its manifest.
///
/// # Errors
/// When it has none, as `..`: its folder would be another one.
fn name(driver: &str) -> Result<String, String> {
    let stem = Path::new(driver).file_stem().ok_or_else(|| format!("--driver \"{driver}\": names no driver"))?;
    Ok(stem.to_string_lossy().into_owned())
}

fn last_line(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let last = text.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty());
    last.map_or_else(|| "it said nothing".to_owned(), |text| format!("its last words: {}", line(text, 300)))
}

/// Whether a run judged somebody else's implementation: it is neither blocked as a whole, nor could nothing be asked.
fn was_run(source: &Source) -> bool {
    let proven =
        |v: Verdict| matches!(v, Verdict::Holds | Verdict::Fails | Verdict::ExpectedFailure | Verdict::UnexpectedPass);
    let record = source.record.as_ref().ok();
    record.is_some_and(|r| is_peer(&r.run) && r.scenarios.iter().any(|l| proven(l.verdict)))
}

fn told(source: &Source, catalogue: &Catalogue) -> String {
    match &source.record {
        Err(reason) => format!("no record: {}", line(reason.as_bytes(), 200)),
        Ok(record) => {
            let rows = summary::rows(&record.scenarios, catalogue);
            let ((hold, of), what) = match is_peer(&record.run) {
                true => (summary::claims(&rows), "it claims"),
                false => (summary::headline(&rows), "musts"),
            };
            format!("{hold} of {of} {what} hold")
        }
    }
}
