//! HTTP origins of the outside: each address answers every request with its own token.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::lab::network;

const PORTS: [u16; 4] = [80, 443, 8080, 22];

/// Answers on every address and port.
pub async fn serve() -> io::Result<()> {
    for address in [network::ALLOWED, network::BLOCKED, network::PROVIDER] {
        for port in PORTS {
            let listener = TcpListener::bind((address, port)).await?;
            tokio::task::spawn(accept(listener, address));
        }
    }
    std::future::pending().await
}

async fn accept(listener: TcpListener, address: Ipv4Addr) {
    while let Ok((stream, _)) = listener.accept().await {
        tokio::task::spawn(async move {
            let answer = hyper::service::service_fn(move |_: Request<Incoming>| async move {
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from(token(address)))))
            });
            // A client that goes away in the middle is its own affair.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
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
