//! From an allowed target to a connection: resolve once with the system's resolver, vet the whole answer,
//! dial exactly what was vetted. No second look-up, no other address, never without a time limit.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;

use nix::sys::socket::{setsockopt, sockopt};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::head::Target;
use super::limits::Shared;
use super::log::Failure;
use super::policy::{Denial, Policy, Route};

/// What a look-up or a connection comes to, later.
pub type Later<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// The network as the proxy needs it. There is one real one; tests put the outside world behind theirs.
pub trait Network: Debug + Send + Sync {
    /// All addresses of a name.
    fn resolve(&self, name: &str) -> Later<Vec<IpAddr>>;
    /// A connection to exactly this address.
    fn connect(&self, address: SocketAddr) -> Later<TcpStream>;
}

/// The system's resolver (hosts file, nsswitch, VPNs as for any other program) and its routes.
#[derive(Debug)]
pub struct System;

impl Network for System {
    fn resolve(&self, name: &str) -> Later<Vec<IpAddr>> {
        let name = name.to_string();
        Box::pin(async move { Ok(lookup_host((name, 0)).await?.map(|a| a.ip()).collect()) })
    }

    fn connect(&self, address: SocketAddr) -> Later<TcpStream> {
        Box::pin(TcpStream::connect(address))
    }
}

/// Why there is no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoConnection {
    /// The policy refuses.
    Denied(Denial),
    /// The network does.
    Failed(Failure),
}

/// A connection to the target, if the policy allows one.
pub async fn dial(policy: &Policy, target: &Target, shared: &Shared) -> Result<TcpStream, NoConnection> {
    let addresses = vetted(policy, target, shared).await?;
    connect(addresses, shared).await.map(|(stream, _)| stream).map_err(NoConnection::Failed)
}

/// The addresses that may be dialled for this target now: at most one look-up.
pub async fn vetted(policy: &Policy, target: &Target, shared: &Shared) -> Result<Vec<SocketAddr>, NoConnection> {
    match policy.route(&target.host, target.port).map_err(NoConnection::Denied)? {
        Route::Dial(addresses) => Ok(addresses),
        Route::Resolve(name) => {
            let answer = resolve(&name, shared).await.ok_or(NoConnection::Failed(Failure::Dns))?;
            policy.vet(&answer, target.port).map_err(NoConnection::Denied)
        }
    }
}

/// All addresses of a name, in time; none where there is none.
pub async fn resolve(name: &str, shared: &Shared) -> Option<Vec<IpAddr>> {
    // A look-up that takes too long cannot be stopped: the runtime's bound on its threads holds for those.
    let _place = timeout(shared.limits.dns, shared.lookups.acquire()).await.ok()?.ok()?;
    let mut addresses = timeout(shared.limits.dns, shared.network.resolve(name)).await.ok()?.ok()?;
    // All of it is vetted; only then is it cut.
    addresses.dedup();
    (!addresses.is_empty()).then_some(addresses)
}

/// The first of these addresses that answers, and which it is; each is tried a little after the one before.
pub async fn connect(addresses: Vec<SocketAddr>, shared: &Shared) -> Result<(TcpStream, SocketAddr), Failure> {
    timeout(shared.limits.connect_all, race(addresses, shared)).await.unwrap_or(Err(Failure::Timeout))
}

async fn race(addresses: Vec<SocketAddr>, shared: &Shared) -> Result<(TcpStream, SocketAddr), Failure> {
    let limits = &shared.limits;
    let mut tries = JoinSet::new();
    let mut failure = Failure::Connect;
    let mut waiting = addresses.into_iter().take(limits.answers);
    loop {
        match waiting.next() {
            Some(address) => {
                let dialled = timeout(limits.connect, shared.network.connect(address));
                tries.spawn(async move { (dialled.await, address) });
            }
            None if tries.is_empty() => return Err(failure),
            None => {}
        }
        let last = waiting.len() == 0;
        let next = match last {
            true => tries.join_next().await,
            false => timeout(limits.stagger, tries.join_next()).await.unwrap_or(None),
        };
        match next {
            Some(Ok((Ok(Ok(stream)), address))) => {
                tune(&stream, shared);
                return Ok((stream, address));
            }
            Some(Ok((Err(_), _))) => failure = Failure::Timeout,
            _ => {}
        }
    }
}

/// No delay for small writes; a peer that has vanished without a word is noticed. Neither is worth an error.
pub fn tune(stream: &TcpStream, shared: &Shared) {
    let seconds = u32::try_from(shared.limits.probe.as_secs()).unwrap_or(u32::MAX);
    let _ = stream.set_nodelay(true);
    let _ = setsockopt(stream, sockopt::KeepAlive, &true);
    #[cfg(target_os = "linux")]
    let _ = setsockopt(stream, sockopt::TcpKeepIdle, &seconds);
    #[cfg(target_vendor = "apple")]
    let _ = setsockopt(stream, sockopt::TcpKeepAlive, &seconds);
}
