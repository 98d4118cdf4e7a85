//! `kusaw sandbox doctor`: what each step of this factory can connect to and why, where its proxy is, which programs
//! will not find it (W1), which secrets a launch would not find, and P5 to P7. Keys that are injected are named and never read.

mod inside;
mod probes;
mod watched;

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::check::{self, Status};
use crate::attempt::{self, profile};
use crate::egress::grant::{Grant, PROXY_PORT};
use crate::ignoring::{self, Ignoring};
use crate::outcome::{Exit, Reason, Refusal};
use crate::process::signals::Signals;
use crate::provider::{self, Installed};
use crate::serve::place::SOCKET;
use crate::serve::registration;
use crate::settings::{Mode, Settings, Step, allowlist, attempts, effective, inject};
use crate::stderr::one_line;
use crate::store::Store;
use crate::warning;
pub use inside::inside;
use probes::{Probe, Verdict};

#[derive(Serialize)]
struct Report {
    /// Whether steps can be sandboxed here, as every other command tells it.
    sandbox: Status,
    steps: Vec<StepReport>,
    /// Where the proxy is reached, inside.
    proxy: String,
    /// Where `kusaw serve` is reached, and whether one runs: then it hosts the proxy.
    socket: PathBuf,
    served: bool,
    warnings: Vec<Warning>,
    /// The step with whose allowlist the probes were tried; none where no step has one: then nothing was allowed.
    tried_with: Option<String>,
    /// Empty where nothing could be tried; `reason` says why.
    probes: Vec<Probe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

#[derive(Serialize)]
struct StepReport {
    name: String,
    /// With `per_repo: true`: the repo that has an attempt of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    repo: Option<String>,
    mode: &'static str,
    why: String,
    network: &'static str,
    allow: Vec<Listed>,
    /// Names of the keys that are added outside.
    inject: Vec<String>,
    /// Secrets that a launch of it would not find.
    missing: Vec<Missing>,
    /// The agent that runs it, where one does and is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<Agent>,
    /// What a launch of it would be refused for, whatever this machine can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
}

#[derive(Serialize)]
struct Refused {
    reason: Reason,
    detail: String,
    fix: String,
}

#[derive(Serialize)]
struct Missing {
    secret: String,
    fix: String,
}

#[derive(Serialize)]
struct Agent {
    program: PathBuf,
    /// What becomes readable for it to start.
    readable: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Listed {
    entry: String,
    origin: String,
}

#[derive(Serialize)]
struct Warning {
    code: &'static str,
    what: &'static str,
    programs: &'static [&'static str],
    fix: &'static str,
    /// Steps that run one.
    steps: Vec<String>,
}

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
        missing: injected.iter().filter(|one| !is_stored(&one.secret)).map(|one| missing(&one.secret)).collect(),
        inject: injected.into_iter().map(|one| one.name).collect(),
        name: name.into(),
        repo: None,
        mode: effective.mode.word(),
        why: effective.why,
        agent: provider::of(step)
            .filter(|_| effective.mode == Mode::Required)
            .and_then(provider::installed)
            .map(|Installed { program, roots, .. }| Agent { program, readable: roots }),
        network: if listed.is_some() { "allowlist" } else { "open" },
        allow: listed
            .into_iter()
            .flatten()
            .map(|one| Listed { entry: one.entry.to_string(), origin: one.origin })
            .collect(),
    }
}

/// Whether there is such a secret; it is not read.
fn is_stored(secret: &str) -> bool {
    Store::own().is_ok_and(|store| store.has(secret))
}

fn refused(refusal: Refusal) -> Refused {
    Refused { reason: refusal.reason, fix: refusal.fix().into(), detail: refusal.detail }
}

fn missing(secret: &str) -> Missing {
    Missing { secret: secret.into(), fix: format!("kusaw config set {secret} --secret") }
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

fn text(report: &Report) -> String {
    let mut out = format!("sandbox: {}\n\nsteps\n", report.sandbox);
    // Writing to a string cannot fail.
    for StepReport { name, repo, mode, why, network, allow, inject, missing, agent, refused } in &report.steps {
        let of_repo = repo.iter().map(|repo| format!("repo {repo}: ")).collect::<String>();
        let _ = writeln!(out, "  {name}: {of_repo}{mode} ({why}), network {network}");
        if let Some(Agent { program, readable }) = agent {
            let _ = writeln!(out, "    agent {}", program.display());
            for root in readable {
                let _ = writeln!(out, "    readable: {}", root.display());
            }
        }
        for Listed { entry, origin } in allow {
            let _ = writeln!(out, "    {entry:<40} {origin}");
        }
        for key in inject {
            let _ = writeln!(out, "    inject {key}");
        }
        for Missing { secret, fix } in missing {
            let _ = writeln!(out, "    MISSING secret {secret}: a launch is refused (fix: {fix})");
        }
        if let Some(Refused { reason, detail, fix }) = refused {
            let detail = one_line(detail);
            let _ = writeln!(out, "    REFUSED a launch of it: {reason}: {detail} (fix: {fix})");
        }
    }
    let host = if report.served { "kusaw serve, which runs" } else { "each kusaw run; kusaw serve does not run" };
    let _ = writeln!(
        out,
        "\nproxy: inside {}, hosted by {host}\nsocket of kusaw serve: {}",
        report.proxy,
        report.socket.display()
    );
    let _ = writeln!(out, "\nin allowlist mode these ignore the proxy and reach nothing (W1):");
    for Warning { code, what, programs, fix, steps } in &report.warnings {
        let here = if steps.is_empty() { String::new() } else { format!(" [steps: {}]", steps.join(", ")) };
        let _ = writeln!(out, "  {code} {what}: {}{here}\n     {fix}", programs.join(", "));
    }
    let step = report.tried_with.as_ref().map(|step| format!("what step {step} may reach"));
    let _ = writeln!(out, "\ntried by a launch, with {}:", step.as_deref().unwrap_or("nothing allowed"));
    for Probe { id, promise, verdict, seen } in &report.probes {
        let verdict = match verdict {
            Verdict::Held => "ok",
            Verdict::Failed => "FAILED",
            Verdict::NotTried => "not tried",
        };
        let _ = writeln!(out, "{id} {verdict:<9} {promise} ({seen})");
    }
    let not_tried: Vec<&str> = report.probes.iter().filter(|p| p.verdict == Verdict::NotTried).map(|p| p.id).collect();
    if !not_tried.is_empty() {
        let _ = writeln!(out, "{}: not shown to hold", not_tried.join(", "));
    }
    for (reason, fix) in report.reason.iter().zip(&report.fix) {
        let _ = writeln!(out, "P5 to P7 could not be tried: {reason}\nfix: {fix}");
    }
    out
}
