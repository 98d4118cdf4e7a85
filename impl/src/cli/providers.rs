//! `kusaw providers`: the agent CLIs of the registry, and what a step that one of them runs can require.

use std::io::Write;

use serde::Serialize;

use crate::capability::{self, Capability};
use crate::provider::{self, Provider};
use crate::settings::{Network, Settings};

#[derive(Serialize)]
struct Row {
    name: &'static str,
    default: bool,
    executables: &'static [&'static str],
    hosts: &'static [&'static str],
    capabilities: Vec<State>,
}

#[derive(Serialize)]
struct State {
    name: &'static str,
    state: &'static str,
}

/// Prints them; the value is the exit code. Without settings nothing has been opted into.
pub fn providers(settings: Option<&Settings>, json: bool) -> i32 {
    let network = settings.and_then(|settings| settings.sandbox.network).unwrap_or(Network::Open);
    let rows: Vec<Row> = provider::ALL.iter().map(|provider| row(provider, network)).collect();
    let text = match json {
        true => serde_json::to_string_pretty(&rows).unwrap_or_default() + "\n",
        false => rows.iter().map(line).collect(),
    };
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    0
}

fn row(provider: &'static Provider, network: Network) -> Row {
    let state = |one: &Capability| State { name: one.name(), state: one.state(network) };
    Row {
        name: provider.name,
        default: provider.name == provider::DEFAULT.name,
        executables: provider.executables,
        hosts: provider.egress,
        capabilities: capability::ALL.iter().map(state).collect(),
    }
}

fn line(row: &Row) -> String {
    let default = if row.default { " (default)" } else { "" };
    let states: String = row.capabilities.iter().map(|one| format!("  {}: {}", one.name, one.state)).collect();
    format!(
        "{}{default}\n  program: {}\n  hosts: {}\n{states}\n",
        row.name,
        row.executables.join(", "),
        row.hosts.join(", ")
    )
}
