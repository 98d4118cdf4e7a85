//! The command line: `conformance run | list | smoke | report | matrix`.
//!
//! Everything that needs the real host (the checkout, cargo, the record) is done here, before the lab is entered.

mod inside;
mod matrix;
mod output;
mod report;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use crate::catalogue::Catalogue;
use crate::driver::Manifest;
use crate::features::{self, Case, Selection};
use crate::lab::installed;
use crate::lab::namespaces::run_inside;
use crate::lab::programs::{self, Folder, Program, Source};
use crate::lab::root::Supplies;
use crate::text::print;
use crate::{host, smoke};
use output::{Files, Output};

/// Exit code: wrong use of the command line, or the suite itself is not in order.
const USAGE: u8 = 2;

/// What an OS sandbox keeps from a coding agent: run the documented guarantees against an implementation.
#[derive(Debug, Parser)]
#[command(name = "conformance", version, args_conflicts_with_subcommands = true)]
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
    /// Break the reference on purpose, one guarantee at a time, and see whether its scenarios notice.
    Saboteurs(crate::saboteurs::Args),
    /// One page over the records of several runs: guarantees × implementations.
    Report(report::ReportArgs),
    /// Run all drivers, one after another, and report.
    Matrix(matrix::MatrixArgs),
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
    /// The features, a folder of the checkout: `features` is the specification, `e2e/agents` has real agents at work.
    #[arg(long, value_name = "DIR", default_value = features::FEATURES)]
    features: PathBuf,
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
        Some(Command::Saboteurs(args)) => crate::saboteurs::run(&args),
        Some(Command::Report(args)) => report::report(&args),
        Some(Command::Matrix(args)) => matrix::matrix(&args),
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
    facts: std::collections::BTreeMap<String, String>,
}

fn prepare(args: &RunArgs) -> Result<Prepared, String> {
    let root = fs::canonicalize(&args.root).map_err(|e| format!("{}: {e}", args.root.display()))?;
    let catalogue = Catalogue::read(&root)?;
    let manifest = Manifest::read(&root, &args.driver, &catalogue)?;
    let source = args.programs.clone().map_or(Source::Cargo, Source::Folder);
    let supplies = Supplies {
        suite: source.suite(&root)?,
        programs: source.provide(&root, &manifest)?,
        set_user_id: programs::set_user_id(&manifest),
        folders: programs::folders(&root, &manifest),
        agents: Vec::new(),
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
    let mut prepared = prepare(args)?;
    let (features, selected) = selected(&prepared.root, args)?;
    prepared.supplies.agents = agents(&prepared.root, &features);
    let out =
        args.out.clone().unwrap_or_else(|| prepared.root.join("target/conformance").join(folder(&prepared, args)));
    let report = Output::create(&out, "report.md")?;
    let record = Output::create(&out, "run.ndjson")?;
    let files = Files { record: record.handle()?, report: report.handle()? };
    let (supplies, inner) = (prepared.supplies.clone(), args.clone());
    let code = run_inside(&supplies, move |lab| {
        let code = inside::inside(lab, prepared, features, selected, files, &inner);
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

fn selected(root: &Path, args: &RunArgs) -> Result<(Vec<gherkin::Feature>, usize), String> {
    let mut features = features::read_in(root, &args.features)?;
    let selection = Selection { ids: args.ids.clone(), tags: args.tags.clone() };
    match features::select(&mut features, &selection) {
        0 => Err("no scenario is selected; `make conformance ARGS=list` lists them".to_owned()),
        count => Ok((features, count)),
    }
}

/// The name of the folder of a run's record: the driver's, and that of features which are not the specification.
fn folder(prepared: &Prepared, args: &RunArgs) -> String {
    let driver = &prepared.manifest.name;
    match args.features.file_name().filter(|name| *name != features::FEATURES) {
        Some(name) => format!("{driver}-{}", name.display()),
        None => driver.clone(),
    }
}

/// The agents that scenarios let work, as far as they lie ready.
fn agents(root: &Path, features: &[gherkin::Feature]) -> Vec<Folder> {
    let tags = features.iter().flat_map(|feature| {
        let rules = feature.rules.iter().flat_map(|rule| rule.scenarios.iter().flat_map(|s| &s.tags).chain(&rule.tags));
        rules.chain(&feature.tags)
    });
    installed::ready(root, tags.filter_map(|tag| tag.strip_prefix("agent:")))
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
