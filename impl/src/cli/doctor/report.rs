//! What the doctor tells: as an object for programs, and as text for people.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::probes::{Probe, Verdict};
use crate::cli::check::Status;
use crate::outcome::Reason;
use crate::stderr::one_line;

#[derive(Serialize)]
pub struct Report {
    /// Whether steps can be sandboxed here, as every other command tells it.
    pub sandbox: Status,
    pub steps: Vec<StepReport>,
    /// Where the proxy is reached, inside.
    pub proxy: String,
    /// Where `kusaw serve` is reached, and whether one runs: then it hosts the proxy.
    pub socket: PathBuf,
    pub served: bool,
    pub warnings: Vec<Warning>,
    /// The step with whose allowlist the probes were tried; none where no step has one: then nothing was allowed.
    pub tried_with: Option<String>,
    /// Empty where nothing could be tried; `reason` says why.
    pub probes: Vec<Probe>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

#[derive(Serialize)]
pub struct StepReport {
    pub name: String,
    /// With `per_repo: true`: the repo that has an attempt of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    pub mode: &'static str,
    pub why: String,
    pub network: &'static str,
    pub allow: Vec<Listed>,
    /// Names of the keys that are added outside.
    pub inject: Vec<String>,
    /// Secrets that a launch of it would not find.
    pub missing: Vec<Missing>,
    /// The agent that runs it, where one does and is installed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// What a launch of it would be refused for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refused>,
}

#[derive(Serialize)]
pub struct Refused {
    pub reason: Reason,
    pub detail: String,
    pub fix: String,
}

#[derive(Serialize)]
pub struct Missing {
    pub secret: String,
    pub fix: String,
}

#[derive(Serialize)]
pub struct Agent {
    pub program: PathBuf,
    /// What becomes readable for it to start.
    pub readable: Vec<PathBuf>,
    /// Its state, which the step can read and write.
    pub writable: Vec<PathBuf>,
}

#[derive(Serialize)]
pub struct Listed {
    pub entry: String,
    pub origin: String,
}

#[derive(Serialize)]
pub struct Warning {
    pub code: &'static str,
    pub what: &'static str,
    pub programs: &'static [&'static str],
    pub fix: &'static str,
    /// Steps that run one.
    pub steps: Vec<String>,
}

/// The report as text.
pub fn text(report: &Report) -> String {
    let mut out = format!("sandbox: {}\n\nsteps\n", report.sandbox);
    // Writing to a string cannot fail.
    for StepReport { name, repo, mode, why, network, allow, inject, missing, agent, refused } in &report.steps {
        let of_repo = repo.iter().map(|repo| format!("repo {repo}: ")).collect::<String>();
        let _ = writeln!(out, "  {name}: {of_repo}{mode} ({why}), network {network}");
        if let Some(Agent { program, readable, writable }) = agent {
            let _ = writeln!(out, "    agent {}", program.display());
            for root in readable {
                let _ = writeln!(out, "    readable: {}", root.display());
            }
            for place in writable {
                let _ = writeln!(out, "    writable: {} (the agent's state, kept)", place.display());
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
