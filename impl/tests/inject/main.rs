//! Injected keys through the real sandbox, judged at a fake provider on the host's loopback; and what the listener does
//! with odd clients and odd providers, in this process.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../egress/accepted.rs"]
mod accepted;
#[path = "../factory/mod.rs"]
mod factory;
mod flat;
mod hidden;
mod hostile;
mod key;
mod odd;
mod prompt;
mod refused;
mod stream;
mod tls;
mod wire;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use factory::Factory;
use factory::serve::Serve;

pub const KEY: &str = "sk-canary-4f9b2c7d";

pub const OK: &str = "HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 5\r\n\r\nhello";

/// Who hosts the proxy, and so reads the key.
pub const HOSTS: [Host; 2] = [Host::Run, Host::Serve];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    Run,
    Serve,
}

impl Host {
    /// The `serve` of this factory, where that is to host.
    pub fn start(self, factory: &Factory) -> Option<Serve> {
        (self == Host::Serve).then(|| Serve::of(factory))
    }
}

/// Answers every request with the same bytes and hands over each head that arrived.
pub fn provider(answer: &'static str) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, (told, heads)) = (listener.local_addr().unwrap().port(), channel());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = told.send(head(&mut stream));
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, heads)
}

/// A request's head in small letters, or what came of it.
pub fn head(from: &mut impl Read) -> String {
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match from.read(&mut piece) {
            Ok(n) if n > 0 => head.extend_from_slice(&piece[..n]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&head).to_ascii_lowercase()
}

/// Its step `s` runs a script and has the key for `upstream`.
pub fn factory_for(upstream: &str, script: &str) -> Factory {
    let inject = format!("{{name: p, upstream: '{upstream}', base_url_env: P_URL, base_path: /v1, key_env: P_KEY}}");
    let yaml = format!(
        "sandbox: {{mode: required, network: allowlist, egress: {{inject: [{inject}]}}}}\nsteps:\n  s:\n    run: [sh, -c, {script:?}]\n"
    );
    Factory::new(&yaml)
}

pub fn factory(port: u16, script: &str) -> Factory {
    factory_for(&format!("http://127.0.0.1:{port}"), script)
}

pub fn keep(factory: &Factory) {
    keep_by(factory.command());
}

pub fn keep_by(mut set: Command) {
    let mut set = set.args(["config", "set", "P_KEY", "--secret"]).stdin(Stdio::piped()).spawn().unwrap();
    set.stdin.take().unwrap().write_all(format!("{KEY}\n").as_bytes()).unwrap();
    assert!(set.wait().unwrap().success());
}
