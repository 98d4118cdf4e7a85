//! A model's provider: answers a POST with 1 KiB and a GET with a stream of events without an end; over TLS, with a certificate
//! of an authority of its own, or plainly.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{MissedTickBehavior, interval};
use tokio_rustls::TlsAcceptor;

use crate::event;

/// In its certificate, beside its address.
pub const NAME: &str = "localhost";

/// Its TLS; the certificate of its authority is written to `roots`.
pub fn tls(roots: &Path) -> io::Result<TlsAcceptor> {
    let mut authority = params("the bench's authority", Vec::new())?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, key()?).map_err(io::Error::other)?;
    std::fs::write(roots, authority.pem())?;
    let own = key()?;
    let certificate = params(NAME, vec![NAME.into(), "127.0.0.1".into()])?;
    let certificate = certificate.signed_by(&own, &authority).map_err(io::Error::other)?;
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?.with_no_client_auth();
    let own = PrivatePkcs8KeyDer::from(own.serialize_der());
    let config = builder.with_single_cert(vec![certificate.der().clone()], own.into()).map_err(io::Error::other)?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The names differ: a certificate with its issuer's name passes for one that signed itself.
fn params(name: &str, names: Vec<String>) -> io::Result<CertificateParams> {
    let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
    params.distinguished_name.push(DnType::CommonName, name);
    Ok(params)
}

fn key() -> io::Result<KeyPair> {
    KeyPair::generate().map_err(io::Error::other)
}

/// One request after the other, until one asks for events.
pub async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin, body: &[u8]) -> io::Result<()> {
    let mut request = Vec::new();
    loop {
        let mut whole = None;
        while whole.is_none_or(|whole| request.len() < whole) {
            if stream.read_buf(&mut request).await? == 0 {
                return Ok(());
            }
            whole = whole.or_else(|| length(&request));
        }
        if request.starts_with(b"GET ") {
            return events(stream).await;
        }
        request.clear();
        stream.write_all(body).await?;
        stream.flush().await?;
    }
}

/// Of a request with its body, once its head is there.
fn length(request: &[u8]) -> Option<usize> {
    let head = request.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&request[..head]).to_ascii_lowercase();
    let body = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    Some(head + body.unwrap_or(0))
}

async fn events(mut stream: impl AsyncWrite + Unpin) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await?;
    let mut ticks = interval(event::EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        stream.write_all(event::chunk()?.as_bytes()).await?;
        stream.flush().await?;
    }
}
