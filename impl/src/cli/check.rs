//! `kusaw sandbox check`: whether this machine can run the sandbox. It goes through the real launch with
//! `true`, so that it can never say anything else than a launch would.

use std::io::Write;

use serde::Serialize;

use crate::attempt::{stdio::Stdio, temp::TempFolder};
use crate::backend::{Launch, bubblewrap};
use crate::outcome::{End, Reason, Refusal};
use crate::reach::{self, Reach};

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
    #[serde(skip_serializing_if = "Option::is_none")]
    not_protected: Option<Vec<&'static str>>,
}

/// Prints the report; the value is the exit code, 0 = available, 1 = not.
pub fn check(verbose: bool, json: bool) -> i32 {
    let tried = launch_true();
    let refusal = tried.as_ref().err();
    let report = Report {
        backend: bubblewrap::NAME,
        version: bubblewrap::version(),
        available: refusal.is_none(),
        reason: refusal.map(|r| r.reason),
        detail: refusal.map(|r| r.detail.clone()),
        fix: refusal.map(|r| r.fix().to_string()),
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
    let rows = [
        ("backend", Some(report.backend)),
        ("version", Some(report.version.as_deref().unwrap_or("unknown"))),
        ("available", Some(if report.available { "yes" } else { "no" })),
        ("reason", report.reason.map(Reason::code)),
        ("detail", report.detail.as_deref()),
        ("fix", report.fix.as_deref()),
    ];
    let rows = rows.iter().filter_map(|(name, value)| value.map(|v| format!("{name:<10} {v}\n")));
    let limits = report.not_protected.iter().flatten().map(|limit| format!("- {limit}\n"));
    let heading = report.not_protected.is_some().then(|| "\nWhat it doesn't protect\n".to_string());
    rows.chain(heading).chain(limits).collect()
}

fn launch_true() -> Result<(), Refusal> {
    let setup = |e: std::io::Error| Refusal::new(Reason::SetupFailed, e);
    let temp = TempFolder::make().map_err(setup)?;
    let reach = Reach {
        home: reach::home(),
        temp: temp.temp.clone(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        ..Reach::default()
    };
    let argv = ["true".into()];
    let cwd = reach.temp.tmpdir();
    let stdio = Stdio::null().map_err(setup)?;
    let launch = Launch { argv: &argv, cwd: &cwd, reach: &reach, stdio, ready: &mut |_| Ok(()) };
    match bubblewrap::launch(launch)? {
        End::Exited(0) => Ok(()),
        other => Err(Refusal::new(Reason::BwrapFailed, format!("`true` ended with {}", other.exit_code()))),
    }
}
