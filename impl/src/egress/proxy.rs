//! The proxy: answers on the listeners that lie inside the step's network namespace. Every request is judged by itself, never
//! a connection as a whole; a refusal is written down before it is sent. When the attempt ends, so does all of this.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Duration, sleep, timeout};

use super::connection::{Connection, reach};
use super::dial::tune;
use super::grant::Role;
use super::head::{Target, Via};
use super::host::Host;
use super::inject::Injection;
use super::limits::{Pace, Places, Shared};
use super::log::Log;
use super::policy::{Denial, Policy};
use super::refusal;
use super::tunnel::Tunnel;

/// Policy and records of the attempt a listener belongs to.
#[derive(Debug)]
pub struct Attempt {
    /// Decides.
    pub policy: Policy,
    /// Remembers.
    pub log: Log,
    /// Whether the name in a ClientHello must be that of the tunnel.
    pub sni: bool,
    /// What it shares with the other attempts of this process.
    pub shared: Arc<Shared>,
    /// Adds keys.
    pub injection: Option<Injection>,
    /// For its connections, and for each address that is tried beside the first.
    pub places: Places,
    /// For its look-ups.
    pub lookups: Places,
    pace: Mutex<Pace>,
}

impl Attempt {
    /// One without connections.
    pub fn new(policy: Policy, log: Log, sni: bool, injection: Option<Injection>, shared: Arc<Shared>) -> Attempt {
        let places = Places::new(shared.limits.connections, &shared.places);
        let lookups = Places::new(shared.limits.lookups_each, &shared.lookups);
        let pace = Mutex::new(Pace::new(&shared.limits, Instant::now()));
        Attempt { policy, log, sni, shared, injection, places, lookups, pace }
    }

    fn pause(&self) -> Duration {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner).take(Instant::now())
    }
}

/// Answers on `listener` in this role until the sender of `ended` is dropped; then lets what is under way come through for a
/// short while, and resets the rest. No connection and no task is left when this returns.
pub async fn serve(listener: TcpListener, role: Role, attempt: Arc<Attempt>, mut ended: watch::Receiver<()>) {
    let mut open = JoinSet::new();
    let life = ended.clone();
    let accepting = accept(&listener, role, &attempt, &life, &mut open);
    tokio::select! {
        () = accepting => {}
        _ = ended.changed() => {}
    }
    let through = async { while open.join_next().await.is_some() {} };
    let late = async {
        loop {
            refusal::say(next(&listener).await, Denial::AttemptEnded).await;
        }
    };
    tokio::select! {
        // Each connection resets itself when that time is over; this is the end of one that does not.
        _ = timeout(attempt.shared.limits.drain * 2, through) => {}
        () = late => {}
    }
    open.shutdown().await;
}

async fn accept(
    listener: &TcpListener,
    role: Role,
    attempt: &Arc<Attempt>,
    ended: &watch::Receiver<()>,
    open: &mut JoinSet<()>,
) {
    loop {
        // What has ended is forgotten, so that nothing grows.
        while open.try_join_next().is_some() {}
        let stream = next(listener).await;
        let pause = attempt.pause();
        // A timer counts whole milliseconds, a time of nothing too: each connection would wait for the one before.
        if !pause.is_zero() {
            sleep(pause).await;
        }
        let Some(places) = attempt.places.free() else {
            refusal::say(stream, Denial::Limit).await;
            continue;
        };
        let (attempt, ended) = (attempt.clone(), ended.clone());
        open.spawn(async move {
            tune(&stream, &attempt.shared);
            match role {
                Role::Proxy => Connection::new(attempt, ended).serve(stream).await,
                Role::Lease(port) => leased(stream, port, &attempt, ended).await,
                Role::Inject => {
                    let Some(injection) = &attempt.injection else { return };
                    injection.serve(stream, &attempt, ended).await;
                }
            }
            drop(places);
        });
    }
}

async fn next(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            // Out of descriptors, or the client was faster: try again, not too fast.
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn leased(client: TcpStream, port: u16, attempt: &Attempt, mut ended: watch::Receiver<()>) {
    let target = Target { host: Host::Name("localhost".into()), port, via: Via::Connect };
    let reached = tokio::select! {
        reached = reach(&target, attempt) => reached,
        _ = ended.changed() => return,
    };
    if let Ok(upstream) = reached {
        // The client did not ask for a host by name: what it calls itself in TLS is its business.
        let tunnel = Tunnel { client, upstream, early: Vec::new(), named: None };
        tunnel.run(attempt, ended).await;
    }
}

/// The standard library's listener as the runtime's.
pub fn adopt(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}
