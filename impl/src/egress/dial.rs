//! From an allowed target to a connection: resolve once with the system's resolver, vet the whole answer,
//! dial exactly what was vetted. No second look-up, no other address, never without a time limit.

use std::fmt::Debug;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::pin::Pin;

use nix::sys::socket::{setsockopt, sockopt};
use tokio::net::TcpStream;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::timeout;

use super::head::Target;
use super::limits::{Place, Shared};
use super::log::Failure;
use super::own;
use super::policy::{Denial, Route};
use super::proxy::Attempt;

/// What a look-up or a connection comes to, later.
pub type Later<T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send>>;

/// What a look-up came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// All addresses of the name.
    pub addresses: Vec<IpAddr>,
    /// Those of this machine's interfaces at that time, which are never public: a service on all of them answers there too.
    pub own: Vec<IpAddr>,
}

/// The network as the proxy needs it. There is one real one; tests put the outside world behind theirs.
pub trait Network: Debug + Send + Sync {
    /// Looks a name up. `place` is held until the look-up has ended, also where nobody waits for it any more.
    fn resolve(&self, name: &str, place: Place) -> Later<Answer>;
    /// A connection to exactly this address.
    fn connect(&self, address: SocketAddr) -> Later<TcpStream>;
}

/// The system's resolver (hosts file, nsswitch, VPNs as for any other program) and its routes.
#[derive(Debug)]
pub struct System;

impl Network for System {
    fn resolve(&self, name: &str, place: Place) -> Later<Answer> {
        let name = name.to_string();
        Box::pin(async move {
            // getaddrinfo(3) cannot be stopped: its thread goes on for as long as it likes, and so has its place.
            let looked_up = spawn_blocking(move || {
                let _place = place;
                let addresses = (name.as_str(), 0).to_socket_addrs()?.map(|a| a.ip()).collect();
                Ok(Answer { addresses, own: own::addresses()? })
            });
            looked_up.await?
        })
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

/// A connection to the target, if the attempt's policy allows one.
pub async fn dial(attempt: &Attempt, target: &Target) -> Result<TcpStream, NoConnection> {
    let addresses = vetted(attempt, target).await?;
    connect(attempt, addresses).await.map(|(stream, _)| stream).map_err(NoConnection::Failed)
}

/// The addresses that may be dialled for this target now: at most one look-up.
pub async fn vetted(attempt: &Attempt, target: &Target) -> Result<Vec<SocketAddr>, NoConnection> {
    match attempt.policy.route(&target.host, target.port).map_err(NoConnection::Denied)? {
        Route::Dial(addresses) => Ok(addresses),
        Route::Resolve(name) => {
            let answer = resolve(attempt, &name).await.ok_or(NoConnection::Failed(Failure::Dns))?;
            attempt.policy.vet(&answer.addresses, &answer.own, target.port).map_err(NoConnection::Denied)
        }
    }
}

/// All addresses of a name, in time; none where there is none.
pub async fn resolve(attempt: &Attempt, name: &str) -> Option<Answer> {
    let dns = attempt.shared.limits.dns;
    let place = timeout(dns, attempt.lookups.next()).await.ok()??;
    let mut answer = timeout(dns, attempt.shared.network.resolve(name, place)).await.ok()?.ok()?;
    // All of it is vetted; only then is it cut.
    answer.addresses.dedup();
    (!answer.addresses.is_empty()).then_some(answer)
}

/// The first of these addresses that answers, and which it is; each is tried a little after the one before.
pub async fn connect(attempt: &Attempt, addresses: Vec<SocketAddr>) -> Result<(TcpStream, SocketAddr), Failure> {
    timeout(attempt.shared.limits.connect_all, race(attempt, addresses)).await.unwrap_or(Err(Failure::Timeout))
}

async fn race(attempt: &Attempt, addresses: Vec<SocketAddr>) -> Result<(TcpStream, SocketAddr), Failure> {
    let limits = &attempt.shared.limits;
    let mut tries = JoinSet::new();
    let mut failure = Failure::Connect;
    let mut waiting = addresses.into_iter().take(limits.answers);
    loop {
        // The first has the place of its client; one beside it is worth a place only where there is one.
        let place = match tries.len() {
            0 => Some(None),
            few if few < limits.dials => attempt.places.free().map(Some),
            _ => None,
        };
        if let Some((place, address)) = place.and_then(|place| Some((place, waiting.next()?))) {
            let dialled = timeout(limits.connect, attempt.shared.network.connect(address));
            tries.spawn(async move {
                let _place = place;
                (dialled.await, address)
            });
        }
        if tries.is_empty() {
            return Err(failure);
        }
        let last = waiting.len() == 0;
        let next = match last {
            true => tries.join_next().await,
            false => timeout(limits.stagger, tries.join_next()).await.unwrap_or(None),
        };
        match next {
            Some(Ok((Ok(Ok(stream)), address))) => {
                tune(&stream, &attempt.shared);
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, mpsc};
    use std::time::{Duration, Instant};

    use tokio::runtime::Builder;
    use tokio::sync::Semaphore;

    use super::super::limits::Places;
    use super::*;

    #[test]
    fn a_look_up_that_nobody_waits_for_has_its_place_until_it_ends() {
        let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
        runtime.block_on(async {
            let (go, wait) = mpsc::channel::<()>();
            let slow = spawn_blocking(move || wait.recv());
            let all = Arc::new(Semaphore::new(1));
            let place = Places::new(1, &all).free().unwrap();
            timeout(Duration::from_millis(50), System.resolve("localhost", place)).await.unwrap_err();
            assert_eq!(all.available_permits(), 0, "given up, and still to be carried out");
            go.send(()).unwrap();
            slow.await.unwrap().unwrap();
            let patience = Instant::now() + Duration::from_secs(20);
            while all.available_permits() == 0 {
                assert!(Instant::now() < patience);
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        });
    }

    #[tokio::test]
    async fn an_answer_comes_with_the_machines_own_addresses() {
        let place = Places::new(1, &Arc::new(Semaphore::new(1))).free().unwrap();
        let answer = System.resolve("localhost", place).await.unwrap();
        let loopback: IpAddr = "127.0.0.1".parse().unwrap();
        assert!(answer.own.contains(&loopback), "{answer:?}");
    }
}
