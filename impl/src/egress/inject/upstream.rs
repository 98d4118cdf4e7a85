//! The way to a provider: one look-up, all of its answer judged, one connection for one request; TLS with the
//! platform's roots and the upstream's own name.
#![forbid(unsafe_code)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::Told;
use super::flow::{Bounded, Clock, Timed};
use super::route;
use crate::egress::dial;
use crate::egress::log::Failure;
use crate::egress::proxy::Attempt;
use crate::outcome::{Reason, Refusal};

/// One provider.
pub struct Upstream {
    /// As it stands in Host.
    pub authority: String,
    host: String,
    port: u16,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

/// Sends the one request of a connection.
pub type Sender = SendRequest<Bounded>;

/// What has to be driven meanwhile.
pub type Connection = http1::Connection<TokioIo<Timed<Box<dyn Stream>>>, Bounded>;

/// Of whatever kind.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

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

    /// A connection for one request, whose bytes move the clock; the first that goes out is counted. What to tell
    /// otherwise.
    pub async fn connect(
        &self,
        attempt: &Attempt,
        clock: &Clock,
        sent: &Arc<AtomicU64>,
    ) -> Result<(Sender, Connection), Told> {
        let addresses = self.addresses(attempt).await?;
        let (stream, _) = dial::connect(attempt, addresses).await.map_err(|failure| match failure {
            Failure::Timeout => (504, "connect-timeout"),
            _ => (502, "connect-failed"),
        })?;
        let stream: Box<dyn Stream> = match &self.tls {
            None => Box::new(stream),
            Some((tls, name)) => {
                let secure = timeout(attempt.shared.limits.connect, tls.connect(name.clone(), stream)).await;
                Box::new(secure.map_err(|_| (504, "connect-timeout"))?.map_err(|_| FAILED)?)
            }
        };
        let mut client = http1::Builder::new();
        client.max_buf_size(attempt.shared.limits.head);
        client.handshake(TokioIo::new(Timed::new(stream, clock, Some(sent)))).await.map_err(|_| FAILED)
    }

    async fn addresses(&self, attempt: &Attempt) -> Result<Vec<SocketAddr>, Told> {
        let found = match self.host.parse() {
            Ok(address) => vec![address],
            // Never looked up (RFC 6761 6.3): the key may go there in the clear.
            Err(_) if self.host == "localhost" => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            Err(_) => dial::resolve(attempt, &self.host).await.ok_or((502, "dns-failure"))?.addresses,
        };
        let named = self.host == "localhost" || self.host.parse::<IpAddr>().is_ok_and(|a| a.is_loopback());
        if !found.iter().all(|address| may_dial(*address, named)) {
            return Err((403, "private-address"));
        }
        Ok(found.into_iter().map(|address| SocketAddr::new(address, self.port)).collect())
    }
}

/// It did not answer as a provider does.
pub const FAILED: Told = (502, "upstream-error");

fn untrusting(e: rustls::Error) -> Refusal {
    let fix = "install ca-certificates, or have SSL_CERT_FILE name a file of certificates, for whoever hosts the proxy";
    Refusal { fix: Some(fix.into()), ..Refusal::new(Reason::ProxyFailed, format!("certificates of authorities: {e}")) }
}

/// The same for every provider of a process: the system's authorities are read once, also by a `serve` that runs for
/// long. What is wrong with them is told each time, and they are read anew.
fn config() -> Result<Arc<ClientConfig>, rustls::Error> {
    static PROCESS: OnceLock<Arc<ClientConfig>> = OnceLock::new();
    match PROCESS.get() {
        Some(config) => Ok(config.clone()),
        None => read_config().map(|config| PROCESS.get_or_init(|| config).clone()),
    }
}

fn read_config() -> Result<Arc<ClientConfig>, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?;
    let mut config = builder.with_platform_verifier()?.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// The user named the provider, so that a company's gateway may have a private address; link-local ones and the
/// metadata services of clouds are no provider's, and loopback only where the upstream says so itself.
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
                || a.segments()[..3] == [0x64, 0xff9b, 1]
                || a.segments()[..6] == [0, 0, 0, 0, 0xffff, 0]
                || a.segments()[0] == 0x2002
        }
    };
    !never && (loopback_is_named || !address.is_loopback())
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;
    use crate::egress::dial::{Answer, Later, Network};
    use crate::egress::limits::{Limits, Place, Shared};
    use crate::egress::log::Log;
    use crate::egress::policy::Policy;

    #[test]
    fn the_authorities_are_read_once() {
        match (config(), config()) {
            (Ok(first), Ok(second)) => assert!(Arc::ptr_eq(&first, &second)),
            // A machine without any.
            (first, second) => assert!(first.is_err() && second.is_err()),
        }
    }

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
            "64:ff9b:1::a9fe:a9fe",
            "::ffff:0:a9fe:a9fe",
            "255.255.255.255",
        ] {
            assert!(!may(bad, true), "{bad}");
        }
        assert!(may("127.0.0.1", true) && may("::1", true) && !may("127.0.0.1", false) && !may("::1", false));
    }

    /// A resolver that says so must not be given the key.
    #[derive(Debug)]
    struct Lying;

    impl Network for Lying {
        fn resolve(&self, _: &str, _: Place) -> Later<Answer> {
            Box::pin(async { Ok(Answer { addresses: vec![Ipv4Addr::new(10, 0, 0, 9).into()], own: Vec::new() }) })
        }

        fn connect(&self, _: SocketAddr) -> Later<TcpStream> {
            Box::pin(async { Err(std::io::ErrorKind::Unsupported.into()) })
        }
    }

    #[tokio::test]
    async fn localhost_is_this_machine_whatever_a_resolver_says() {
        let file = || tempfile::tempfile().unwrap();
        let shared = Arc::new(Shared::over(Limits::default(), 1_000, Arc::new(Lying)));
        let attempt = Attempt::new(Policy::new(&[]), Log::new("a", file(), file()), true, None, shared);
        for (origin, right) in [("http://localhost:9", "127.0.0.1:9 [::1]:9"), ("https://gw.corp", "10.0.0.9:443")] {
            let found = Upstream::new(origin).unwrap().addresses(&attempt).await.unwrap();
            let found: Vec<_> = found.iter().map(SocketAddr::to_string).collect();
            assert_eq!(found.join(" "), right);
        }
    }
}
