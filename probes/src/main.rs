//! `kusaw-probe ACTION ARGS... [+ ACTION ARGS...]` runs inside a sandbox and says what it sees: one
//! JSON line an action on stdout, then `{"probe":1,"end":true}` and exit code 37; each line has a seal (`seal`). A usage error is
//! found before any action runs: one line on stderr, exit code 2.
//!
//! It reports raw facts (errno, bytes, pids). It never decides whether something is right, never
//! waits for ever, and never changes a file but the one that its words name; `write-sweep` makes files
//! of its own everywhere it can, and removes them again. Only `daemon` and `spawn` leave processes
//! behind, which end by themselves.
//!
//! Some actions change the probe itself (`userns`, `chroot`, `setns`): later actions run there.

mod action;
#[cfg(target_os = "linux")]
mod descriptor;
mod files;
#[cfg(target_os = "linux")]
mod ipc;
mod itself;
mod json;
mod kernel;
#[cfg(target_os = "linux")]
mod mount;
#[cfg(target_os = "linux")]
mod namespace;
mod network;
mod process;
mod seal;
mod seen;
#[cfg(target_os = "linux")]
mod terminal;
mod words;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Instant;

use action::Named;
use json::Json;

/// Says "ran to its end": no shell, loader or sandbox uses this code by itself.
const RAN_TO_ITS_END: u8 = 37;
const USAGE: u8 = 2;
/// Nobody reads stdout any more.
const UNHEARD: u8 = 1;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let actions = match action::parse(&words) {
        Ok(actions) => actions,
        Err(usage) => {
            eprintln!("kusaw-probe: {usage}");
            return ExitCode::from(USAGE);
        }
    };
    match report(&actions) {
        Ok(()) => ExitCode::from(RAN_TO_ITS_END),
        Err(_) => ExitCode::from(UNHEARD),
    }
}

/// Runs the actions in order; each line is out before the next action starts, so that what was seen
/// stays seen when a later action ends the process.
fn report(actions: &[Named]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for action in actions {
        let started = Instant::now();
        let seen = action.run();
        let us = started.elapsed().as_micros();
        let line = Json::object([
            ("probe", Json::Number(1)),
            ("action", Json::from(action.name)),
            ("target", Json::from(action.target())),
            ("ok", Json::Bool(seen.errno.is_none())),
            ("errno", seen.errno.map_or(Json::Null, Json::from)),
            ("detail", seen.detail),
            ("us", Json::Number(i64::try_from(us).unwrap_or(i64::MAX))),
        ]);
        writeln!(out, "{}", seal::sealed(&line.to_string()))?;
        out.flush()?;
    }
    writeln!(out, "{}", seal::sealed("{\"probe\":1,\"end\":true}"))?;
    out.flush()
}
