//! The command line: a file a subcommand.
//!
//! Everything that needs the real host (the checkout, cargo, the record) is done here, before the lab is entered.

mod arguments;
mod diff;
mod inside;
mod list;
mod matrix;
mod merge;
mod output;
mod prepared;
mod report;
mod run;
mod trace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::text::{lines, print};
use arguments::{ListArgs, RunArgs, SmokeArgs};

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
    Run(Box<RunArgs>),
    /// List the guarantees and their scenarios.
    List(ListArgs),
    /// Print the JSON Schema of a format.
    Schema {
        /// Which format.
        format: Format,
    },
    /// Prove that a driver can run a command and pass argv, environment, output and exit codes.
    Smoke(SmokeArgs),
    /// Make one record of the shards of a run.
    Merge(merge::MergeArgs),
    /// What changed between two runs; of more, or of one folder of runs, what exactly one implementation breaks.
    Diff(diff::DiffArgs),
    /// The page docs/traceability.md: each sentence of the documentation, its guarantees, their scenarios and verdicts.
    Trace(trace::TraceArgs),
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

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let done = match cli.command {
        Some(Command::List(args)) => list::list(&args),
        Some(Command::Schema { format }) => Ok(schema(format)),
        Some(Command::Smoke(args)) => run::smoke(&args),
        Some(Command::Run(args)) => run::run(&args),
        Some(Command::Merge(args)) => merge::merge(&args),
        Some(Command::Diff(args)) => diff::diff(&args),
        Some(Command::Trace(args)) => trace::trace(&args),
        Some(Command::Saboteurs(args)) => crate::saboteurs::run(&args),
        Some(Command::Report(args)) => report::report(&args),
        Some(Command::Matrix(args)) => matrix::matrix(&args),
        None => run::run(&cli.run),
    };
    done.unwrap_or_else(|message| {
        eprintln!("conformance: {}", lines(&message));
        ExitCode::from(USAGE)
    })
}

fn schema(format: Format) -> ExitCode {
    print(&match format {
        Format::Driver => crate::page::driver_schema(),
        Format::Record => crate::page::record_schema(),
    });
    ExitCode::SUCCESS
}
