//! Outbound traffic of a sandboxed step: what is allowed (`host`, `entry`, `address`, `policy`, `head`:
//! pure, no I/O) and the proxy that carries it out and writes down what it refused. The proxy must
//! answer before the step exists; without it the step is not started.
#![forbid(unsafe_code)]

pub mod address;
mod answered;
mod coming;
mod connection;
pub mod dial;
pub mod entry;
mod forward;
pub mod grant;
pub mod head;
pub mod host;
pub mod inject;
pub mod limits;
pub mod log;
pub mod own;
mod patience;
pub mod policy;
pub mod proxy;
pub mod record;
mod refusal;
mod relay;
pub mod runtime;
pub mod settle;
pub mod sni;
mod tunnel;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::outcome::{Reason, Refusal};
use crate::serve::registration::{Ended, Registration};
use crate::stderr;
use grant::Grant;
use runtime::{Admitted, Proxy};

/// Descriptors a useful proxy needs at least.
const DESCRIPTORS: u64 = 64;

/// One attempt's outbound traffic, seen from the attempt: its grant, its records, and whoever hosts its proxy once somebody
/// does.
#[derive(Debug)]
pub struct Egress {
    id: String,
    grant: Grant,
    log: File,
    events: File,
    hosted: Option<Hosted>,
}

/// Where the proxy is.
#[derive(Debug)]
enum Hosted {
    /// In this process.
    Here(Proxy, Admitted),
    /// In `kusaw serve`.
    Serve(Registration),
}

impl Egress {
    /// Not started.
    pub fn new(id: &str, grant: &Grant, log: File, events: File) -> Egress {
        Egress { id: id.into(), grant: grant.clone(), log, events, hosted: None }
    }

    /// Has the `kusaw serve` of a factory answer on these listeners, where one runs, and else a proxy of its own. The value
    /// can be read as soon as nobody answers any more.
    pub fn start_in(&mut self, factory: &Path, listeners: Vec<OwnedFd>) -> Result<Option<OwnedFd>, Refusal> {
        let records = [self.log.as_fd(), self.events.as_fd()];
        let Some(registration) = Registration::make(factory, &self.id, &self.grant, records, &listeners)? else {
            return self.start(listeners).map(|()| None);
        };
        let lost = registration.lost().map_err(|e| Refusal::new(Reason::ServeRefused, e))?;
        self.hosted = Some(Hosted::Serve(registration));
        Ok(Some(lost))
    }

    /// Starts a proxy on these listeners, one for each of the grant's, or two; it answers when this returns.
    pub fn start(&mut self, listeners: Vec<OwnedFd>) -> Result<(), Refusal> {
        let failed = |e: io::Error| Refusal::new(Reason::ProxyFailed, e);
        let proxy = Proxy::start(1).map_err(failed)?;
        let (log, events) = (self.log.try_clone().map_err(failed)?, self.events.try_clone().map_err(failed)?);
        let admitted = proxy.admit(&self.id, &self.grant, listeners, log, events).map_err(of_own)?;
        self.hosted = Some(Hosted::Here(proxy, admitted));
        Ok(())
    }

    /// Stops the proxy and has the summary written. Whether it is written: a `serve` that lives and does not answer writes it
    /// when it does, and the next run when it has died.
    pub fn finish(mut self) -> bool {
        let written = match self.hosted.take() {
            Some(Hosted::Here(_proxy, admitted)) => admitted.finish(),
            Some(Hosted::Serve(registration)) => match registration.end() {
                Ended::Told(said) => said,
                Ended::Gone => settle::own(&self.id, &self.log, &self.events),
                Ended::Silent => {
                    stderr::warn(
                        "kusaw serve does not answer; egress.summary is written when it does, or by the next run",
                    );
                    return false;
                }
            },
            None => log::Log::new(&self.id, self.log, self.events).close(),
        };
        if let Err(e) = written {
            stderr::warn(format!("egress.log or events.jsonl could not be written: {e}"));
        }
        true
    }
}

/// The soft limit on descriptors up to the hard one; too few is an error now, not a stall later.
fn raise_descriptors() -> io::Result<()> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    if hard < DESCRIPTORS {
        return Err(io::Error::other(format!("only {hard} open files are allowed, {DESCRIPTORS} are needed")));
    }
    if soft < hard {
        setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
    }
    Ok(())
}

/// Where this process answers for its own attempt alone, what is not left was not taken by others.
fn of_own(refusal: Refusal) -> Refusal {
    match refusal.reason {
        Reason::ServeFull => Refusal::new(Reason::ProxyFailed, refusal.detail),
        _ => refusal,
    }
}
