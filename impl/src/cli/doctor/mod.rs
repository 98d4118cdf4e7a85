//! `kusaw sandbox doctor`: what each step of this factory can connect to and why, where its proxy is, which programs
//! will not find it (W1), which secrets a launch would not find, and P5 to P7. Keys that are injected are named and never read.

mod inside;
mod probes;
mod report;
mod watched;

use std::io::Write;
use std::path::Path;

use super::check;
use crate::attempt::{self, profile};
use crate::egress::grant::{Grant, PROXY_PORT};
use crate::ignoring::{self, Ignoring};
use crate::outcome::{Exit, Reason, Refusal};
use crate::process::signals::Signals;
use crate::provider::{self, Installed, Provider, state};
use crate::reach;
use crate::secrets;
use crate::serve::place::SOCKET;
use crate::serve::registration;
use crate::settings::inject::Injected;
use crate::settings::{Mode, Settings, Step, allowlist, attempts, effective, inject};
use crate::store::name::to_set;
use crate::warning;
pub use inside::inside;
use probes::Verdict;
use report::{Agent, Listed, Missing, Refused, Report, StepReport, Warning, text};

/// Prints the report: fine where steps can be sandboxed, none would be refused, and every probe that could be tried held.
pub fn doctor(factory: &Path, json: bool) -> Result<Exit, Refusal> {
    let signals = Signals::take().map_err(|e| Refusal::new(Reason::SetupFailed, format!("signals: {e}")))?;
    let (factory, settings) = attempt::load(factory)?;
    let (tried_with, grant) = to_try(&settings).unzip();
    let tried = probes::try_all(&grant.unwrap_or_default(), &signals);
    let report = Report {
        sandbox: check::status(&settings, &signals),
        steps: settings.steps.iter().flat_map(|(name, step)| of_attempts(&factory, &settings, name, step)).collect(),
        proxy: format!("http://127.0.0.1:{PROXY_PORT}"),
        socket: factory.join(SOCKET),
        served: registration::serving(&factory).is_ok_and(|serving| serving.is_some()),
        warnings: ignoring::ALL.iter().map(|kind| warning(kind, &settings)).collect(),
        tried_with,
        reason: tried.as_ref().err().map(Refusal::to_string),
        fix: tried.as_ref().err().map(|refusal| refusal.fix().to_string()),
        probes: tried.unwrap_or_default(),
    };
    let text = match json {
        true => serde_json::to_string_pretty(&report).unwrap_or_default() + "\n",
        false => text(&report),
    };
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    let held = !report.probes.is_empty() && report.probes.iter().all(|probe| probe.verdict != Verdict::Failed);
    let refused = report.steps.iter().any(|step| !step.missing.is_empty() || step.refused.is_some());
    Ok(Exit::of(held && report.sandbox.available && !refused))
}

/// The first sandboxed step with an allowlist that has a host to ask, or else the first with any, and what it may
/// reach.
fn to_try(settings: &Settings) -> Option<(String, Grant)> {
    let sandboxed = settings.steps.iter().filter(|(_, step)| attempts::any_sandboxed(settings, step));
    let grants = sandboxed.filter_map(|(name, step)| Some((name.clone(), allowlist::grant(settings, name, step)?)));
    let (with_a_host, without): (Vec<_>, Vec<_>) = grants.partition(|(_, grant)| probes::one_host(grant).is_some());
    with_a_host.into_iter().chain(without).next()
}

/// One for each attempt: with `per_repo: true` each repo decides by itself.
fn of_attempts(factory: &Path, settings: &Settings, name: &str, step: &Step) -> Vec<StepReport> {
    let each = attempts::of(step);
    let repo = |attempt: &Step| attempt.repos.first().filter(|_| step.is_per_repo()).map(|repo| repo.value.clone());
    each.iter().map(|attempt| StepReport { repo: repo(attempt), ..of_step(factory, settings, name, attempt) }).collect()
}

fn of_step(factory: &Path, settings: &Settings, name: &str, step: &Step) -> StepReport {
    let effective = effective::of(settings, step);
    let listed = match effective.mode {
        Mode::Off => None,
        Mode::Required => allowlist::of(settings, name, step),
    };
    // What is wrong with them was refused when the settings were read.
    let injected = listed.as_ref().and_then(|_| inject::of(settings, step).ok()).unwrap_or_default();
    StepReport {
        refused: profile::of(factory, settings, name, step).err().map(refused),
        inject: injected.iter().map(|one| one.name.clone()).collect(),
        missing: secrets::missing(injected).into_iter().map(missing).collect(),
        name: name.into(),
        repo: None,
        mode: effective.mode.word(),
        why: effective.why,
        agent: provider::of(step).filter(|_| effective.mode == Mode::Required).and_then(|agent| of_agent(agent, step)),
        network: if listed.is_some() { "allowlist" } else { "open" },
        allow: listed
            .into_iter()
            .flatten()
            .map(|one| Listed { entry: one.entry.to_string(), origin: one.origin })
            .collect(),
    }
}

fn of_agent(agent: &Provider, step: &Step) -> Option<Agent> {
    let Installed { program, roots, .. } = provider::installed(agent)?;
    let state = agent.state(&reach::home(), |name| state::variable(&step.env, name)).unwrap_or_default();
    let writable = state.places.into_iter().filter(|place| state::is_there(place)).collect();
    Some(Agent { program, readable: roots, writable })
}

fn refused(refusal: Refusal) -> Refused {
    Refused { reason: refusal.reason, fix: refusal.fix().into(), detail: refusal.detail }
}

fn missing(one: Injected) -> Missing {
    Missing { fix: to_set(&one.secret), secret: one.secret }
}

fn warning(kind: &'static Ignoring, settings: &Settings) -> Warning {
    let runs = |step: &Step| ignoring::run_by(step).iter().any(|found| found.kind == kind);
    let in_allowlist = settings.steps.iter().filter(|(name, step)| {
        attempts::any_sandboxed(settings, step) && allowlist::of(settings, name, step).is_some()
    });
    let steps = in_allowlist.filter(|(_, step)| runs(step)).map(|(name, _)| name.clone()).collect();
    Warning {
        code: warning::Warning::IgnoresProxy.code(),
        what: kind.what,
        programs: kind.programs,
        fix: kind.fix,
        steps,
    }
}
