//! One request to an injected provider, and its answer.
#![forbid(unsafe_code)]

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use http_body_util::{BodyExt, Full};
use hyper::body::{Body as _, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode, Uri, Version};
use tokio::task::{AbortHandle, JoinSet};

use super::flow::{Bounded, Clock};
use super::upstream::{Connection, FAILED};
use super::{Injection, Told, rules};
use crate::egress::coming::{self, Interim};
use crate::egress::log::Failure;
use crate::egress::proxy::Attempt;
use crate::egress::refusal::Body;

/// What the requests of one client's connection share.
pub struct Exchange<'a> {
    injection: &'a Injection,
    attempt: &'a Attempt,
    clock: &'a Clock,
    providers: &'a Mutex<JoinSet<()>>,
    /// Whether the client speaks HTTP/1.0.
    old: AtomicBool,
}

impl<'a> Exchange<'a> {
    /// `providers` gets the connections to providers: whoever owns the client's ends them with it. Every byte moves the
    /// clock.
    pub fn new(
        injection: &'a Injection,
        attempt: &'a Attempt,
        clock: &'a Clock,
        providers: &'a Mutex<JoinSet<()>>,
    ) -> Exchange<'a> {
        Exchange { injection, attempt, clock, providers, old: AtomicBool::new(false) }
    }

    /// Whether the client may take the end of the connection for that of an answer: it knows no chunks.
    pub fn ends_with_connection(&self) -> bool {
        self.old.load(Ordering::Relaxed)
    }

    /// The provider's answer, or what to tell in its place; a provider that was not reached is counted before that is
    /// told.
    pub async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        self.ask(request).await.unwrap_or_else(|told| {
            if let Some(failure) = failure(told) {
                self.attempt.log.failure(failure);
            }
            refusal(told)
        })
    }

    async fn ask(&self, request: Request<Incoming>) -> Result<Response<Body>, Told> {
        let (port, limits) = (self.injection.port, &self.attempt.shared.limits);
        let (mut parts, body) = request.into_parts();
        self.old.store(parts.version == Version::HTTP_10, Ordering::Relaxed);
        if !rules::is_own_host(&parts.headers, port) {
            return Err((421, "bad-host"));
        }
        rules::check(&parts).map_err(|status| (status, if status == 405 { "bad-method" } else { "bad-request" }))?;
        let (segment, rest) = segments(parts.uri.path());
        let one = self.injection.routes.iter().find(|one| one.route.is_for(segment)).ok_or((404, "not-found"))?;
        let path = rules::path(rest, parts.uri.query()).ok_or((400, "bad-request"))?;
        if body.size_hint().lower() > limits.inject_body {
            return Err((413, "limit"));
        }
        let value = one.value().ok_or(FAILED)?;
        let host = HeaderValue::from_str(&one.upstream.authority).map_err(|_| FAILED)?;
        rules::request(&mut parts.headers, host, &one.header, value);
        parts.uri = Uri::builder().path_and_query(path).build().map_err(|_| (400, "bad-request"))?;
        parts.version = Version::HTTP_11;
        let (mut sender, connection) = one.upstream.connect(self.attempt, self.clock, &one.requests).await?;
        let driven = self.drive(connection);
        let (body, over) = Bounded::new(body, limits.inject_body);
        let mut request = Request::from_parts(parts, body);
        let interim = Interim::to(&mut request, limits.interim);
        let answer = tokio::select! {
            answer = sender.send_request(request) => answer,
            () = interim.flooded() => return Err(FAILED),
            () = self.clock.idle(limits.inject_idle) => return Err((504, "connect-timeout")),
        };
        let told = |_| if over.load(Ordering::Relaxed) { (413, "limit") } else { FAILED };
        let mut answer = answer.map_err(told)?;
        let switches = answer.status() == StatusCode::SWITCHING_PROTOCOLS;
        let base = one.route.base(port);
        let framed = coming::framed(answer.headers_mut());
        let fit = rules::answer(answer.headers_mut(), one.key.expose(), &one.route.upstream, &base);
        if switches || interim.is_flood() || framed.is_none() || fit.is_none() {
            return Err(FAILED);
        }
        *answer.version_mut() = Version::HTTP_11;
        // A reason phrase of the origin's own would be passed on with what it says.
        answer.extensions_mut().clear();
        Ok(answer.map(|body| Passed { body, _driven: driven }.boxed()))
    }

    fn drive(&self, connection: Connection) -> Driven {
        let mut providers = self.providers.lock().unwrap_or_else(PoisonError::into_inner);
        while providers.try_join_next().is_some() {}
        // How it ends is told to whoever waits for the answer, or for its body.
        Driven(providers.spawn(async { drop(connection.await) }))
    }
}

/// A connection to a provider: it ends with this.
struct Driven(AbortHandle);

impl Drop for Driven {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An answer's body as it comes.
struct Passed {
    body: Incoming,
    _driven: Driven,
}

impl hyper::body::Body for Passed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The first part of a path, and the rest with its slash.
fn segments(path: &str) -> (&str, &str) {
    let path = path.strip_prefix('/').unwrap_or_default();
    match path.find('/') {
        Some(slash) => path.split_at(slash),
        None => (path, "/"),
    }
}

/// What it counts as, where it is the provider's failure and not what was asked.
fn failure((_, code): Told) -> Option<Failure> {
    match code {
        "dns-failure" => Some(Failure::Dns),
        "connect-failed" => Some(Failure::Connect),
        "connect-timeout" => Some(Failure::Timeout),
        "upstream-error" => Some(Failure::Upstream),
        _ => None,
    }
}

/// An answer that is not the provider's.
fn refusal((status, code): Told) -> Response<Body> {
    let text = Bytes::from(format!("kusaw: refused ({code}): {}.\n", meaning(code)));
    let mut response = Response::new(Full::new(text).map_err(|never| match never {}).boxed());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert(coming::REFUSAL, HeaderValue::from_static(code));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}

/// A refusal for people; `upstream` is the entry's in `sandbox.egress.inject`, or the provider's own.
fn meaning(code: &str) -> &'static str {
    match code {
        "not-found" => "no provider is at this address: all of what the variable holds belongs to it",
        "dns-failure" => "the name in upstream: has no address (sandbox.egress.inject)",
        "private-address" => "the name in upstream: leads to a private address (sandbox.egress.inject)",
        "connect-failed" => "upstream: cannot be connected to (sandbox.egress.inject)",
        "connect-timeout" => "upstream: is silent (sandbox.egress.inject)",
        "upstream-error" => "what upstream: answers, or its certificate, cannot be passed on (sandbox.egress.inject)",
        "limit" => "the body is too large",
        "bad-host" => "the address is another one than the variable holds",
        "bad-method" => "a request of this method is not passed on",
        _ => "the request is malformed",
    }
}
