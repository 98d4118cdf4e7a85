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
        Err(refusal) => return unreadable(&refusal, json),
    };
    let (errors, warnings) = allow::findings(&factory, &settings);
    let report = Report { errors, warnings, sandbox: any_sandboxed(&settings).then(check::status) };
    print(&if json { as_json(&report) } else { text(&report) });
    let available = report.sandbox.as_ref().is_none_or(|status| status.available);
    i32::from(!report.errors.is_empty() || !report.warnings.is_empty() || !available)
}

/// Settings that cannot be read: the same words as at a run, another exit code. Whoever asked for an object gets one.
pub fn unreadable(refusal: &Refusal, json: bool) -> i32 {
    if json {
        let (code, what, fix) = (refusal.reason.code(), refusal.detail.clone(), refusal.fix().to_string());
        let error = Finding { code, key: String::new(), path: String::new(), what, fix };
        print(&as_json(&Report { errors: vec![error], warnings: Vec::new(), sandbox: None }));
    }
    super::report(refusal);
    WRONG
}

fn print(text: &str) {
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn as_json(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
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
