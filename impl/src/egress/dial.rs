//! From an allowed target to a connection: resolve once with the system's resolver, vet the whole answer,
//! dial exactly what was vetted. No second look-up, no other address, never without a time limit.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::head::Target;
use super::log::Failure;
use super::policy::{Denial, Policy, Route};

const DNS: Duration = Duration::from_secs(5);
const CONNECT: Duration = Duration::from_secs(10);
const CONNECT_ALL: Duration = Duration::from_secs(30);

/// Pause before the next address is tried beside the first (RFC 8305).
const STAGGER: Duration = Duration::from_millis(250);

/// Answers used, at most.
const ANSWERS: usize = 16;

/// Why there is no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoConnection {
    /// The policy refuses.
    Denied(Denial),
    /// The network does.
    Failed(Failure),
}

/// A connection to the target, if the policy allows one.
pub async fn dial(policy: &Policy, target: &Target) -> Result<TcpStream, NoConnection> {
    let addresses = match policy.route(&target.host, target.port).map_err(NoConnection::Denied)? {
        Route::Dial(addresses) => addresses,
        Route::Resolve(name) => {
            let answer = resolve(&name, target.port).await.ok_or(NoConnection::Failed(Failure::Dns))?;
            policy.vet(&answer, target.port).map_err(NoConnection::Denied)?
        }
    };
    timeout(CONNECT_ALL, connect(addresses)).await.unwrap_or(Err(Failure::Timeout)).map_err(NoConnection::Failed)
}

async fn resolve(name: &str, port: u16) -> Option<Vec<IpAddr>> {
    let answer = timeout(DNS, lookup_host((name, port))).await.ok()?.ok()?;
    // All of it is vetted; only then is it cut.
    let mut addresses: Vec<IpAddr> = answer.map(|a| a.ip()).collect();
    addresses.dedup();
    (!addresses.is_empty()).then_some(addresses)
}

async fn connect(addresses: Vec<SocketAddr>) -> Result<TcpStream, Failure> {
    let mut tries = JoinSet::new();
    let mut failure = Failure::Connect;
    let mut waiting = addresses.into_iter().take(ANSWERS);
    loop {
        match waiting.next() {
            Some(address) => drop(tries.spawn(timeout(CONNECT, TcpStream::connect(address)))),
            None if tries.is_empty() => return Err(failure),
            None => {}
        }
        let last = waiting.len() == 0;
        let next =
            if last { tries.join_next().await } else { timeout(STAGGER, tries.join_next()).await.unwrap_or(None) };
        match next {
            Some(Ok(Ok(Ok(stream)))) => {
                let _ = stream.set_nodelay(true);
                return Ok(stream);
            }
            Some(Ok(Err(_))) => failure = Failure::Timeout,
            _ => {}
        }
    }
}
