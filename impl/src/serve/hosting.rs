//! `serve`'s side: takes connections and answers for the attempts that are registered over them. No peer can hold up another:
//! each has a task of its own, a bound on what it sends, and a time for its first message.

use std::future::Future;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener as StdListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::message::{Answer, Request, Serving};
use super::received::{Received, answer, receive};
use super::{peer, received};
use crate::egress::runtime;
use crate::outcome::{Reason, Refusal};

/// Connections at a time that are not registered yet; more wait to be taken.
const NEW: usize = 256;

/// For a peer's first message, and for it to take an answer.
const PEER: Duration = Duration::from_secs(5);

/// Takes connections until it is ended.
#[derive(Debug)]
pub struct Hosting {
    stop: watch::Sender<()>,
    all: tokio::task::JoinHandle<()>,
    runtime: Handle,
}

/// What all conversations share.
struct Shared {
    since: String,
    attempts: AtomicUsize,
    new: Arc<Semaphore>,
}

impl Hosting {
    /// On `listener`, on the threads of a proxy.
    ///
    /// # Errors
    /// When there is no such listener.
    pub fn begin(runtime: Handle, listener: OwnedFd, since: String) -> io::Result<Hosting> {
        let _entered = runtime.enter();
        let listener = UnixListener::from_std(StdListener::from(listener))?;
        let (stop, stopped) = watch::channel(());
        let shared = Shared { since, attempts: AtomicUsize::new(0), new: Arc::new(Semaphore::new(NEW)) };
        let all = runtime.spawn(take(listener, Arc::new(shared), stopped));
        drop(_entered);
        Ok(Hosting { stop, all, runtime })
    }

    /// Takes nobody any more, ends every attempt and has its summary written.
    pub fn end(self) {
        let Hosting { stop, all, runtime } = self;
        drop(stop);
        let _ = runtime.block_on(all);
    }
}

async fn take(listener: UnixListener, shared: Arc<Shared>, mut stopped: watch::Receiver<()>) {
    let mut conversations = JoinSet::new();
    loop {
        let place = shared.new.clone().acquire_owned();
        let next = async { (place.await, listener.accept().await) };
        tokio::select! {
            _ = stopped.changed() => break,
            Some(_) = conversations.join_next() => {}
            (place, accepted) = next => match accepted {
                Ok((stream, _)) => {
                    let (shared, stopped) = (shared.clone(), stopped.clone());
                    conversations.spawn(async move {
                        let request = first(&stream).await;
                        drop(place);
                        conversation(stream, request, &shared, stopped).await;
                    });
                }
                // Out of descriptors, or the peer has gone: try again, not too fast.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            },
        }
    }
    drop(listener);
    while conversations.join_next().await.is_some() {}
}

/// A peer's first message. Nothing is heard of one that is not ours, and no descriptor is taken from it.
async fn first(stream: &UnixStream) -> io::Result<Received> {
    peer::is_ours(stream)?;
    in_time(receive(stream)).await
}

async fn conversation(
    stream: UnixStream,
    request: io::Result<Received>,
    shared: &Shared,
    stopped: watch::Receiver<()>,
) {
    let said = match request {
        Err(e) => refused(e).into(),
        Ok(Received { request: Request::End, .. }) => refused("no attempt has begun").into(),
        Ok(Received { request: Request::Status, .. }) => {
            let attempts = shared.attempts.load(Ordering::Relaxed);
            Answer::Status(Serving { pid: std::process::id(), since: shared.since.clone(), attempts })
        }
        Ok(received) => attempt(&stream, received, shared, stopped).await,
    };
    // A peer that has gone needs no answer.
    let _ = in_time(answer(&stream, &said)).await;
}

/// A whole attempt; the value is the last word on it.
async fn attempt(stream: &UnixStream, received: Received, shared: &Shared, mut stopped: watch::Receiver<()>) -> Answer {
    let admitted = match received::attempt(received) {
        Ok((id, grant, listeners, [log, events])) => runtime::admit_beside(id, grant, listeners, log, events).await,
        Err(e) => Err(refused(e)),
    };
    let admitted = match admitted {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into(),
    };
    shared.attempts.fetch_add(1, Ordering::Relaxed);
    if in_time(answer(stream, &Answer::Admitted)).await.is_ok() {
        // Whatever comes ends it: a word, nonsense, or the end of a `run` that was killed.
        tokio::select! {
            _ = receive(stream) => {}
            _ = stopped.changed() => {}
        }
    }
    let ended = admitted.end().await;
    shared.attempts.fetch_sub(1, Ordering::Relaxed);
    Answer::Ended { error: ended.err().map(|e| e.to_string()) }
}

fn refused(why: impl std::fmt::Display) -> Refusal {
    Refusal::new(Reason::ServeRefused, why)
}

async fn in_time<T>(what: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    timeout(PEER, what).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
