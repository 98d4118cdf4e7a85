//! `every-way HOST:PORT`: asks whoever listens to be led to HOST:PORT. It calls every TCP port that /proc shows somebody to
//! listen on (all ports, if it shows none), at both loopback addresses, and every socket file that it can see, and sends each
//! a CONNECT, and an absolute-form GET on another connection; who wants to know who asks is asked again, with each user that the
//! proxy variables have. It tells who could be called and what they said; it never waits long for an answer.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::time::Duration;

use nix::sys::socket::SockType;

use crate::action::Action;
use crate::json::Json;
use crate::network::proxy::{self, Proxy};
use crate::network::socket;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// For a connection on this machine.
const CALL: Duration = Duration::from_millis(200);
/// Without a word for so long, nothing more is awaited.
const SILENCE: Duration = Duration::from_millis(700);
/// The status of a proxy that wants to know who asks: 407 of RFC 9110.
const WHO_ASKS: &[u8] = b" 407 ";
const MAX_SAID: usize = 2048;
/// Folders of the kernel's, where no socket lies.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Asks everybody.
pub struct EveryWay {
    target: String,
    /// The header lines that the proxies of the environment ask for.
    authorizations: BTreeSet<String>,
}

impl EveryWay {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [target] = words.exactly(["HOST:PORT"])?;
        let named = [proxy::OF_TUNNELS, proxy::OF_REQUESTS].into_iter().filter_map(Proxy::of);
        let authorizations = named.map(|proxy| proxy.authorization).filter(|line| !line.is_empty()).collect();
        Ok(Self { target: target.to_string_lossy().into_owned(), authorizations })
    }

    /// What somebody says to all requests; none if he cannot be called.
    fn said(&self, call: impl Fn() -> io::Result<OwnedFd>) -> Option<Vec<u8>> {
        let mut said = self.said_to(&call, "")?;
        if said.windows(WHO_ASKS.len()).any(|part| part == WHO_ASKS) {
            said.extend(self.authorizations.iter().filter_map(|line| self.said_to(&call, line)).flatten());
        }
        Some(said)
    }

    /// The same, of two requests that have this header line.
    fn said_to(&self, call: impl Fn() -> io::Result<OwnedFd>, authorization: &str) -> Option<Vec<u8>> {
        let target = &self.target;
        let origin = format!("GET / HTTP/1.1\r\nHost: {target}\r\nConnection: close\r\n\r\n");
        let mut connection = File::from(call().ok()?);
        let tunnel = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n");
        let mut said = answer(&mut connection, &tunnel);
        if said.starts_with(b"HTTP/1.1 2") || said.starts_with(b"HTTP/1.0 2") {
            said.extend(answer(&mut connection, &origin));
        }
        if let Ok(connection) = call() {
            let absolute = origin.replacen("GET /", &format!("GET http://{target}/"), 1);
            let absolute = absolute.replacen("\r\n", &format!("\r\n{authorization}"), 1);
            said.extend(answer(&mut File::from(connection), &absolute));
        }
        Some(said)
    }
}

impl Action for EveryWay {
    fn target(&self) -> String {
        self.target.clone()
    }

    fn run(&self) -> Seen {
        let mut said = Vec::new();
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
        let mut ports: Vec<u16> = tables.iter().flat_map(|table| listening(table)).collect();
        if ports.is_empty() {
            ports = (1..=u16::MAX).collect();
        }
        ports.sort_unstable();
        ports.dedup();
        for host in [IpAddr::from(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
            for &port in &ports {
                let address = SocketAddr::new(host, port);
                said.extend(self.said(|| tcp(address)).map(|words| (address.to_string(), words)));
            }
        }
        for path in socket_files() {
            said.extend(self.said(|| unix(&path)).map(|words| (path.to_string_lossy().into_owned(), words)));
        }
        let told = |(at, words): (String, Vec<u8>)| {
            Json::object([("at", Json::from(at)), ("said", Json::from(&words[..words.len().min(MAX_SAID)]))])
        };
        Seen::ok(Json::object([("open", Json::list(said.into_iter().map(told)))]))
    }
}

/// The ports in state LISTEN (0A) of a table of proc_net(5).
fn listening(table: &str) -> Vec<u16> {
    let port = |line: &str| {
        let mut words = line.split_whitespace();
        let (_, port) = words.nth(1)?.rsplit_once(':')?;
        (words.nth(1)? == "0A").then_some(())?;
        u16::from_str_radix(port, 16).ok()
    };
    table.lines().filter_map(port).collect()
}

fn tcp(address: SocketAddr) -> io::Result<OwnedFd> {
    let stream = TcpStream::connect_timeout(&address, CALL)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    Ok(stream.into())
}

fn unix(path: &OsString) -> io::Result<OwnedFd> {
    let stream = socket::connected(SockType::Stream, path)?;
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(SILENCE))?;
    stream.set_write_timeout(Some(SILENCE))?;
    Ok(stream.into())
}

/// What comes back, up to the end, a silence, or enough; an error ends it like silence.
fn answer(connection: &mut File, request: &str) -> Vec<u8> {
    let mut said = Vec::new();
    let mut buffer = [0; MAX_SAID];
    if connection.write_all(request.as_bytes()).is_ok() {
        while let Ok(length @ 1..) = connection.read(&mut buffer) {
            said.extend(&buffer[..length]);
            if said.len() >= MAX_SAID || (request.starts_with("CONNECT ") && said.ends_with(b"\r\n\r\n")) {
                break;
            }
        }
    }
    said
}

/// Every socket that has a name in a folder that can be listed; links are not followed.
fn socket_files() -> Vec<OsString> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from("/")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_socket() => found.push(entry.path().into_os_string()),
                Ok(kind) if kind.is_dir() && !KERNEL.iter().any(|k| *entry.path() == **k) => folders.push(entry.path()),
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_stands_in_the_table() {
        let table = "  sl  local_address rem_address   st tx_queue\n   0: 0100007F:0C38 00000000:0000 0A 00000000:00000000\n   1: 0100007F:1F90 0100007F:0C38 01 0\n";
        assert_eq!(listening(table), [3128]);
    }
}
