//! `kusaw validate`: reads the settings as a run does and tells what a launch would refuse, what opens more than it should
//! (W2), and whether this machine can run the sandbox. Nothing of a step is made or executed.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::check::{self, Status};
use crate::allow::{self, Finding};
use crate::attempt;
use crate::outcome::Refusal;
use crate::settings::{Mode, Settings, effective};

/// Wrong settings, as wrong usage.
const WRONG: i32 = 2;

#[derive(Serialize)]
struct Report {
    /// What a launch would refuse.
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    /// When any attempt could be sandboxed.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<Status>,
}

/// Prints the report; the value is the exit code: 0 = fine, 1 = something to tell, 2 = the settings cannot be used.
pub fn validate(factory: &Path, json: bool) -> i32 {
    let (factory, settings) = match attempt::load(factory) {
        Ok(loaded) => loaded,
        Err(refusal) => return unreadable(&refusal),
    };
    let (errors, warnings) = allow::findings(&factory, &settings);
    let report = Report { errors, warnings, sandbox: any_sandboxed(&settings).then(check::status) };
    let text = match json {
        true => serde_json::to_string_pretty(&report).unwrap_or_default() + "\n",
        false => text(&report),
    };
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    let available = report.sandbox.as_ref().is_none_or(|status| status.available);
    i32::from(!report.errors.is_empty() || !report.warnings.is_empty() || !available)
}

/// Settings that cannot be read: the same words as at a run, another exit code.
pub fn unreadable(refusal: &Refusal) -> i32 {
    super::report(refusal);
    WRONG
}

fn any_sandboxed(settings: &Settings) -> bool {
    settings.steps.values().any(|step| effective::of(settings, step).mode == Mode::Required)
}

fn text(report: &Report) -> String {
    let errors = report.errors.iter().map(|finding| format!("error: {finding}\n"));
    let warnings = report.warnings.iter().map(|finding| format!("warning: {finding}\n"));
    let sandbox = report.sandbox.iter().map(|status| format!("sandbox: {status}\n"));
    let fine = (report.errors.is_empty() && report.warnings.is_empty()).then(|| "settings: fine\n".to_string());
    errors.chain(warnings).chain(fine).chain(sandbox).collect()
}
