//! `kusaw serve`: hosts the one egress proxy of a factory, so that every `run` finds it there and has none of its own. It knows
//! nothing of the settings: what an attempt may reach comes with the attempt, from the same user, who could start it without a
//! sandbox as well. Attempts are told apart by their listeners alone. Where it dies, their steps are killed.

pub mod hosting;
pub mod message;
mod peer;
pub mod place;
mod received;
pub mod registration;

use std::io::{self, Write};
use std::path::Path;
use std::time::SystemTime;

use kusaw_enter::channel::{Until, wait};
use nix::poll::PollFlags;

use crate::attempt::{self, left};
use crate::egress::runtime::Proxy;
use crate::outcome::{Reason, Refusal, timestamp};
use crate::process::signals::Signals;
use crate::stderr;
use hosting::Hosting;
use place::Place;

/// Threads that answer.
const THREADS: usize = 2;

/// Serves a factory until a signal asks it to end; says a line on stdout when it is ready.
///
/// # Errors
/// Where it cannot begin.
pub fn serve(factory: &Path) -> Result<(), Refusal> {
    let (factory, _) = attempt::load(factory)?;
    let at = factory.join(place::FOLDER);
    let failed = |e: io::Error| Refusal::new(Reason::ServeFailed, format!("{}: {e}", at.display()));
    // Before any thread exists.
    let signals = Signals::take().map_err(|e| failed(e.into()))?;
    let place = Place::make(&factory).map_err(failed)?;
    let Some(_lock) = place.lock().map_err(failed)? else {
        return Err(Refusal::new(Reason::ServeRunning, place.shown().display()));
    };
    left::settle(&factory);
    let proxy = Proxy::start(THREADS).map_err(|e| Refusal::new(Reason::ProxyFailed, e))?;
    let listener = place.listen().map_err(failed)?;
    let hosting = proxy
        .handle()
        .and_then(|handle| Hosting::begin(handle, listener, timestamp(SystemTime::now())))
        .map_err(failed)?;
    // Whoever started it may not want to know.
    let _ = writeln!(io::stdout(), "kusaw serve: ready on {}", place.shown().display());
    while !matches!(signals.asked(), Ok(Some(_))) {
        let _ = wait(signals.asking(), PollFlags::POLLIN, Until::default());
    }
    // First of all nobody finds it any more.
    place.clear().unwrap_or_else(|e| stderr::warn(format!("{}: {e}", place.shown().display())));
    hosting.end();
    Ok(())
}
