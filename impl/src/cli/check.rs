//! `kusaw sandbox check`: whether this machine can run the sandbox. It goes through the real launch with
//! `true`, once for each network, so that it can never say anything else than a launch would.

use std::collections::BTreeMap;
use std::io::Write;

use serde::Serialize;

use super::guards::{self, Guard};
use crate::attempt::trial::Trial;
use crate::backend::bubblewrap;
use crate::egress::grant::Grant;
use crate::outcome::{End, Exit, Reason, Refusal};
use crate::process::signals::Signals;
use crate::reach::Connect;
use crate::settings::{Network, Settings, allowlist, attempts};

/// In this order: what the open network cannot do, no other can.
const NETWORKS: [Network; 2] = [Network::Open, Network::Allowlist];

/// What is not protected, as documented: one sentence a line.
const NOT_PROTECTED: &str = include_str!("not_protected.txt");

/// What this version does not have: one sentence a line.
const NOT_THERE: &str = include_str!("not_there.txt");

#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    status: Status,
    version: Option<String>,
    detail: Option<String>,
    /// Whether a step with this network can be sandboxed.
    networks: BTreeMap<&'static str, bool>,
    filter: Guard,
    landlock: Guard,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_protected: Option<Vec<&'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_there: Option<Vec<&'static str>>,
}

/// Whether steps can be sandboxed here: what every command tells in the same words.
#[derive(Serialize)]
pub struct Status {
    backend: &'static str,
    /// Whether they can.
    pub available: bool,
    reason: Option<Reason>,
    fix: Option<String>,
}

impl Status {
    fn of(tried: &Result<(), Refusal>) -> Status {
        let refusal = tried.as_ref().err();
        Status {
            backend: bubblewrap::NAME,
            available: refusal.is_none(),
            reason: refusal.map(|refusal| refusal.reason),
            fix: refusal.map(|refusal| refusal.fix().to_string()),
        }
    }
}

/// Whether the steps of a factory can be sandboxed here, tried as `sandbox check` does, with each network that one of them has.
/// Where none is sandboxed, one could be, with either.
pub fn status(settings: &Settings, signals: &Signals) -> Status {
    let sandboxed = settings.steps.values().filter(|step| attempts::any_sandboxed(settings, step));
    let used: Vec<Network> = sandboxed.map(|step| allowlist::network(settings, step)).collect();
    let is_used = |network: &Network| used.is_empty() || used.contains(network);
    let mut networks = NETWORKS.into_iter().filter(is_used);
    Status::of(&networks.try_for_each(|network| launched(network, signals)))
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match (self.reason, &self.fix) {
            (Some(reason), Some(fix)) => write!(f, "{}: not available: {reason} (fix: {fix})", self.backend),
            _ => write!(f, "{}: available", self.backend),
        }
    }
}

/// Prints the report.
pub fn check(verbose: bool, json: bool) -> Exit {
    let setup = |e| Refusal::new(Reason::SetupFailed, format!("signals: {e}"));
    let mut networks = BTreeMap::from(NETWORKS.map(|network| (network.word(), false)));
    // What the first cannot do, the second cannot either.
    let tried = Signals::take().map_err(setup).and_then(|signals| {
        NETWORKS.into_iter().try_for_each(|network| {
            launched(network, &signals)?;
            networks.insert(network.word(), true);
            Ok(())
        })
    });
    let lines = |text: &'static str| verbose.then(|| text.lines().collect());
    let report = Report {
        status: Status::of(&tried),
        version: bubblewrap::version(),
        detail: tried.as_ref().err().map(|refusal| refusal.detail.clone()),
        filter: guards::filter(networks.values().any(|there| *there)),
        networks,
        landlock: guards::landlock(),
        not_protected: lines(NOT_PROTECTED),
        not_there: lines(NOT_THERE),
    };
    let text = match json {
        true => serde_json::to_string_pretty(&report).unwrap_or_default() + "\n",
        false => text(&report),
    };
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Exit::of(report.status.available)
}

fn text(report: &Report) -> String {
    let Report { status, filter, landlock, .. } = report;
    let yes_or_no = |yes| if yes { "yes" } else { "no" };
    let (filter, landlock) = (filter.to_string(), landlock.to_string());
    let networks: Vec<String> =
        report.networks.iter().map(|(name, there)| format!("{name} {}", yes_or_no(*there))).collect();
    let rows = [
        ("backend", Some(status.backend)),
        ("version", Some(report.version.as_deref().unwrap_or("unknown"))),
        ("available", Some(yes_or_no(status.available))),
        ("networks", Some(&networks.join(", "))),
        ("reason", status.reason.map(Reason::code)),
        ("detail", report.detail.as_deref()),
        ("fix", status.fix.as_deref()),
        ("filter", Some(&filter)),
        ("landlock", Some(&landlock)),
    ];
    let rows = rows.iter().filter_map(|(name, value)| value.map(|v| format!("{name:<10} {v}\n")));
    let list = |title: &str, lines: &Option<Vec<&str>>| {
        let lines = lines.as_ref().map(|all| all.iter().map(|line| format!("- {line}\n")).collect::<String>());
        lines.map_or(String::new(), |lines| format!("\n{title}\n{lines}"))
    };
    let limits = list("What it doesn't protect", &report.not_protected);
    let missing = list("What is not there in this version", &report.not_there);
    rows.chain([limits, missing]).collect()
}

/// Tries the real launch, with the network it is about in what it says.
fn launched(network: Network, signals: &Signals) -> Result<(), Refusal> {
    let trial = Trial {
        argv: vec!["true".into()],
        connect: match network {
            Network::Open => Connect::Anywhere,
            Network::Allowlist => Connect::Allowed(Grant::default()),
        },
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        ..Trial::default()
    };
    let tried = trial.run(signals).and_then(|tried| match tried.end {
        End::Exited(0) => Ok(()),
        other => Err(Refusal::new(Reason::BwrapFailed, format!("`true` ended with {}", other.exit_code()))),
    });
    tried.map_err(|r| Refusal { detail: format!("network: {}: {}", network.word(), r.detail), ..r })
}
