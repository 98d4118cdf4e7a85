//! `kusaw sandbox check`: whether this machine can run the sandbox. It goes through the real launch with
//! `true`, once for each network, so that it can never say anything else than a launch would.

use std::io::Write;

use serde::Serialize;

use super::guards::{self, Guard};
use crate::attempt::temp::TempFolder;
use crate::backend::{Launch, bubblewrap};
use crate::egress::{Egress, grant::Grant};
use crate::outcome::{End, Reason, Refusal};
use crate::process::{signals::Signals, stdio::Stdio};
use crate::reach::{self, Connect, Reach};

/// What is not protected, as documented: one sentence a line.
const NOT_PROTECTED: &str = include_str!("not_protected.txt");

#[derive(Serialize)]
struct Report {
    backend: &'static str,
    version: Option<String>,
    available: bool,
    reason: Option<Reason>,
    detail: Option<String>,
    fix: Option<String>,
    filter: Guard,
    landlock: Guard,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_protected: Option<Vec<&'static str>>,
}

/// What `validate` tells of this machine.
#[derive(Serialize)]
pub struct Status {
    backend: &'static str,
    /// Whether a step can be sandboxed here.
    pub available: bool,
    reason: Option<Reason>,
    fix: Option<String>,
}

/// Whether this machine can run the sandbox, tried as `sandbox check` does.
pub fn status() -> Status {
    let refusal = try_both().err();
    let fix = refusal.as_ref().map(|refusal| refusal.fix().to_string());
    Status {
        backend: bubblewrap::NAME,
        available: refusal.is_none(),
        reason: refusal.map(|refusal| refusal.reason),
        fix,
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match (self.reason, &self.fix) {
            (Some(reason), Some(fix)) => write!(f, "{}: not available: {reason} (fix: {fix})", self.backend),
            _ => write!(f, "{}: available", self.backend),
        }
    }
}

/// Prints the report; the value is the exit code, 0 = available, 1 = not.
pub fn check(verbose: bool, json: bool) -> i32 {
    let tried = try_both();
    let refusal = tried.as_ref().err();
    let report = Report {
        backend: bubblewrap::NAME,
        version: bubblewrap::version(),
        available: refusal.is_none(),
        reason: refusal.map(|r| r.reason),
        detail: refusal.map(|r| r.detail.clone()),
        fix: refusal.map(|r| r.fix().to_string()),
        filter: guards::filter(refusal.is_none()),
        landlock: guards::landlock(),
        not_protected: verbose.then(|| NOT_PROTECTED.lines().collect()),
    };
    let text = match json {
        true => serde_json::to_string_pretty(&report).unwrap_or_default() + "\n",
        false => text(&report),
    };
    // A reader that has gone away has seen enough.
    let _ = std::io::stdout().write_all(text.as_bytes());
    i32::from(refusal.is_some())
}

fn text(report: &Report) -> String {
    let (filter, landlock) = (report.filter.to_string(), report.landlock.to_string());
    let rows = [
        ("backend", Some(report.backend)),
        ("version", Some(report.version.as_deref().unwrap_or("unknown"))),
        ("available", Some(if report.available { "yes" } else { "no" })),
        ("reason", report.reason.map(Reason::code)),
        ("detail", report.detail.as_deref()),
        ("fix", report.fix.as_deref()),
        ("filter", Some(&filter)),
        ("landlock", Some(&landlock)),
    ];
    let rows = rows.iter().filter_map(|(name, value)| value.map(|v| format!("{name:<10} {v}\n")));
    let limits = report.not_protected.iter().flatten().map(|limit| format!("- {limit}\n"));
    let heading = report.not_protected.is_some().then(|| "\nWhat it doesn't protect\n".to_string());
    rows.chain(heading).chain(limits).collect()
}

/// The first failure, with the network it is about.
fn try_both() -> Result<(), Refusal> {
    let signals = Signals::take().map_err(|e| Refusal::new(Reason::SetupFailed, format!("signals: {e}")))?;
    for (network, connect) in [("open", Connect::Anywhere), ("allowlist", Connect::Allowed(Grant::default()))] {
        launch_true(connect, &signals)
            .map_err(|r| Refusal { detail: format!("network: {network}: {}", r.detail), ..r })?;
    }
    Ok(())
}

fn launch_true(connect: Connect, signals: &Signals) -> Result<(), Refusal> {
    let setup = |e: std::io::Error| Refusal::new(Reason::SetupFailed, e);
    let waiting = bubblewrap::start(&connect)?;
    let temp = TempFolder::make().map_err(setup)?;
    let reach = Reach {
        home: reach::home(),
        temp: temp.temp.clone(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        connect,
        ..Reach::default()
    };
    let argv = ["true".into()];
    let cwd = reach.temp.tmpdir();
    let stdio = Stdio::null().map_err(setup)?;
    let mut egress = match &reach.connect {
        Connect::Anywhere => None,
        Connect::Allowed(grant) => {
            let record = || tempfile::tempfile().map_err(setup);
            Some(Egress::new("check", grant, record()?, record()?))
        }
    };
    let mut ready = |listeners, _| egress.as_mut().map_or(Ok(None), |egress| egress.start(listeners).map(|()| None));
    let (meanwhile, ready) = (&mut || temp.furnish().map_err(setup), &mut ready);
    let launch = Launch { argv: &argv, cwd: &cwd, reach: &reach, stdio, signals, meanwhile, ready };
    let end = bubblewrap::launch(waiting, launch);
    egress.map(Egress::finish);
    match end? {
        End::Exited(0) => Ok(()),
        other => Err(Refusal::new(Reason::BwrapFailed, format!("`true` ended with {}", other.exit_code()))),
    }
}
