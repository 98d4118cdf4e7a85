//! What the doctor does inside the sandbox: one request by the proxy to an allowed host, one to a blocked host, one
//! connection past the proxy. It reports what happened and judges nothing.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::egress::grant::PROXY_PORT;

/// For each connection, and for each of its answers.
const PATIENCE: Duration = Duration::from_secs(8);

/// Of an answer, in bytes.
const HEAD: u64 = 4096;

/// What happened.
#[derive(Debug, Serialize, Deserialize)]
pub struct Seen {
    /// The status line to a CONNECT to the allowed host, or why there was none.
    pub allowed: Result<String, String>,
    /// The same for the blocked host.
    pub blocked: Result<String, String>,
    /// A connection past the proxy.
    pub direct: Result<(), String>,
}

/// Asks for the two hosts (each `HOST:PORT`), connects to the address, and prints what happened; the value is the exit code.
pub fn inside(allowed: &str, blocked: &str, direct: SocketAddr) -> i32 {
    let text = |e: io::Error| e.to_string();
    let seen = Seen {
        allowed: status_of(allowed).map_err(text),
        blocked: status_of(blocked).map_err(text),
        direct: TcpStream::connect_timeout(&direct, PATIENCE).map(drop).map_err(text),
    };
    let printed = serde_json::to_string(&seen).map_err(io::Error::from);
    let printed = printed.and_then(|text| io::stdout().write_all(text.as_bytes()));
    i32::from(printed.is_err())
}

fn status_of(host: &str) -> io::Result<String> {
    let proxy = SocketAddr::from(([127, 0, 0, 1], PROXY_PORT));
    let mut stream = TcpStream::connect_timeout(&proxy, PATIENCE)?;
    // The proxy itself gives up after 5 s for the name and 30 s for the connection.
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())?;
    let mut head = Vec::new();
    let mut byte = [0];
    while (head.len() as u64) < HEAD && !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte)? == 1 {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    let code =
        head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("x-kusaw-egress: ").map(str::to_owned));
    let status = head.lines().next().unwrap_or_default().split(' ').nth(1).unwrap_or("no answer").to_owned();
    Ok(code.map_or(status.clone(), |code| format!("{status} {code}")))
}
