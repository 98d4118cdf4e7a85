//! The command line. One file a command; errors become text here and nowhere else, each line of it on
//! stderr and prefixed, so that it cannot be taken for the step's own.

mod check;
mod config;
mod doctor;
mod guards;
mod init;
mod outcomes;
mod profile;
mod providers;
mod run;
mod schema;
mod serve;
mod service;
mod unmet;
mod validate;

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};

use crate::allow;
use crate::attempt;
use crate::outcome::{Exit, Reason, Refusal};
use crate::settings::{self, Settings};
use crate::stderr;

#[derive(Parser)]
#[command(name = "kusaw", version, about = "Runs the steps of a factory, sandboxed where its settings require it.")]
struct Arguments {
    /// The folder that holds kusaw.yaml [default: the nearest one above the working folder]
    #[arg(long, value_name = "DIR", global = true)]
    factory: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Writes a first kusaw.yaml, with comments, to start from: into the working folder, or the one that --factory names
    Init,
    /// One attempt of a step; its exit code is the step's own, 125 when kusaw refused
    Run {
        /// Name of the step
        step: String,
        /// Id of the attempt [default: from the time]
        #[arg(long)]
        attempt: Option<String>,
    },
    /// Hosts the one egress proxy of the factory, for all its attempts, until a signal ends it
    Serve,
    /// What runs for the factory
    #[command(subcommand)]
    Service(ServiceCommand),
    /// What is wrong or dangerous in the settings, before anything is run; exit code 1 when there is something
    Validate {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// The JSON Schema of kusaw.yaml, for editors
    Schema,
    /// The agent CLIs that a step can be run by, and what such a step can require
    Providers {
        /// As one JSON list
        #[arg(long)]
        json: bool,
    },
    /// Every run state, step outcome, reason with its fix, warning and exit code that there is
    Outcomes {
        /// As the page of the documentation
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Values that do not stand in kusaw.yaml
    #[command(subcommand)]
    Config(ConfigCommand),
    /// What the sandbox can do on this machine
    #[command(subcommand)]
    Sandbox(SandboxCommand),
    /// What the doctor does inside
    #[command(name = "__doctor", hide = true)]
    Inside { order: String },
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Keep a value, read from stdin or typed without echo
    Set {
        /// Its name, for all factories, or steps.STEP.env.NAME, a variable of that step
        key: String,
        /// Into the secret store
        #[arg(long)]
        secret: bool,
    },
    /// Which there are, where from and for what, and which are missing (exit code 1); never a value
    List {
        /// As one JSON list
        #[arg(long)]
        json: bool,
    },
    /// Take a secret away
    Unset {
        /// Its name, as for set
        key: String,
    },
}

#[derive(Subcommand)]
enum SandboxCommand {
    /// Whether this machine can run the sandbox, tried with the real launch
    Check {
        /// Also print what the sandbox does not protect
        #[arg(long)]
        verbose: bool,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// What each step can connect to and why, and whether that holds: an allowed host, a blocked one, a direct connection
    Doctor {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// What would be executed for a step on this machine; nothing is started, and no attempt made
    Profile {
        /// Name of the step
        step: String,
        /// Of which platform
        #[arg(long, value_enum, default_value = "linux")]
        platform: profile::Platform,
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
}

#[derive(Subcommand)]
enum ServiceCommand {
    /// Whether `kusaw serve` runs, and whether steps can be sandboxed here; exit code 1 when one of the two is not so
    Status {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// Parses the command line and runs the command; the value is the exit code.
pub fn main() -> i32 {
    let arguments = Arguments::parse();
    let given = arguments.factory;
    let done = match arguments.command {
        Command::Run { step, attempt } => {
            return match factory(given) {
                Ok(factory) => run::run(&factory, &step, attempt.as_deref()),
                Err(refusal) => report(&refusal),
            };
        }
        Command::Inside { order } => return doctor::inside(&order),
        Command::Init => init::init(given),
        Command::Serve => factory(given).and_then(|factory| serve::serve(&factory)),
        Command::Service(ServiceCommand::Status { json }) => {
            factory(given).and_then(|factory| service::status(&factory, json))
        }
        Command::Validate { json } => match factory(given) {
            Ok(factory) => Ok(validate::validate(&factory, json)),
            Err(refusal) => Ok(validate::unreadable(&refusal, json)),
        },
        Command::Schema => Ok(schema::schema()),
        Command::Providers { json } => {
            settings_if_any(given).map(|settings| providers::providers(settings.as_ref(), json))
        }
        Command::Outcomes { markdown, json } => {
            let form = match (markdown, json) {
                (true, _) => outcomes::Form::Markdown,
                (_, true) => outcomes::Form::Json,
                _ => outcomes::Form::Text,
            };
            Ok(outcomes::outcomes(form))
        }
        Command::Config(ConfigCommand::Set { key, secret }) => config::set(given, &key, secret),
        Command::Config(ConfigCommand::List { json }) => config::list(given, json),
        Command::Config(ConfigCommand::Unset { key }) => config::unset(given, &key),
        Command::Sandbox(SandboxCommand::Check { verbose, json }) => Ok(check::check(verbose, json)),
        Command::Sandbox(SandboxCommand::Doctor { json }) => {
            factory(given).and_then(|factory| doctor::doctor(&factory, json))
        }
        Command::Sandbox(SandboxCommand::Profile { step, platform, json }) => {
            factory(given).and_then(|factory| profile::profile(&factory, &step, platform, json))
        }
    };
    match done {
        Ok(exit) => exit.code(),
        Err(refusal) => {
            let exit = told(&refusal);
            // As a shell has it for whoever was ended so.
            refusal.signal.map_or(exit.code(), |signal| 128 + signal)
        }
    }
}

/// Those of the factory; none where there is no factory and none was named.
fn settings_if_any(given: Option<PathBuf>) -> Result<Option<Settings>, Refusal> {
    if given.is_none() && factory(None).is_err() {
        return Ok(None);
    }
    attempt::load(&factory(given)?).map(|(_, settings)| Some(settings))
}

/// Prints a refusal as every command but `run` does, which has exit codes of its own.
fn told(refusal: &Refusal) -> Exit {
    report(refusal);
    match refusal.reason {
        Reason::BadSettings | Reason::UnknownStep => Exit::Usage,
        _ => Exit::Findings,
    }
}

/// Prints a refusal and returns its exit code.
fn report(refusal: &Refusal) -> i32 {
    stderr::say(refusal);
    stderr::say(format!("fix: {}", refusal.fix()));
    refusal.exit_code()
}

/// The factory: the one that is named, or the nearest above the working folder. What lies where a step of an outer factory
/// can write is none: a step could have left it there, and its settings would govern the next run.
fn factory(given: Option<PathBuf>) -> Result<PathBuf, Refusal> {
    if let Some(given) = given {
        return Ok(given);
    }
    let bad = |what: String| Refusal::new(Reason::BadSettings, what);
    let cwd = std::env::current_dir().map_err(|e| bad(format!("working folder: {e}")))?;
    let holds_settings = |folder: &&Path| folder.join(settings::FILE).is_file();
    let candidates: Vec<&Path> = cwd.ancestors().filter(holds_settings).collect();
    let is_planted = |folder: &Path| {
        let mut outer = candidates.iter().filter(|above| folder != **above && folder.starts_with(above));
        outer.any(|above| allow::a_step_can_write(above, folder))
    };
    let Some(found) = candidates.iter().find(|folder| !is_planted(folder)) else {
        return Err(Refusal {
            fix: Some(
                "kusaw init writes one here to start from; if you have one: go into its folder, or name that with --factory DIR"
                    .into(),
            ),
            ..bad(format!("no {} in {} or above it", settings::FILE, cwd.display()))
        });
    };
    for path in [found.to_path_buf(), found.join(settings::FILE)] {
        let owner = path.metadata().map_err(|e| bad(format!("{}: {e}", path.display())))?.uid();
        if owner != 0 && owner != nix::unistd::geteuid().as_raw() {
            return Err(Refusal {
                fix: Some("name the factory with --factory DIR if its settings are to be trusted".into()),
                ..bad(format!("{} belongs to another user (uid {owner})", path.display()))
            });
        }
    }
    Ok(found.to_path_buf())
}
