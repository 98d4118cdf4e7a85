//! What the doctor does inside the sandbox: one request by the proxy to an allowed host, one to a blocked host, and
//! connections past the proxy. It reports what happened and judges nothing.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::watched::knock;
use crate::egress::grant::PROXY_PORT;

/// For a connection to the proxy, and for its answer.
const PATIENCE: Duration = Duration::from_secs(8);

/// Of an answer, in bytes.
const HEAD: u64 = 4096;

/// What is to be done.
#[derive(Debug, Serialize, Deserialize)]
pub struct Order {
    /// `HOST:PORT` of an allowed host, where there is one.
    pub allowed: Option<String>,
    /// Why there is none.
    #[serde(skip)]
    pub none: String,
    /// `HOST:PORT` of a blocked one.
    pub blocked: String,
    /// Addresses past the proxy.
    pub direct: Vec<SocketAddr>,
    /// To be said there.
    pub token: String,
}

/// What happened.
#[derive(Debug, Serialize, Deserialize)]
pub struct Seen {
    /// The status line to a CONNECT to the allowed host, or why there was none.
    pub allowed: Option<Result<String, String>>,
    /// The same for the blocked host.
    pub blocked: Result<String, String>,
    /// Each connection past the proxy, in the order of the addresses.
    pub direct: Vec<Result<(), String>>,
}

/// Carries out an [`Order`] and prints what was [`Seen`]; the value is the exit code.
pub fn inside(order: &str) -> i32 {
    let done = serde_json::from_str(order).map_err(io::Error::from).and_then(|order| {
        let text = serde_json::to_string(&carry_out(&order))?;
        io::stdout().write_all(text.as_bytes())
    });
    i32::from(done.is_err())
}

fn carry_out(order: &Order) -> Seen {
    let text = |e: io::Error| e.to_string();
    Seen {
        allowed: order.allowed.as_deref().map(|host| status_of(host).map_err(text)),
        blocked: status_of(&order.blocked).map_err(text),
        direct: order.direct.iter().map(|address| knock(*address, &order.token).map_err(text)).collect(),
    }
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
