//! The injecting listener of an attempt: plain HTTP from inside, the real key added outside, to the one provider that
//! its route names. A request cannot choose where it goes, no redirect is followed, nothing is retried (a POST to a
//! model is billed), and no connection is shared. The key is read by the process that hosts the attempt's proxy and is
//! in no other; what it keeps of it is overwritten when the attempt ends. Copies in the buffers of the HTTP and TLS
//! libraries and of the kernel are not.
#![forbid(unsafe_code)]

mod exchange;
mod flow;
mod key;
pub mod route;
mod rules;
mod upstream;

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use hyper::server::conn::http1;
use hyper::service::service_fn;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::exchange::Exchange;
use self::flow::{Clock, Timed};
use self::key::Keyed;
use self::route::Route;
use super::answered::Answered;
use super::patience::{Patient, Phase};
use super::proxy::Attempt;
use crate::outcome::{Reason, Refusal};
use crate::store::Store;

/// Status and code of an answer that is not the provider's.
type Told = (u16, &'static str);

/// The routes of one attempt with their keys, behind one listener.
pub struct Injection {
    port: u16,
    routes: Vec<Keyed>,
}

impl std::fmt::Debug for Injection {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Injection")
    }
}

impl Injection {
    /// Reads the keys from this store, after which no other process of this user can read this one, and it leaves no
    /// core file (prctl(2), PR_SET_DUMPABLE). Not by a limit on core files: programs that are started later would
    /// inherit it.
    ///
    /// # Errors
    /// A refusal that says which key cannot be had, and why.
    pub fn open(routes: &[Route], port: u16, store: &Store) -> Result<Injection, Refusal> {
        nix::sys::prctl::set_dumpable(false).map_err(|e| Refusal::new(Reason::ProxyFailed, e))?;
        let routes = routes.iter().map(|route| Keyed::open(route, store)).collect::<Result<_, _>>()?;
        Ok(Injection { port, routes })
    }

    /// Requests whose head went out with each key, by the names of the settings.
    pub fn requests(&self) -> impl Iterator<Item = (&str, u64)> {
        self.routes.iter().map(|one| (one.route.name.as_str(), one.requests.load(Ordering::Relaxed)))
    }

    /// Answers on one connection, until the client, a limit or the attempt ends it; nothing of it is left then.
    pub async fn serve(&self, stream: TcpStream, attempt: &Attempt, mut ended: watch::Receiver<()>) {
        let limits = &attempt.shared.limits;
        let (clock, providers, phase) = (Clock::start(), Mutex::new(JoinSet::new()), Phase::default());
        let exchange = Exchange::new(self, attempt, &clock, &providers);
        let service = service_fn(|request| {
            phase.busy();
            let answer = exchange.answer(request);
            Box::pin(async { Ok::<_, Infallible>(answer.await.map(|body| Answered::new(body, phase.clone()))) })
        });
        let stream = Timed::new(stream, &clock, None);
        let stream = Patient::new(stream, phase.clone(), limits.head_read, limits.keep_alive);
        let mut server = http1::Builder::new();
        server.header_read_timeout(None);
        server.max_buf_size(limits.head).max_header_size(limits.head).max_headers(limits.headers);
        let mut served = server.serve_connection(stream, service);
        let result = tokio::select! {
            result = poll_fn(|cx| served.poll_without_shutdown(cx)) => Some(result),
            // Later than the answer that says so, where one can still be given.
            () = clock.idle(limits.inject_idle + limits.drain) => None,
            _ = ended.changed() => None,
        };
        let io = served.into_parts().io;
        let (verdict, client) = (io.verdict, io.into_inner().stream);
        let mut left = std::mem::take(&mut *providers.lock().unwrap_or_else(PoisonError::into_inner));
        left.shutdown().await;
        match result {
            None => drop(client.set_zero_linger()),
            // An answer that breaks off must not look like one that is complete; else what has come of it may be read.
            Some(Err(_)) if exchange.ends_with_connection() && verdict.is_none() => drop(client.set_zero_linger()),
            Some(_) => tokio::select! {
                _ = timeout(limits.drain, hear_out(client)) => {}
                _ = ended.changed() => {}
            },
        }
    }
}

/// A client that still sends when it is closed to would not read what it was told (RFC 9112, 9.6).
async fn hear_out(mut client: TcpStream) {
    let _ = client.shutdown().await;
    let mut bytes = vec![0; 16 << 10];
    while matches!(client.read(&mut bytes).await, Ok(1..)) {}
}
