//! TLS of the world: an authority of its own, and a certificate for whatever name a client asks for.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

/// Where the authority's certificate lies in the lab, and the bundle that it is added to.
pub const CERTIFICATE: &str = "/etc/ssl/certs/lab-authority.pem";
const BUNDLE: &str = "/etc/ssl/certs/ca-certificates.crt";

/// The name in the certificate of a client that asks for none.
const NAMELESS: &str = "nameless.test";

/// The end of names for which the authority does not vouch: their certificates are their own.
const IMPOSTORS: &str = ".impostor.test";

/// Who signs: its key stays in the memory of the world.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// A new one.
    ///
    /// # Errors
    /// When no key can be made.
    pub fn new() -> io::Result<Self> {
        let mut params = CertificateParams::new(Vec::new()).map_err(io::Error::other)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "The lab's authority");
        let key = KeyPair::generate().map_err(io::Error::other)?;
        CertifiedIssuer::self_signed(params, key).map(Self).map_err(io::Error::other)
    }

    /// Has the lab's programs trust it, as an administrator would. Called in the lab's root, while still privileged.
    ///
    /// # Errors
    /// When /etc of the lab cannot be written.
    pub fn trust(&self) -> io::Result<()> {
        let pem = self.0.pem();
        std::fs::write(CERTIFICATE, &pem)?;
        let mut bundle = std::fs::read(BUNDLE).unwrap_or_default();
        bundle.extend(pem.as_bytes());
        std::fs::write(BUNDLE, bundle)
    }

    /// The settings of its servers.
    ///
    /// # Errors
    /// When the library does not take its own defaults.
    pub fn server(self) -> io::Result<Arc<ServerConfig>> {
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let certificates = Certificates { authority: self, made: Mutex::default() };
        let config = config.map_err(io::Error::other)?.with_no_client_auth();
        Ok(Arc::new(config.with_cert_resolver(Arc::new(certificates))))
    }

    fn sign(&self, name: &str) -> Option<CertifiedKey> {
        let mut params = CertificateParams::new(vec![name.to_owned()]).ok()?;
        params.distinguished_name.push(DnType::CommonName, name);
        params.extended_key_usages.push(ExtendedKeyUsagePurpose::ServerAuth);
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate().ok()?;
        let certificate = match name.ends_with(IMPOSTORS) {
            true => params.self_signed(&key).ok()?,
            false => params.signed_by(&key, &self.0).ok()?,
        };
        let key = ring::sign::any_supported_type(&PrivatePkcs8KeyDer::from(key.serialize_der()).into()).ok()?;
        Some(CertifiedKey::new(vec![certificate.der().clone()], key))
    }
}

/// Certificates by name, each made once: so that whoever comes twice sees the same.
struct Certificates {
    authority: Authority,
    made: Mutex<HashMap<String, Arc<CertifiedKey>>>,
}

impl std::fmt::Debug for Certificates {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Certificates")
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let name = hello.server_name().unwrap_or(NAMELESS).to_ascii_lowercase();
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(&name) {
            return Some(known.clone());
        }
        let new = Arc::new(self.authority.sign(&name)?);
        made.insert(name, new.clone());
        Some(new)
    }
}
