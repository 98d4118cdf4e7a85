//! Outbound traffic of a sandboxed step: what is allowed (`host`, `entry`, `address`, `policy`, `head`:
//! pure, no I/O) and the proxy that carries it out and writes down what it refused. The proxy must
//! answer before the step exists; without it the step is not started.
#![forbid(unsafe_code)]

pub mod address;
mod dial;
pub mod entry;
mod forward;
pub mod head;
pub mod host;
mod log;
pub mod policy;
mod proxy;
mod relay;

use std::fs::File;
use std::io;
use std::net::{IpAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tokio::sync::oneshot;

use crate::outcome::{Reason, Refusal};
use crate::stderr;
use entry::Entry;
use log::Log;
use policy::Policy;
use proxy::Attempt;

/// For the proxy's thread to say that it is up, and at the end that it is down.
const PATIENCE: Duration = Duration::from_secs(5);

/// Look-ups at a time.
const RESOLVERS: usize = 32;

/// Descriptors a useful proxy needs at least.
const DESCRIPTORS: u64 = 64;

/// One attempt's outbound traffic: policy, proxy and records.
#[derive(Debug)]
pub struct Egress {
    attempt: Arc<Attempt>,
    /// Dropping it stops the proxy; it is down when the other channel closes.
    running: Option<(oneshot::Sender<()>, Receiver<io::Result<()>>)>,
    ports: Vec<u16>,
}

impl Egress {
    /// Not started; `ports` are those of the reach, the proxy's first.
    pub fn new(id: &str, entries: &[Entry], ports: Vec<u16>, log: File, events: File) -> Egress {
        let policy = Policy::new(entries, own_addresses());
        Egress { attempt: Arc::new(Attempt { policy, log: Log::new(id, log, events) }), running: None, ports }
    }

    /// Starts the proxy on these listeners, one for each port; it answers when this returns.
    pub fn start(&mut self, listeners: Vec<OwnedFd>) -> Result<(), Refusal> {
        let failed = |e: io::Error| Refusal::new(Reason::ProxyFailed, e);
        raise_descriptors().map_err(failed)?;
        let leases = self.ports.iter().enumerate().map(|(i, port)| (i > 0).then_some(*port));
        let listeners: Vec<_> = listeners.into_iter().map(TcpListener::from).zip(leases).collect();
        let (stop, stopped) = oneshot::channel();
        let (sender, up) = sync_channel(2);
        let attempt = self.attempt.clone();
        thread::Builder::new()
            .name("kusaw-egress".into())
            .spawn(move || run(listeners, attempt, &sender, stopped))
            .map_err(failed)?;
        let said = up
            .recv_timeout(PATIENCE)
            .unwrap_or_else(|e| Err(io::Error::other(format!("no word from its thread: {e}"))));
        said.map_err(failed)?;
        self.running = Some((stop, up));
        Ok(())
    }

    /// Stops the proxy and writes the summary.
    pub fn finish(mut self) {
        if let Some((stop, down)) = self.running.take() {
            drop(stop);
            let _ = down.recv_timeout(PATIENCE);
        }
        if let Err(e) = self.attempt.log.close() {
            stderr::warn(format!("egress.log or events.jsonl could not be written: {e}"));
        }
    }
}

fn run(
    listeners: Vec<(TcpListener, Option<u16>)>,
    attempt: Arc<Attempt>,
    up: &SyncSender<io::Result<()>>,
    stopped: oneshot::Receiver<()>,
) {
    let built = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(RESOLVERS).build();
    let runtime = match built {
        Ok(runtime) => runtime,
        Err(e) => return drop(up.send(Err(e))),
    };
    runtime.block_on(async {
        let mut adopted = Vec::new();
        for (listener, lease) in listeners {
            match proxy::adopt(listener) {
                Ok(listener) => adopted.push((listener, lease)),
                Err(e) => return drop(up.send(Err(e))),
            }
        }
        for (listener, lease) in adopted {
            tokio::spawn(proxy::serve(listener, lease, attempt.clone()));
        }
        // From here on a connection is answered: the listeners are registered and their tasks queued.
        let _ = up.send(Ok(()));
        let _ = stopped.await;
    });
    // Ends every task and closes the listeners; a look-up that hangs is left behind.
    runtime.shutdown_background();
}

/// Addresses of this machine's interfaces: a service on all of them answers there too.
fn own_addresses() -> Vec<IpAddr> {
    let Ok(interfaces) = nix::ifaddrs::getifaddrs() else { return Vec::new() };
    let addresses = interfaces.filter_map(|i| i.address);
    let ip = |a: nix::sys::socket::SockaddrStorage| {
        let v4 = a.as_sockaddr_in().map(|a| IpAddr::from(a.ip()));
        v4.or_else(|| a.as_sockaddr_in6().map(|a| IpAddr::from(a.ip())))
    };
    addresses.filter_map(ip).collect()
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
