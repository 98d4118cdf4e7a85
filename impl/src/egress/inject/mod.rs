//! The injecting listener of an attempt: plain HTTP from inside, the real key added outside, to the one provider that its route
//! names. The key is only in the memory of this process; a request cannot choose where it goes, no redirect is followed, nothing
//! is retried (a POST to a model is billed), and no connection is shared.
#![forbid(unsafe_code)]

pub mod route;
mod rules;
mod upstream;

use std::convert::Infallible;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use nix::sys::resource::{Resource, setrlimit};
use tokio::net::TcpStream;
use tokio::time::timeout;
use zeroize::Zeroizing;

use crate::outcome::{Reason, Refusal};
use crate::store::{Fault, Secret, Store};
use route::Route;
use upstream::Upstream;

/// For a whole request head, and between two of them.
const HEAD_READ: Duration = Duration::from_secs(60);
const HEAD_SIZE: usize = 64 << 10;
const HEADERS: usize = 100;

/// Until the provider's answer begins: models think silently.
const FIRST_BYTE: Duration = Duration::from_secs(10 * 60);

/// Largest request body in bytes; streamed, never held.
const BODY: usize = 64 << 20;

/// The routes of one attempt with their keys, behind one listener.
pub struct Injection {
    port: u16,
    routes: Vec<Keyed>,
}

struct Keyed {
    route: Route,
    header: HeaderName,
    upstream: Upstream,
    key: Secret,
    requests: AtomicU64,
}

impl std::fmt::Debug for Injection {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Injection")
    }
}

impl Injection {
    /// Reads the keys from this store, after which this process can neither be read by another nor leave a core file.
    ///
    /// # Errors
    /// A refusal that says which key cannot be had, and why.
    pub fn open(routes: &[Route], port: u16, store: &Store) -> Result<Injection, Refusal> {
        let failed = |e: nix::Error| Refusal::new(Reason::ProxyFailed, e);
        nix::sys::prctl::set_dumpable(false).map_err(failed)?;
        setrlimit(Resource::RLIMIT_CORE, 0, 0).map_err(failed)?;
        let routes = routes.iter().map(|route| Keyed::open(route, store)).collect::<Result<_, _>>()?;
        Ok(Injection { port, routes })
    }

    /// Requests that carried each key, by the names of the settings.
    pub fn requests(&self) -> impl Iterator<Item = (&str, u64)> {
        self.routes.iter().map(|one| (one.route.name.as_str(), one.requests.load(Ordering::Relaxed)))
    }

    /// Answers on one connection.
    pub async fn serve(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let service = service_fn(|request| async move {
            Ok::<_, Infallible>(self.answer(request).await.unwrap_or_else(|(status, code)| refusal(status, code)))
        });
        let mut server = http1::Builder::new();
        server.timer(TokioTimer::new()).header_read_timeout(HEAD_READ).max_buf_size(HEAD_SIZE).max_headers(HEADERS);
        // A client that goes away, or an answer that breaks off: the connection ends unclean, which is what to tell.
        let _ = server.serve_connection(TokioIo::new(stream), service).await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Body>, (u16, &'static str)> {
        let (mut parts, body) = request.into_parts();
        if !rules::is_own_host(&parts.headers, self.port) {
            return Err((421, "bad-host"));
        }
        rules::check(&parts).map_err(|status| (status, if status == 405 { "bad-method" } else { "bad-request" }))?;
        let (segment, rest) = segments(parts.uri.path());
        let one = self.routes.iter().find(|one| one.route.is_for(segment)).ok_or((404, "not-found"))?;
        let path = rules::path(rest, parts.uri.query()).ok_or((400, "bad-request"))?;
        if body.size_hint().lower() > BODY as u64 {
            return Err((413, "limit"));
        }
        let value = one.value().ok_or((502, "upstream-error"))?;
        let host = HeaderValue::from_str(&one.upstream.authority).map_err(|_| (502, "upstream-error"))?;
        rules::request(&mut parts.headers, host, &one.header, value);
        parts.uri = Uri::builder().path_and_query(path).build().map_err(|_| (400, "bad-request"))?;
        parts.version = Version::HTTP_11;
        let mut sender = one.upstream.connect().await?;
        one.requests.fetch_add(1, Ordering::Relaxed);
        let sent = sender.send_request(Request::from_parts(parts, Limited::new(body, BODY)));
        let answer = timeout(FIRST_BYTE, sent).await.map_err(|_| (504, "connect-timeout"))?;
        let mut answer = answer.map_err(|_| (502, "upstream-error"))?;
        let switches = answer.status() == StatusCode::SWITCHING_PROTOCOLS;
        let base = one.route.base(self.port);
        let fit = rules::answer(answer.headers_mut(), one.key.expose(), &one.route.upstream, &base);
        if switches || fit.is_none() {
            return Err((502, "upstream-error"));
        }
        *answer.version_mut() = Version::HTTP_11;
        // A reason phrase of the origin's own would be passed on with what it says.
        answer.extensions_mut().clear();
        Ok(answer.map(|body| body.boxed()))
    }
}

type Body = BoxBody<Bytes, hyper::Error>;

impl Keyed {
    fn open(route: &Route, store: &Store) -> Result<Keyed, Refusal> {
        let wrong = |what: &str| Refusal::new(Reason::BadSettings, format!("inject {}: {what}", route.name));
        let key = store.get(&route.secret).map_err(|fault| unusable(route, fault))?;
        let header = route.header.parse().map_err(|_| wrong("no header"))?;
        let upstream = Upstream::new(&route.upstream)?;
        let keyed = Keyed { route: route.clone(), header, upstream, key, requests: AtomicU64::new(0) };
        match keyed.value().filter(|_| !keyed.key.expose().is_empty()) {
            Some(_) => Ok(keyed),
            None => {
                Err(unusable(route, Fault::Damaged(format!("secret {}: it cannot stand in a header", route.secret))))
            }
        }
    }

    /// The header's value; its bytes are overwritten when the last copy is dropped.
    fn value(&self) -> Option<HeaderValue> {
        let (before, behind) = self.route.format.split_once("{}")?;
        let parts = [before.as_bytes(), self.key.expose(), behind.as_bytes()];
        let mut bytes = Zeroizing::new(Vec::with_capacity(parts.iter().map(|part| part.len()).sum()));
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        HeaderValue::from_maybe_shared(Bytes::from_owner(Wiped(bytes))).ok()
    }
}

fn unusable(route: &Route, fault: Fault) -> Refusal {
    let reason = if matches!(fault, Fault::Missing(_)) { Reason::NoSecret } else { Reason::SecretStore };
    let set = || format!("kusaw config set {} --secret", route.secret);
    let fix = match &fault {
        Fault::Missing(_) | Fault::Damaged(_) => Some(set()),
        Fault::Key(_) => Some("bring it back, or remove the store and keys folders and set every secret again".into()),
        Fault::Unreadable(_) => None,
    };
    Refusal { fix, ..Refusal::new(reason, format!("inject {}: {fault}", route.name)) }
}

struct Wiped(Zeroizing<Vec<u8>>);

impl AsRef<[u8]> for Wiped {
    fn as_ref(&self) -> &[u8] {
        &self.0
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

fn refusal(status: u16, code: &'static str) -> Response<Body> {
    let text = Bytes::from(format!("kusaw: refused ({code}).\n"));
    let mut response = Response::new(Full::new(text).map_err(|never| match never {}).boxed());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert("x-kusaw-egress", HeaderValue::from_static(code));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
