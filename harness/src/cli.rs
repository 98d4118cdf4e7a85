//! The command line: `conformance run | list | smoke`.
//!
//! Everything that needs the real host (the checkout, cargo, the record) is done here, before the lab is entered.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::{Args, Parser, Subcommand};

use crate::catalogue::Catalogue;
use crate::driver::Manifest;
use crate::engine::{self, Progress};
use crate::features::{self, Case, Selection};
use crate::lab::namespaces::run_inside;
use crate::lab::programs::{self, Folder, Program, Source};
use crate::lab::{DRIVER, Lab, root::Supplies};
use crate::record::{RECORD, Recorder, Run};
use crate::scene::{CONTEXT, Context};
use crate::text::print;
use crate::verdict::Verdict;
use crate::{host, smoke, summary};

/// Exit code: wrong use of the command line, or the suite itself is not in order.
const USAGE: u8 = 2;

/// What an OS sandbox keeps from a coding agent: run the documented guarantees against an implementation.
#[derive(Debug, Parser)]
#[command(name = "conformance", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the scenarios against a driver (the default).
    Run(RunArgs),
    /// List the guarantees and their scenarios.
    List {
        /// The generated page docs/guarantees.md.
        #[arg(long)]
        markdown: bool,
        #[command(flatten)]
        args: RunArgs,
    },
    /// Print the JSON Schema of a format.
    Schema {
        /// Which format.
        format: Format,
    },
    /// Prove that a driver can run a command and pass argv, environment, output and exit codes.
    Smoke(RunArgs),
}

/// The published formats.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Format {
    /// A driver manifest.
    Driver,
    /// A line of the record.
    Record,
}

#[derive(Args, Clone, Debug)]
struct RunArgs {
    /// Name of a manifest in harness/drivers, or the path of one.
    #[arg(long, default_value = "kusaw")]
    driver: String,
    /// Only these: an id (FS-07), a chapter (FS), or one case (FS-07/cannot-list-~-.ssh).
    #[arg(long = "id", value_name = "ID")]
    ids: Vec<String>,
    /// Only scenarios with this tag.
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// Scenarios at a time; default: four a core.
    #[arg(long, short)]
    jobs: Option<usize>,
    /// Leave the lab open afterwards, with a shell in it.
    #[arg(long)]
    keep: bool,
    /// A line a scenario.
    #[arg(long, short)]
    verbose: bool,
    /// The checkout.
    #[arg(long, value_name = "DIR", default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/.."))]
    root: PathBuf,
    /// Take the programs from this folder instead of building them.
    #[arg(long, value_name = "DIR")]
    programs: Option<PathBuf>,
    /// Another bubblewrap than the system's: a program, or a folder that `ci/bubblewrap` made.
    #[arg(long, value_name = "PATH")]
    bwrap: Option<PathBuf>,
    /// Where the record and the report go.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::List { markdown, args }) => list(&args, markdown).map(|()| ExitCode::SUCCESS),
        Some(Command::Schema { format: Format::Driver }) => Ok(print_page(&crate::page::driver_schema())),
        Some(Command::Schema { format: Format::Record }) => Ok(print_page(&crate::page::record_schema())),
        Some(Command::Smoke(args)) => {
            prepare(&args).map(|p| ExitCode::from(run_inside(&p.supplies.clone(), |lab| smoke::run(lab, &p.manifest))))
        }
        Some(Command::Run(args)) => run(&args),
        None => run(&cli.run),
    };
    done.unwrap_or_else(|message| {
        eprintln!("conformance: {message}");
        ExitCode::from(USAGE)
    })
}

fn print_page(text: &str) -> ExitCode {
    print(text);
    ExitCode::SUCCESS
}

/// What is read and built on the real host.
struct Prepared {
    root: PathBuf,
    catalogue: Catalogue,
    manifest: Manifest,
    supplies: Supplies,
    commit: Option<String>,
    facts: std::collections::BTreeMap<&'static str, String>,
}

fn prepare(args: &RunArgs) -> Result<Prepared, String> {
    let root = fs::canonicalize(&args.root).map_err(|e| format!("{}: {e}", args.root.display()))?;
    let catalogue = Catalogue::read(&root)?;
    let manifest = Manifest::read(&root, &args.driver, &catalogue)?;
    let source = args.programs.clone().map_or(Source::Cargo, Source::Folder);
    let supplies = Supplies {
        suite: source.suite(&root)?,
        programs: source.provide(&root, &manifest)?,
        folders: programs::folders(&root, &manifest),
        backend: manifest.backend.clone(),
        bubblewrap: args
            .bwrap
            .as_deref()
            .map(|path| other_bubblewrap(path, &manifest))
            .transpose()?
            .unwrap_or_default(),
    };
    Ok(Prepared { commit: host::commit(&root), facts: host::facts(), root, catalogue, manifest, supplies })
}

fn other_bubblewrap(path: &Path, manifest: &Manifest) -> Result<Vec<Program>, String> {
    match manifest.backend.as_deref() {
        Some(programs::BUBBLEWRAP) => programs::bubblewrap(path),
        _ => Err(format!("--bwrap: the driver {} does not start bubblewrap", manifest.name)),
    }
}

fn run(args: &RunArgs) -> Result<ExitCode, String> {
    let prepared = prepare(args)?;
    let (features, selected) = selected(&prepared.root, args)?;
    let default = || prepared.root.join("target/conformance").join(&prepared.manifest.name);
    let out = args.out.clone().unwrap_or_else(default);
    let report = Output::create(&out, "report.md")?;
    let record = Output::create(&out, "run.ndjson")?;
    let files = Files {
        record: record.file.try_clone().map_err(|e| e.to_string())?,
        report: report.file.try_clone().map_err(|e| e.to_string())?,
    };
    let (supplies, inner) = (prepared.supplies.clone(), args.clone());
    let code = run_inside(&supplies, move |lab| {
        let code = inside(lab, prepared, features, selected, files, &inner);
        if inner.keep {
            crate::keep::shell();
        }
        code.unwrap_or_else(|message| {
            eprintln!("conformance: {message}");
            1
        })
    });
    record.finish()?;
    if report.finish()? {
        print(&format!("report: {}\n", out.join("report.md").display()));
    }
    Ok(ExitCode::from(code))
}

/// A file of the real host: opened before the lab is entered, and put in its place only if something was written.
struct Output {
    file: File,
    part: PathBuf,
    path: PathBuf,
}

impl Output {
    fn create(folder: &Path, name: &str) -> Result<Self, String> {
        let (path, part) = (folder.join(name), folder.join(format!("{name}.part")));
        let create = || {
            fs::create_dir_all(folder)?;
            File::create(&part)
        };
        let file = create().map_err(|e| format!("{}: {e}", part.display()))?;
        Ok(Self { file, part, path })
    }

    fn finish(self) -> Result<bool, String> {
        let put = || {
            let written = self.file.metadata()?.len() > 0;
            if written {
                fs::rename(&self.part, &self.path)?
            } else {
                fs::remove_file(&self.part)?
            }
            Ok(written)
        };
        put().map_err(|e: std::io::Error| format!("{}: {e}", self.path.display()))
    }
}

/// Files of the real host, opened before the lab was entered.
struct Files {
    record: File,
    report: File,
}

fn inside(
    lab: &Lab,
    prepared: Prepared,
    mut features: Vec<gherkin::Feature>,
    selected: usize,
    mut files: Files,
    args: &RunArgs,
) -> Result<u8, String> {
    let Prepared { catalogue, manifest, supplies, commit, mut facts, .. } = prepared;
    if let Some(version) = lab.backend.as_deref().and_then(|b| host::first_line(b, &["--version"])) {
        facts.insert("backend", version);
    }
    let blocked = engine::missing(&manifest);
    features::mark_not_asked(&mut features, &manifest, &catalogue, blocked.as_deref());
    let run = Run {
        record: RECORD,
        harness: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
        commit,
        driver: manifest.name.clone(),
        driver_version: smoke::version(&manifest),
        driver_kind: manifest.kind,
        start: lab.start.word(),
        uid: crate::lab::UID,
        host: facts,
        digests: digests(&supplies, lab),
        started: humantime::format_rfc3339_millis(std::time::SystemTime::now()).to_string(),
        selected,
    };
    let recorder = Recorder::begin(files.record, &run).map_err(|e| format!("the record: {e}"))?;
    if CONTEXT.set(Context { manifest: manifest.clone(), lab: lab.clone() }).is_err() {
        return Err("a run was prepared twice".to_owned());
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.unwrap_or(4 * cores).max(1);
    let progress = Progress { verbose: args.verbose, total: selected, keep: args.keep };
    let began = Instant::now();
    let mut recorder = engine::run(features, &manifest, recorder, jobs, progress)?;
    let took = began.elapsed();
    recorder.end(took.as_millis()).map_err(|e| format!("the record: {e}"))?;
    let mut lines = std::mem::take(&mut recorder.lines);
    lines.sort_by(|a, b| (&a.id, a.line).cmp(&(&b.id, b.line)));
    print(&summary::terminal(&run, &lines, &catalogue, took.as_secs_f64(), summary::Style::of_stdout()));
    let report = summary::markdown(&run, &lines, &catalogue);
    std::io::Write::write_all(&mut files.report, report.as_bytes()).map_err(|e| format!("the report: {e}"))?;
    if lines.len() != selected {
        return Err(format!("{selected} scenarios were selected, {} were run", lines.len()));
    }
    let verdicts: Vec<Verdict> = lines.iter().map(|l| l.verdict).collect();
    print(&format!("{}\n", summary::closing_line(&verdicts)));
    Ok(match () {
        () if verdicts.iter().any(|v| v.breaks()) => 1,
        () if verdicts.iter().any(|v| v.unproven()) => 3,
        () => 0,
    })
}

fn selected(root: &Path, args: &RunArgs) -> Result<(Vec<gherkin::Feature>, usize), String> {
    let mut features = features::read(root)?;
    let selection = Selection { ids: args.ids.clone(), tags: args.tags.clone() };
    match features::select(&mut features, &selection) {
        0 => Err("no scenario is selected; `make conformance ARGS=list` lists them".to_owned()),
        count => Ok((features, count)),
    }
}

fn digests(supplies: &Supplies, lab: &Lab) -> std::collections::BTreeMap<String, String> {
    let own = supplies.programs.iter().map(|p| (p.name.clone(), PathBuf::from(crate::lab::DRIVER_BIN).join(&p.name)));
    let other = supplies
        .bubblewrap
        .iter()
        .map(|p| (format!("bubblewrap/{}", p.name), Path::new(crate::lab::OTHER_BUBBLEWRAP).join(&p.name)));
    let rest = [("probe".to_owned(), PathBuf::from(crate::lab::PROBE))];
    let backend = lab.backend.iter().map(|path| ("backend".to_owned(), path.clone()));
    let folder = |f: &Folder| Some((f.name.clone(), host::digest_of_folder(&Path::new(DRIVER).join(&f.name))?));
    let folders = supplies.folders.iter().filter_map(folder);
    own.chain(other)
        .chain(rest)
        .chain(backend)
        .filter_map(|(name, path)| Some((name, host::digest(&path)?)))
        .chain(folders)
        .collect()
}

fn list(args: &RunArgs, markdown: bool) -> Result<(), String> {
    let root = fs::canonicalize(&args.root).map_err(|e| format!("{}: {e}", args.root.display()))?;
    let catalogue = Catalogue::read(&root)?;
    let (features, _) = selected(&root, args)?;
    if markdown {
        print(&crate::page::guarantees(&features, &catalogue));
        return Ok(());
    }
    for feature in &features {
        for rule in &feature.rules {
            for (position, scenario) in rule.scenarios.iter().enumerate() {
                let case = Case::of(feature, Some(rule), scenario);
                if position == 0 {
                    let text = catalogue.get(&case.id).map(|g| g.text.as_str()).unwrap_or("unknown id");
                    print(&format!("{}  {text}\n", case.id));
                }
                print(&format!("    {}\n", case.name()));
            }
        }
    }
    Ok(())
}
