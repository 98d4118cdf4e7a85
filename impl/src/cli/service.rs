//! `kusaw service status`: whether `kusaw serve` runs for this factory, and whether this machine can run the sandbox.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::check::{self, Status};
use crate::attempt;
use crate::outcome::{Exit, Reason, Refusal};
use crate::process::signals::Signals;
use crate::serve::place::SOCKET;
use crate::serve::registration;

#[derive(Serialize)]
struct Report {
    serve: Serve,
    sandbox: Status,
}

#[derive(Serialize)]
struct Serve {
    running: bool,
    socket: PathBuf,
    pid: Option<u32>,
    since: Option<String>,
    attempts: Option<usize>,
    /// Why one that is there cannot be asked.
    problem: Option<String>,
}

/// Prints the report: fine where it runs and steps can be sandboxed.
///
/// # Errors
/// When the settings cannot be used.
pub fn status(factory: &Path, json: bool) -> Result<Exit, Refusal> {
    let (factory, settings) = attempt::load(factory)?;
    let signals = Signals::take().map_err(|e| Refusal::new(Reason::SetupFailed, format!("signals: {e}")))?;
    let report = Report { serve: of(&factory), sandbox: check::status(&settings, &signals) };
    let text = match json {
        true => serde_json::to_string_pretty(&report).unwrap_or_default() + "\n",
        false => text(&report),
    };
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(Exit::of(report.serve.running && report.sandbox.available))
}

fn of(factory: &Path) -> Serve {
    let (serving, problem) = match registration::serving(factory) {
        Ok(serving) => (serving, None),
        Err(e) => (None, Some(e.to_string())),
    };
    Serve {
        running: serving.is_some(),
        socket: factory.join(SOCKET),
        pid: serving.as_ref().map(|serving| serving.pid),
        attempts: serving.as_ref().map(|serving| serving.attempts),
        since: serving.map(|serving| serving.since),
        problem,
    }
}

fn text(report: &Report) -> String {
    let serve = &report.serve;
    let state = match (&serve.pid, &serve.since, &serve.attempts, &serve.problem) {
        (Some(pid), Some(since), Some(attempts), _) => format!("runs: pid {pid}, since {since}, attempts: {attempts}"),
        (_, _, _, Some(problem)) => format!("cannot be asked: {problem}"),
        _ => "does not run: every `kusaw run` hosts a proxy of its own".into(),
    };
    format!("serve:   {state}\nsocket:  {}\nsandbox: {}\n", serve.socket.display(), report.sandbox)
}
