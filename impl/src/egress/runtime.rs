//! The one proxy of a process: a runtime that answers for any number of attempts. Attempts are told apart by their
//! listeners alone: who can connect to one is inside that attempt's network namespace.

use std::fs::File;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::{JoinSet, spawn_blocking};

use super::grant::Grant;
use super::inject::Injection;
use super::limits;
use super::log::Log;
use super::policy::Policy;
use super::proxy::{self, Attempt};
use crate::outcome::{Reason, Refusal};
use crate::store::Store;

/// A process's proxy. Dropped, it answers nobody any more.
#[derive(Debug)]
pub struct Proxy {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
}

/// One attempt that the proxy answers for.
#[derive(Debug)]
pub struct Admitted {
    attempt: Arc<Attempt>,
    /// Dropped, the listeners close.
    stop: watch::Sender<()>,
    listening: JoinSet<()>,
    runtime: Handle,
    /// For its own descriptors.
    _places: OwnedSemaphorePermit,
}

impl Proxy {
    /// A proxy with so many threads; it answers for no attempt yet.
    pub fn start(threads: usize) -> io::Result<Proxy> {
        super::raise_descriptors()?;
        let limits = &limits::process().limits;
        let mut builder = Builder::new_multi_thread();
        // Made when they are needed. Those who use them count themselves: none waits for a thread.
        builder.max_blocking_threads(limits.lookups + limits.openings);
        builder.worker_threads(threads).thread_name("kusaw-egress").enable_all();
        Ok(Proxy { runtime: Some(builder.build()?) })
    }

    /// What else runs on its threads.
    pub fn handle(&self) -> io::Result<Handle> {
        let runtime = self.runtime.as_ref().ok_or_else(|| io::Error::other("the proxy has ended"))?;
        Ok(runtime.handle().clone())
    }

    /// As [`admit`], on this proxy's threads.
    pub fn admit(
        &self,
        id: &str,
        grant: &Grant,
        listeners: Vec<OwnedFd>,
        log: File,
        events: File,
    ) -> Result<Admitted, Refusal> {
        let runtime = self.handle().map_err(failed)?;
        let _entered = runtime.enter();
        admit(id, grant, listeners, log, events)
    }
}

/// As [`admit`], for whoever answers for others meanwhile: keys are read from the disk and decrypted on a thread that
/// does nothing else.
pub async fn admit_beside(
    id: String,
    grant: Grant,
    listeners: Vec<OwnedFd>,
    log: File,
    events: File,
) -> Result<Admitted, Refusal> {
    if grant.inject.is_empty() {
        return admit(&id, &grant, listeners, log, events);
    }
    let opening = limits::process().openings.clone().acquire_owned().await;
    let admitted = spawn_blocking(move || {
        let _opening = opening;
        admit(&id, &grant, listeners, log, events)
    });
    admitted.await.unwrap_or_else(|e| Err(failed(e.into())))
}

/// Answers for the attempt `id` when this returns, on the threads of the proxy that it is called on: on `listeners`,
/// one for each of the grant's, in its order, or two for each. Blocks where the grant has keys.
///
/// # Errors
/// A refusal of the attempt; where a key cannot be had, with that as its reason.
pub fn admit(id: &str, grant: &Grant, listeners: Vec<OwnedFd>, log: File, events: File) -> Result<Admitted, Refusal> {
    let roles = grant.listeners();
    let families = listeners.len() / roles.len();
    if ![1, 2].contains(&families) || listeners.len() != families * roles.len() {
        let (got, wanted) = (listeners.len(), roles.len());
        return Err(failed(io::Error::other(format!("{got} listeners for {wanted} ports"))));
    }
    let shared = limits::process();
    let places = shared.admit(listeners.len()).map_err(|full| Refusal::new(Reason::ServeFull, full))?;
    let policy = Policy::new(&grant.entries);
    let injection = match grant.inject_port() {
        Some(port) => Some(Injection::open(&grant.inject, port, &own_store()?)?),
        None => None,
    };
    let log = Log::new(id, log, events);
    let attempt = Arc::new(Attempt::new(policy, log, grant.sni.is_checked(), injection, shared));
    let (stop, stopped) = watch::channel(());
    let mut listening = JoinSet::new();
    let of_ports = roles.into_iter().flat_map(|(_, role)| std::iter::repeat_n(role, families));
    for (listener, role) in listeners.into_iter().zip(of_ports) {
        let listener = proxy::adopt(TcpListener::from(listener)).map_err(failed)?;
        listening.spawn(proxy::serve(listener, role, attempt.clone(), stopped.clone()));
    }
    Ok(Admitted { attempt, stop, listening, runtime: Handle::current(), _places: places })
}

fn failed(e: io::Error) -> Refusal {
    Refusal::new(Reason::ProxyFailed, e)
}

fn own_store() -> Result<Store, Refusal> {
    Store::own().map_err(|e| Refusal::new(Reason::SecretStore, e))
}

impl Drop for Proxy {
    /// A look-up that hangs is left behind.
    fn drop(&mut self) {
        self.runtime.take().into_iter().for_each(Runtime::shutdown_background);
    }
}

impl Admitted {
    /// Closes its listeners and writes its summary, once; nothing is answered or written after that. The error is the
    /// first of all writes to its records.
    pub async fn end(self) -> io::Result<()> {
        let Admitted { attempt, stop, mut listening, _places, .. } = self;
        drop(stop);
        // Each ends by itself, within the time that the limits leave to what is under way.
        while listening.join_next().await.is_some() {}
        if let Some(injection) = &attempt.injection {
            attempt.log.injected(injection.requests());
        }
        attempt.log.close()
    }

    /// The same, waited for by a thread that is none of the proxy's.
    pub fn finish(self) -> io::Result<()> {
        self.runtime.clone().block_on(self.end())
    }
}
