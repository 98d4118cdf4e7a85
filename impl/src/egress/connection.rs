//! One client's connection to the proxy: requests one after the other, each judged by itself, until one of them opens a tunnel.

use std::convert::Infallible;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as Lock, PoisonError};

use http_body_util::{BodyExt, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, Version};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use super::answered::Answered;
use super::dial::{self, NoConnection};
use super::forward::Origin;
use super::head::{self, Target, Via};
use super::patience::{Patient, Phase};
use super::policy::Denial;
use super::proxy::Attempt;
use super::refusal::{self, Body, Refused, denied};
use super::tunnel::Tunnel;

/// What the requests of one connection share.
#[derive(Debug)]
pub struct Connection {
    attempt: Arc<Attempt>,
    ended: watch::Receiver<()>,
    phase: Phase,
    /// The one connection to an origin.
    origin: Mutex<Option<Origin>>,
    /// Whether the client speaks HTTP/1.0: it knows no chunks, and takes the end of the connection for that of an answer.
    old: AtomicBool,
    /// Granted; begins when the 200 is out.
    granted: Lock<Option<(Target, TcpStream)>>,
}

impl Connection {
    /// Of this attempt, which lives until the sender of `ended` is dropped.
    pub fn new(attempt: Arc<Attempt>, ended: watch::Receiver<()>) -> Connection {
        let (phase, origin, granted) = (Phase::default(), Mutex::default(), Lock::default());
        Connection { attempt, ended, phase, origin, old: AtomicBool::new(false), granted }
    }

    /// Answers until the client, a limit or the attempt ends it.
    pub async fn serve(self, stream: TcpStream) {
        let limits = &self.attempt.shared.limits;
        let stream = Patient::new(stream, self.phase.clone(), limits.head_read, limits.keep_alive);
        let service = service_fn(|request| {
            self.phase.busy();
            Box::pin(async {
                let answer = self.answer(request).await.unwrap_or_else(|refusal| *refusal);
                Ok::<_, Infallible>(answer.map(|body| Answered::new(body, self.phase.clone())))
            })
        });
        let mut server = http1::Builder::new();
        server.header_read_timeout(None).preserve_header_case(true);
        server.max_buf_size(limits.head).max_header_size(limits.head).max_headers(limits.headers);
        let mut served = server.serve_connection(stream, service);
        let mut ended = self.ended.clone();
        let result = tokio::select! {
            result = poll_fn(|cx| served.poll_without_shutdown(cx)) => Some(result),
            _ = ended.changed() => {
                std::pin::Pin::new(&mut served).graceful_shutdown();
                timeout(limits.drain, poll_fn(|cx| served.poll_without_shutdown(cx))).await.ok()
            }
        };
        let parts = served.into_parts();
        let (verdict, client) = (parts.io.verdict, parts.io.into_inner());
        let granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (result, granted) {
            (None, _) => drop(client.set_zero_linger()),
            (Some(Ok(())), Some((target, upstream))) => {
                // What the client sent behind its request belongs to the tunnel.
                if parts.read_buf.len() > limits.early {
                    return drop(client.set_zero_linger());
                }
                let named = self.attempt.sni.then_some((target.host, target.port));
                // A copy, so that the library's buffer does not live as long as the tunnel.
                let early = parts.read_buf.to_vec();
                drop(parts.read_buf);
                let tunnel = Tunnel { client, upstream, early, named };
                tunnel.run(&self.attempt, self.ended.clone()).await;
            }
            (Some(result), _) => {
                let noise = verdict.is_some() || result.as_ref().is_err_and(|e| e.is_parse() || e.is_parse_too_large());
                if noise {
                    self.attempt.log.noise();
                } else if result.is_err() && self.old.load(Ordering::Relaxed) {
                    // An answer that breaks off must not look like one that is complete.
                    let _ = client.set_zero_linger();
                }
                if let Some(denial) = verdict {
                    refusal::say(client, denial).await;
                }
            }
        }
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, Refused> {
        let attempt = &*self.attempt;
        self.old.store(request.version() == Version::HTTP_10, Ordering::Relaxed);
        let target = head::target(request.method(), request.uri()).map_err(|denial| {
            let via = if request.method() == Method::CONNECT { Via::Connect } else { Via::Http };
            attempt.log.malformed(via, denial);
            denied(denial, None)
        })?;
        // Whoever has no attempt any more leaves no traces in its records.
        if self.ended.has_changed().is_err() {
            return Err(denied(Denial::AttemptEnded, Some(&target)));
        }
        // The host first: a request to a host that is not allowed is a blocked host, whatever else is odd.
        if let Err(denial) = attempt.policy.route(&target.host, target.port) {
            attempt.log.blocked(&target.host, target.port, target.via, denial);
            return Err(denied(denial, Some(&target)));
        }
        let (parts, body) = request.into_parts();
        head::check(&parts, target.via, attempt.shared.limits.target).map_err(|denial| {
            attempt.log.malformed(target.via, denial);
            denied(denial, Some(&target))
        })?;
        match target.via {
            Via::Http => self.forward(Request::from_parts(parts, body), &target).await,
            _ => {
                let upstream = reach(&target, attempt).await?;
                *self.granted.lock().unwrap_or_else(PoisonError::into_inner) = Some((target, upstream));
                Ok(Response::new(Empty::<Bytes>::new().map_err(|never| match never {}).boxed()))
            }
        }
    }

    /// Over the connection of the request before where that leads to the same place; the verdict is new each time.
    async fn forward(&self, request: Request<Incoming>, target: &Target) -> Result<Response<Body>, Refused> {
        let (attempt, limits) = (&*self.attempt, &self.attempt.shared.limits);
        let vetted = dial::vetted(attempt, target).await;
        let vetted = vetted.map_err(|why| unreached(why, target, attempt))?;
        let mut kept = self.origin.lock().await;
        let usable = match kept.take() {
            Some(mut origin) => origin.serves(target, &vetted).await.then_some(origin),
            None => None,
        };
        let fail = |failure| unreached(NoConnection::Failed(failure), target, attempt);
        let mut origin = match usable {
            Some(origin) => origin,
            None => {
                let upstream = dial::connect(attempt, vetted).await.map_err(fail)?;
                Origin::new(target, upstream, limits).await.map_err(fail)?
            }
        };
        attempt.log.allowed(&target.host, target.port);
        let answer = origin.ask(request, limits).await.map_err(fail)?;
        *kept = Some(origin);
        Ok(answer.map(|body| body.boxed()))
    }
}

/// A connection to an allowed target, written down either way.
pub async fn reach(target: &Target, attempt: &Attempt) -> Result<TcpStream, Refused> {
    let upstream = dial::dial(attempt, target).await;
    let upstream = upstream.map_err(|why| unreached(why, target, attempt))?;
    attempt.log.allowed(&target.host, target.port);
    Ok(upstream)
}

fn unreached(why: NoConnection, target: &Target, attempt: &Attempt) -> Refused {
    match why {
        NoConnection::Denied(denial) => {
            attempt.log.blocked(&target.host, target.port, target.via, denial);
            denied(denial, Some(target))
        }
        NoConnection::Failed(failure) => {
            attempt.log.failure(failure);
            refusal::failed(failure, target)
        }
    }
}
