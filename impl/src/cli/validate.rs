//! `kusaw validate`: reads the settings as a run does and tells what a launch would refuse, what opens more than it should
//! (W2), which programs will not find the proxy (W1), and whether this machine can run the sandbox. Nothing of a step is made
//! or executed.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

use super::check::{self, Status};
use super::unmet;
use crate::allow;
use crate::attempt;
use crate::capability;
use crate::egress::entry;
use crate::finding::Finding;
use crate::handshake;
use crate::ignoring::{self, Found};
use crate::outcome::{Exit, Reason, Refusal};
use crate::process::signals::Signals;
use crate::secrets;
use crate::settings::{Network, Settings, Step, allowlist, attempts};
use crate::stderr::{one_line, printable};
use crate::store::Store;
use crate::warning::Warning;

#[derive(Serialize)]
struct Report {
    /// What a launch would refuse.
    errors: Vec<Finding>,
    warnings: Vec<Finding>,
    /// When any attempt could be sandboxed.
    #[serde(skip_serializing_if = "Option::is_none")]
    sandbox: Option<Status>,
}

/// Prints the report.
pub fn validate(factory: &Path, json: bool) -> Exit {
    let (factory, settings) = match attempt::load(factory) {
        Ok(loaded) => loaded,
        Err(refusal) => return unreadable(&refusal, json),
    };
    let signals = match Signals::take() {
        Ok(signals) => signals,
        Err(e) => return super::told(&Refusal::new(Reason::SetupFailed, format!("signals: {e}"))),
    };
    let (mut errors, mut warnings) = allow::findings(&factory, &settings);
    errors.extend(settings.steps.iter().filter_map(|(name, step)| not_supported(&settings, name, step)));
    errors.extend(unmet::errors(&factory, &settings));
    errors.extend(settings.steps.iter().filter_map(|(name, step)| two_values(&factory, &settings, name, step)));
    warnings.extend(unmet::warnings(&settings));
    let sandbox = sandboxed(&settings).next().map(|_| check::status(&settings, &signals));
    warnings.extend(sandboxed(&settings).flat_map(|(name, step)| unlisted(&factory, &settings, name, step, &signals)));
    warnings.extend(ignored(&settings));
    warnings.extend(misread(&settings));
    let report = Report { errors, warnings, sandbox };
    print(&if json { as_json(&report) } else { text(&report) });
    let available = report.sandbox.as_ref().is_none_or(|status| status.available);
    Exit::of(report.errors.is_empty() && report.warnings.is_empty() && available)
}

/// Settings that cannot be read: the same words as at a run, another exit code. Whoever asked for an object gets one.
pub fn unreadable(refusal: &Refusal, json: bool) -> Exit {
    if json {
        let (code, what, fix) = (refusal.reason.code(), refusal.detail.clone(), refusal.fix().to_string());
        let error = Finding { code, what, fix, ..Finding::default() };
        print(&as_json(&Report { errors: vec![error], warnings: Vec::new(), sandbox: None }));
    }
    super::report(refusal);
    Exit::Usage
}

fn print(text: &str) {
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn as_json(report: &Report) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}

fn sandboxed(settings: &Settings) -> impl Iterator<Item = (&String, &Step)> {
    settings.steps.iter().filter(|(_, step)| attempts::any_sandboxed(settings, step))
}

fn not_supported(settings: &Settings, name: &str, step: &Step) -> Option<Finding> {
    let missing = attempts::of(step).iter().find_map(|attempt| capability::missing(settings, attempt))?;
    let what = format!("{missing} is not_supported here");
    let (code, key, fix) = (Reason::NotSupported.code(), format!("steps.{name}.requires"), missing.fix().to_string());
    Some(Finding { code, key, what, fix, ..Finding::default() })
}

/// A variable with a secret, and with a value in the settings as well.
fn two_values(factory: &Path, settings: &Settings, name: &str, step: &Step) -> Option<Finding> {
    // A store that cannot be read is told when a step is run.
    let kept = Store::own().and_then(|store| store.of_step(factory, name)).ok()?;
    let refusal = secrets::alone(settings, name, step, &kept).err()?;
    let (code, key, fix) = (refusal.reason.code(), format!("steps.{name}.env"), refusal.fix().to_string());
    Some(Finding { code, key, what: refusal.detail, fix, ..Finding::default() })
}

/// W1: programs that a step runs and that will not find its proxy.
fn ignored(settings: &Settings) -> Vec<Finding> {
    let behind_proxy = sandboxed(settings).filter(|(_, step)| allowlist::network(settings, step) == Network::Allowlist);
    let finding = |name: &str, found: Found| Finding {
        code: Warning::IgnoresProxy.code(),
        key: format!("steps.{name}.run"),
        path: printable(&found.program, 80),
        what: format!("ignores the proxy variables ({}): in allowlist mode it reaches nothing", found.kind.what),
        fix: found.kind.fix.into(),
        ..Finding::default()
    };
    behind_proxy.flat_map(|(name, step)| ignoring::run_by(step).into_iter().map(move |f| finding(name, f))).collect()
}

/// W4: entries of allowlists that may not mean what they seem to.
fn misread(settings: &Settings) -> Vec<Finding> {
    let steps = settings.steps.iter().filter_map(|(name, step)| Some((format!("steps.{name}.sandbox"), step.block()?)));
    let blocks = [("sandbox".to_string(), &settings.sandbox)].into_iter().chain(steps);
    let finding = |key: &str, host: &str, warning: entry::Warning| {
        let (key, host, what) = (format!("{key}.egress.allow"), printable(host, 80), warning.to_string());
        Finding {
            code: Warning::Misread.code(),
            key,
            host,
            what,
            fix: Warning::Misread.fix().into(),
            ..Finding::default()
        }
    };
    let entries =
        blocks.flat_map(|(key, block)| block.egress.allow.iter().map(move |entry| (key.clone(), &entry.value)));
    let told =
        entries.flat_map(|(key, host)| entry::warnings(host).into_iter().map(move |one| (key.clone(), host, one)));
    told.map(|(key, host, warning)| finding(&key, host, warning)).collect()
}

/// W3: hosts that the step's runner says it needs and that are not on its allowlist, or that it did not say.
fn unlisted(factory: &Path, settings: &Settings, name: &str, step: &Step, signals: &Signals) -> Vec<Finding> {
    let (Some(argv), Some(listed)) = (&step.handshake, allowlist::of(settings, name, step)) else {
        return Vec::new();
    };
    let key = format!("steps.{name}.handshake");
    let finding = |host: String, what: &str, fix: String| {
        let (key, what) = (key.clone(), one_line(what));
        Finding { code: Warning::Unlisted.code(), key, host, what, fix, ..Finding::default() }
    };
    match handshake::ask(factory, argv, signals) {
        Err(why) => vec![finding(String::new(), &why, "correct what the handshake prints".into())],
        Ok(hosts) => {
            let missing = hosts.into_iter().filter(|host| !listed.iter().any(|one| one.entry.covers(host)));
            let fix = |host: &str| format!("if the step is to reach it, add {host:?} to sandbox.egress.allow");
            let what = "the step's runner says it needs it, and it is not allowed";
            missing.map(|host| finding(host.to_string(), what, fix(&host.to_string()))).collect()
        }
    }
}

fn text(report: &Report) -> String {
    let errors = report.errors.iter().map(|finding| format!("error: {finding}\n"));
    let warnings = report.warnings.iter().map(|finding| format!("warning: {finding}\n"));
    let sandbox = report.sandbox.iter().map(|status| format!("sandbox: {status}\n"));
    let fine = (report.errors.is_empty() && report.warnings.is_empty()).then(|| "settings: fine\n".to_string());
    errors.chain(warnings).chain(fine).chain(sandbox).collect()
}
