//! The way to a provider: one look-up, all of its answer judged, one connection for one request; TLS with the platform's roots and
//! the upstream's own name.
#![forbid(unsafe_code)]

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::Limited;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::route;
use crate::outcome::{Reason, Refusal};

const DNS: Duration = Duration::from_secs(5);
const CONNECT: Duration = Duration::from_secs(10);

/// Answers used, at most.
const ANSWERS: usize = 3;

/// Largest head of an answer in bytes.
const HEAD: usize = 64 << 10;

/// One provider.
pub struct Upstream {
    /// As it stands in Host.
    pub authority: String,
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

type Sender = SendRequest<Limited<Incoming>>;

impl Upstream {
    /// Of an origin as [`route::origin`] takes it; nothing is connected yet.
    ///
    /// # Errors
    /// Where it is no origin, or nothing says whom to trust.
    pub fn new(origin: &str) -> Result<Upstream, Refusal> {
        let wrong = |why: &dyn std::fmt::Display| Refusal::new(Reason::BadSettings, format!("{origin}: {why}"));
        let (tls, host, port) = route::origin(origin).map_err(|why| wrong(&why))?;
        let authority = origin.split_once("://").map_or(origin, |(_, authority)| authority).to_string();
        let host = host.trim_matches(['[', ']']).to_string();
        let name = ServerName::try_from(host.clone()).map_err(|why| wrong(&why))?;
        let tls = if tls { Some((TlsConnector::from(config().map_err(untrusting)?), name)) } else { None };
        Ok(Upstream { authority, host, port, tls })
    }

    /// A connection for one request; the status and code to tell otherwise.
    pub async fn connect(&self) -> Result<Sender, (u16, &'static str)> {
        let found = timeout(DNS, lookup_host((self.host.as_str(), self.port))).await;
        let found: Vec<SocketAddr> = found.ok().and_then(Result::ok).into_iter().flatten().collect();
        if found.is_empty() {
            return Err((502, "dns-failure"));
        }
        let named = self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|a| a.is_loopback());
        if !found.iter().all(|address| may_dial(address.ip(), named)) {
            return Err((403, "private-address"));
        }
        let mut last = (502, "connect-failed");
        for address in found.into_iter().take(ANSWERS) {
            match timeout(CONNECT, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    let _ = stream.set_nodelay(true);
                    return self.speak(stream).await;
                }
                Ok(Err(_)) => last = (502, "connect-failed"),
                Err(_) => last = (504, "connect-timeout"),
            }
        }
        Err(last)
    }

    async fn speak(&self, stream: TcpStream) -> Result<Sender, (u16, &'static str)> {
        let failed = (502, "upstream-error");
        let mut client = http1::Builder::new();
        client.max_buf_size(HEAD);
        match &self.tls {
            None => {
                let (sender, connection) = client.handshake(TokioIo::new(stream)).await.map_err(|_| failed)?;
                tokio::spawn(connection);
                Ok(sender)
            }
            Some((tls, name)) => {
                let secure = timeout(CONNECT, tls.connect(name.clone(), stream)).await;
                let secure = secure.map_err(|_| (504, "connect-timeout"))?.map_err(|_| failed)?;
                let (sender, connection) = client.handshake(TokioIo::new(secure)).await.map_err(|_| failed)?;
                tokio::spawn(connection);
                Ok(sender)
            }
        }
    }
}

fn untrusting(e: rustls::Error) -> Refusal {
    let fix = "install ca-certificates, or have SSL_CERT_FILE name a file of certificates, for whoever hosts the proxy";
    Refusal { fix: Some(fix.into()), ..Refusal::new(Reason::ProxyFailed, format!("certificates of authorities: {e}")) }
}

fn config() -> Result<Arc<ClientConfig>, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?;
    let mut config = builder.with_platform_verifier()?.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The user named the provider, so that a company's gateway may have a private address; link-local ones and the metadata services of
/// clouds are no provider's, and loopback only where the upstream says so itself.
fn may_dial(address: IpAddr, loopback_is_named: bool) -> bool {
    let address = address.to_canonical();
    let never = match address {
        IpAddr::V4(a) => {
            let clouds = [[168, 63, 129, 16], [100, 100, 100, 200]].contains(&a.octets());
            a.is_link_local() || a.octets()[0] == 0 || a.is_multicast() || a.octets()[0] >= 240 || clouds
        }
        IpAddr::V6(a) => {
            let cloud = a.segments() == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254];
            let carries_v4 = a.segments()[..6] == [0; 6] && !a.is_loopback();
            a.is_unicast_link_local()
                || a.is_unspecified()
                || a.is_multicast()
                || cloud
                || carries_v4
                || a.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0]
                || a.segments()[0] == 0x2002
        }
    };
    !never && (loopback_is_named || !address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_may_be_private_and_metadata_is_never_a_provider() {
        let may = |address: &str, named| may_dial(address.parse().unwrap(), named);
        for fine in ["93.184.216.34", "10.0.0.5", "192.168.1.1", "100.64.0.1", "fd12::1", "2606:4700::1"] {
            assert!(may(fine, false), "{fine}");
        }
        for bad in [
            "169.254.169.254",
            "168.63.129.16",
            "100.100.100.200",
            "fd00:ec2::254",
            "fe80::1",
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "2002:a9fe:a9fe::",
            "::a9fe:a9fe",
            "255.255.255.255",
        ] {
            assert!(!may(bad, true), "{bad}");
        }
        assert!(may("127.0.0.1", true) && may("::1", true) && !may("127.0.0.1", false) && !may("::1", false));
    }
}
