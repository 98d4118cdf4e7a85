//! The way to a provider over TLS: only with a certificate for its name, of an authority that the host of the proxy
//! trusts.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::{HOSTS, Host, KEY, OK, Serve, factory_for, head, keep};

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// What arrived at a provider over one connection, as it came over the wire, and decrypted.
struct Arrived {
    raw: Vec<u8>,
    head: String,
}

struct Tap {
    stream: TcpStream,
    raw: Vec<u8>,
}

impl Read for Tap {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let n = self.stream.read(to)?;
        self.raw.extend_from_slice(&to[..n]);
        Ok(n)
    }
}

impl Write for Tap {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.stream.flush()
    }
}

/// A provider with a certificate for `name`.
fn provider(authority: &Authority, name: &str) -> (u16, Receiver<Arrived>) {
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec![name.to_string()]).unwrap().signed_by(&key, authority).unwrap();
    let key = PrivatePkcs8KeyDer::from(key.serialize_der()).into();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = Arc::new(config.with_single_cert(vec![own.der().clone()], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, (told, arrived)) = (listener.local_addr().unwrap().port(), channel());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(config.clone()).unwrap();
            let mut secure = StreamOwned::new(connection, Tap { stream, raw: Vec::new() });
            let head = head(&mut secure);
            let _ = secure.write_all(OK.as_bytes());
            secure.conn.send_close_notify();
            let _ = secure.flush();
            let _ = told.send(Arrived { head, raw: secure.sock.raw });
        }
    });
    (port, arrived)
}

/// What the step says (status, code, body), and how many requests carried the key.
fn asked(host: Host, port: u16, trusted: &Path) -> (String, u64) {
    let script = "curl -sS -i $P_URL/x -H \"Authorization: Bearer $P_KEY\" -H 'x-api-key: mine'";
    let factory = factory_for(&format!("https://localhost:{port}"), script);
    keep(&factory);
    let with_roots = |mut command: std::process::Command| {
        command.env("SSL_CERT_FILE", trusted);
        command
    };
    let _serve = (host == Host::Serve).then(|| Serve::by(with_roots(factory.command())));
    let mut run = if host == Host::Run { with_roots(factory.command()) } else { factory.command() };
    let output = run.args(["run", "s", "--attempt", "a"]).output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(!out.contains(KEY) && out.starts_with("HTTP/1.1 "), "{out}{}", String::from_utf8_lossy(&output.stderr));
    let summary = factory.lines("events.jsonl").pop().unwrap();
    (out, summary["injected"]["p"].as_u64().unwrap())
}

#[test]
fn the_key_goes_to_the_name_that_a_trusted_authority_vouches_for() {
    let (ours, other, folder) = (authority(), authority(), tempfile::tempdir().unwrap());
    let pem = |name: &str, authority: &Authority| {
        let path = folder.path().join(name);
        std::fs::write(&path, authority.pem()).unwrap();
        path
    };
    let (trusted, unknown) = (pem("ours", &ours), pem("other", &other));
    for host in HOSTS {
        let (port, arrived) = provider(&ours, "localhost");
        let (out, count) = asked(host, port, &trusted);
        assert!(out.starts_with("HTTP/1.1 200 ") && out.ends_with("hello") && count == 1, "{count}: {out}");
        let got = arrived.recv().unwrap();
        assert_eq!(got.head.matches(KEY).count(), 1, "{}", got.head);
        assert!(got.head.contains(&format!("\r\nauthorization: bearer {KEY}\r\n")), "{}", got.head);
        assert!(
            got.head.contains(&format!("\r\nhost: localhost:{port}\r\n")) && !got.head.contains("mine"),
            "{}",
            got.head
        );
        assert!(!got.raw.windows(KEY.len()).any(|part| part == KEY.as_bytes()), "in the clear");
        for (name, roots) in [("localhost", &unknown), ("other.example", &trusted), ("127.0.0.1", &trusted)] {
            let (port, arrived) = provider(&ours, name);
            let (out, count) = asked(host, port, roots);
            assert_eq!(count, 0, "{name}: {out}");
            assert!(
                out.starts_with("HTTP/1.1 502 ") && out.contains("x-kusaw-egress: upstream-error"),
                "{name}: {out}"
            );
            let got = arrived.recv().unwrap();
            assert!(!got.raw.is_empty() && got.head.is_empty(), "{name}: {}", got.head);
            assert!(!got.raw.windows(KEY.len()).any(|part| part == KEY.as_bytes()));
        }
    }
}

#[test]
fn where_nobody_is_trusted_the_step_is_not_started() {
    let nothing = tempfile::NamedTempFile::new().unwrap();
    let factory = factory_for("https://localhost:9", "echo ran");
    keep(&factory);
    let mut run = factory.command();
    let output = run.args(["run", "s", "--attempt", "a"]).env("SSL_CERT_FILE", nothing.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(125) && output.stdout.is_empty() && said.contains("SSL_CERT_FILE"), "{said}");
}
