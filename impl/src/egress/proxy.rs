//! The proxy: answers on the listener that lies inside the step's network namespace. Every request is
//! judged by itself, never a connection as a whole; a refusal is written down before it is sent and
//! tells the host and the reason, never an address.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::dial::{NoConnection, dial};
use super::grant::Role;
use super::head::{self, Target, Via};
use super::host::Host;
use super::log::{Failure, Log};
use super::policy::{Denial, Policy};
use super::{forward, relay};

/// Connections of one attempt at a time.
const CONNECTIONS: usize = 512;

/// For a whole request head, and between two of them.
const HEAD_READ: Duration = Duration::from_secs(10);
const HEAD_SIZE: usize = 64 << 10;
const HEADERS: usize = 100;

/// Policy and records of the attempt a listener belongs to.
#[derive(Debug)]
pub struct Attempt {
    /// Decides.
    pub policy: Policy,
    /// Remembers.
    pub log: Log,
    /// Adds keys.
    pub injection: Option<super::inject::Injection>,
}

type Body = BoxBody<Bytes, hyper::Error>;

/// Answers on `listener` in this role, for ever.
pub async fn serve(listener: TcpListener, role: Role, attempt: Arc<Attempt>) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok((mut stream, _)) = listener.accept().await else {
            // Out of descriptors, or the client was faster: try again, not too fast.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let attempt = attempt.clone();
        let Ok(place) = places.clone().try_acquire_owned() else {
            let full = b"HTTP/1.1 503 Service Unavailable\r\nX-Kusaw-Egress: limit\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            let _ = stream.try_write(full);
            let _ = stream.shutdown().await;
            continue;
        };
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            match role {
                Role::Proxy => connection(stream, &attempt).await,
                Role::Lease(port) => leased(stream, port, &attempt).await,
                Role::Inject => {
                    if let Some(injection) = &attempt.injection {
                        injection.serve(stream).await;
                    }
                }
            }
            drop(place);
        });
    }
}

async fn leased(client: TcpStream, port: u16, attempt: &Attempt) {
    let target = Target { host: Host::Name("localhost".into()), port, via: Via::Connect };
    if let Ok(upstream) = reach(&target, attempt).await {
        relay::relay(client, upstream).await;
    }
}

async fn connection(stream: TcpStream, attempt: &Arc<Attempt>) {
    let tunnels: Arc<std::sync::Mutex<Option<Tunnel>>> = Arc::default();
    let service = service_fn(|request| {
        let (attempt, tunnels) = (attempt.clone(), tunnels.clone());
        async move {
            let answer = answer(request, &attempt).await.unwrap_or_else(|refusal| (*refusal, None));
            if let (Some(tunnel), Ok(mut open)) = (answer.1, tunnels.lock()) {
                *open = Some(tunnel);
            }
            Ok::<_, Infallible>(answer.0)
        }
    });
    let mut server = http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEAD_READ);
    server.max_buf_size(HEAD_SIZE).max_headers(HEADERS).preserve_header_case(true);
    let served = server.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
    if served.is_err_and(|e| e.is_parse() || e.is_parse_too_large()) {
        attempt.log.noise();
    }
    let tunnel = tunnels.lock().ok().and_then(|mut open| open.take());
    if let Some(tunnel) = tunnel {
        tunnel.run().await;
    }
}

/// A tunnel that has been granted; it begins when the 200 is out.
struct Tunnel {
    upgrade: hyper::upgrade::OnUpgrade,
    upstream: TcpStream,
}

impl Tunnel {
    async fn run(mut self) {
        let Ok(upgraded) = self.upgrade.await else { return };
        let Ok(parts) = upgraded.downcast::<TokioIo<TcpStream>>() else { return };
        // What the client sent behind its request belongs to the tunnel.
        if self.upstream.write_all(&parts.read_buf).await.is_ok() {
            relay::relay(parts.io.into_inner(), self.upstream).await;
        }
    }
}

type Refused = Box<Response<Body>>;

async fn answer(
    mut request: Request<Incoming>,
    attempt: &Attempt,
) -> Result<(Response<Body>, Option<Tunnel>), Refused> {
    let target = head::target(request.method(), request.uri()).map_err(|denial| {
        let via = if request.method() == hyper::Method::CONNECT { Via::Connect } else { Via::Http };
        attempt.log.malformed(via, denial);
        denied(denial, None)
    })?;
    // The host first: a request to a host that is not allowed is a blocked host, whatever else is odd.
    if let Err(denial) = attempt.policy.route(&target.host, target.port) {
        attempt.log.blocked(&target.host, target.port, target.via, denial);
        return Err(denied(denial, Some(&target)));
    }
    let upgrade = (target.via == Via::Connect).then(|| hyper::upgrade::on(&mut request));
    let (parts, body) = request.into_parts();
    head::check(&parts, target.via).map_err(|denial| {
        attempt.log.malformed(target.via, denial);
        denied(denial, Some(&target))
    })?;
    let upstream = reach(&target, attempt).await?;
    match upgrade {
        Some(upgrade) => Ok((Response::new(empty()), Some(Tunnel { upgrade, upstream }))),
        None => {
            let request = Request::from_parts(parts, body);
            let answer = forward::forward(request, &target, upstream).await;
            let answer = answer.map_err(|failure| failed(failure, &target, attempt))?;
            Ok((answer.map(|body| body.boxed()), None))
        }
    }
}

async fn reach(target: &Target, attempt: &Attempt) -> Result<TcpStream, Refused> {
    match dial(&attempt.policy, target).await {
        Ok(upstream) => {
            attempt.log.allowed(&target.host, target.port);
            Ok(upstream)
        }
        Err(NoConnection::Denied(denial)) => {
            attempt.log.blocked(&target.host, target.port, target.via, denial);
            Err(denied(denial, Some(target)))
        }
        Err(NoConnection::Failed(failure)) => Err(failed(failure, target, attempt)),
    }
}

fn denied(denial: Denial, target: Option<&Target>) -> Refused {
    let text = match (target, denial.status()) {
        (Some(t), 403) => format!(
            "kusaw: {}:{} is blocked ({}). To allow it, add it to sandbox.egress.allow in kusaw.yaml.\n",
            t.host,
            t.port,
            denial.code()
        ),
        (Some(t), _) => format!("kusaw: request to {}:{} refused ({}).\n", t.host, t.port, denial.code()),
        (None, _) => format!("kusaw: this is a proxy for CONNECT and http:// requests ({}).\n", denial.code()),
    };
    refusal(denial.status(), denial.code(), text)
}

fn failed(failure: Failure, target: &Target, attempt: &Attempt) -> Refused {
    attempt.log.failure(failure);
    let (status, code) = match failure {
        Failure::Dns => (502, "dns-failure"),
        Failure::Connect => (502, "connect-failed"),
        Failure::Timeout => (504, "connect-timeout"),
        Failure::Upstream => (502, "upstream-error"),
    };
    refusal(status, code, format!("kusaw: {}:{} could not be reached ({code}).\n", target.host, target.port))
}

fn refusal(status: u16, code: &'static str, text: String) -> Refused {
    let mut response = Response::new(Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed());
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::FORBIDDEN);
    let headers = response.headers_mut();
    headers.insert("x-kusaw-egress", hyper::header::HeaderValue::from_static(code));
    headers.insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("text/plain; charset=utf-8"));
    Box::new(response)
}

fn empty() -> Body {
    Empty::new().map_err(|never| match never {}).boxed()
}

/// The standard library's listener as the runtime's.
pub fn adopt(listener: std::net::TcpListener) -> io::Result<TcpListener> {
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}
