//! `kusaw providers`: the agent CLIs of the registry, where they are installed here, what of the home is theirs, by which variables
//! they log in, and what a step that one of them runs can require. Nothing of an agent is started: an agent that is asked for its
//! version or login outside of a sandbox may already do what its settings say.

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use crate::capability::{self, Capability};
use crate::outcome::Exit;
use crate::provider::{self, Installed, Provider, state};
use crate::reach;
use crate::settings::{Network, Settings};

#[derive(Serialize)]
struct Row {
    name: &'static str,
    default: bool,
    executables: &'static [&'static str],
    /// Where it is installed; none where it is not on PATH.
    program: Option<PathBuf>,
    /// What becomes readable for it to start.
    readable: Vec<PathBuf>,
    /// Variables that it takes a login from.
    login: Vec<Login>,
    /// What it keeps in the home, which its steps alone have, writable.
    state: Vec<Place>,
    config_dir: &'static str,
    quiet: &'static [&'static str],
    hosts: &'static [&'static str],
    capabilities: Vec<State>,
}

#[derive(Serialize)]
struct Login {
    name: &'static str,
    /// Steps whose `env:` has it.
    steps: Vec<String>,
}

#[derive(Serialize)]
struct Place {
    path: PathBuf,
    there: bool,
}

#[derive(Serialize)]
struct State {
    name: &'static str,
    state: &'static str,
}

/// Prints them. Without settings nothing has been opted into.
pub fn providers(settings: Option<&Settings>, json: bool) -> Exit {
    let rows: Vec<Row> = provider::ALL.iter().map(|provider| row(provider, settings)).collect();
    let text = match json {
        true => serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n",
        false => rows.iter().map(text).collect(),
    };
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Exit::Fine
}

fn row(provider: &'static Provider, settings: Option<&Settings>) -> Row {
    let network = settings.and_then(|settings| settings.sandbox.network).unwrap_or(Network::Open);
    let capability = |one: &Capability| State { name: one.name(), state: one.state(network) };
    let installed = provider::installed(provider);
    let (program, readable) = installed.map(|Installed { program, roots, .. }| (program, roots)).unzip();
    let places = provider.state(&reach::home(), |name| std::env::var_os(name)).unwrap_or_default().places;
    let steps = settings.into_iter().flat_map(|settings| &settings.steps);
    let own: Vec<_> = steps.filter(|(_, step)| provider::of(step) == Some(provider)).collect();
    let login = |name: &'static str| {
        let has = own.iter().filter(|(_, step)| step.env.contains_key(name));
        Login { name, steps: has.map(|(name, _)| name.to_string()).collect() }
    };
    Row {
        name: provider.name,
        default: provider.name == provider::DEFAULT.name,
        executables: provider.executables,
        program,
        readable: readable.unwrap_or_default(),
        login: provider.login.iter().map(|name| login(name)).collect(),
        state: places.into_iter().map(|path| Place { there: state::is_there(&path), path }).collect(),
        config_dir: provider.config_dir,
        quiet: provider.quiet,
        hosts: provider.egress,
        capabilities: capability::ALL.iter().map(capability).collect(),
    }
}

fn text(row: &Row) -> String {
    let default = if row.default { " (default)" } else { "" };
    let mut out = format!("{}{default}\n", row.name);
    // Writing to a string cannot fail.
    let _ = match &row.program {
        Some(program) => writeln!(out, "  program: {}", program.display()),
        None => writeln!(out, "  program: {}, which is not on PATH", row.executables.join(" or ")),
    };
    for root in &row.readable {
        let _ = writeln!(out, "  readable: {}", root.display());
    }
    for Login { name, steps } in &row.login {
        let steps = if steps.is_empty() { String::new() } else { format!(", set in steps: {}", steps.join(", ")) };
        let _ = writeln!(out, "  login: {name}{steps}");
    }
    for Place { path, there } in &row.state {
        let there = if *there { "" } else { ", which is not there" };
        let _ = writeln!(out, "  state: {}{there}", path.display());
    }
    let _ = writeln!(out, "  other folder for it: {}", row.config_dir);
    for name in row.quiet {
        let _ = writeln!(out, "  asks fewer hosts with: {name}=1");
    }
    let _ = writeln!(out, "  hosts: {}", row.hosts.join(", "));
    for State { name, state } in &row.capabilities {
        let _ = writeln!(out, "  {name}: {state}");
    }
    out
}
