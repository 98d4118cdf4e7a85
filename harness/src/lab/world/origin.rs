//! HTTP origins of the world: each address answers every request with its own token.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::lab::network;

const PORTS: [u16; 4] = [80, 443, 8080, 22];

/// A listener for every address and port.
pub async fn bind() -> io::Result<Vec<(TcpListener, Ipv4Addr)>> {
    let mut listeners = Vec::new();
    for address in [network::ALLOWED, network::BLOCKED, network::PROVIDER] {
        for port in PORTS {
            listeners.push((TcpListener::bind((address, port)).await?, address));
        }
    }
    Ok(listeners)
}

/// Answers every connection for ever.
pub async fn serve(listener: TcpListener, address: Ipv4Addr) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(10)).await; // the client was faster, or too many files are open
            continue;
        };
        tokio::task::spawn(async move {
            let answer = service_fn(move |_: Request<Incoming>| async move {
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(token(address)))))
            });
            // A client that goes away in the middle is its own affair.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
        });
    }
}

/// What the origin at an address says of itself.
pub fn token(address: Ipv4Addr) -> String {
    let name = match address {
        network::ALLOWED => "allowed",
        network::PROVIDER => "provider",
        _ => "blocked",
    };
    format!("kusaw-origin:{name}:{address}")
}
