//! `converse [--eof] [--timeout MS] [--lull MS] [--answers N] proxy|HOST:PORT|url:VARIABLE BYTES..`: sends raw bytes to the
//! proxy of the environment, to an address, or to the service whose http URL a variable holds (`{authority}` and `{base}` are
//! its parts then), and tells what came back. Where the proxy's URL has a user, each request to the proxy names it. Each BYTES is one write, with the escapes of `bytes`; behind each it listens
//! until nothing came for a while, so that several answers are heard, or none; with `--answers` until so many have begun.
//! `--eof` closes its own half at the end.

use std::ffi::OsString;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use crate::action::Action;
use crate::json::Json;
use crate::network::base_url::BaseUrl;
use crate::network::http::{self, Connection};
use crate::network::proxy::{self, Proxy};
use crate::network::resolve::resolve;
use crate::network::{bytes, http::status};
use crate::seen::{self, Seen};
use crate::words::{Usage, Words};

/// The most that is kept of what comes back.
const MAX: usize = 64 << 10;
/// How much of it is shown.
const SHOWN: usize = 20 << 10;

/// Sends bytes, and listens.
pub struct Converse {
    eof: bool,
    timeout: Duration,
    lull: Duration,
    /// Behind each write.
    least: usize,
    to: String,
    writes: Vec<Vec<u8>>,
}

impl Converse {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let eof = words.flag("--eof");
        let timeout = Duration::from_millis(words.number("--timeout", 5_000_u64)?.max(1));
        let lull = Duration::from_millis(words.number("--lull", 400_u64)?.max(1));
        let least = words.number("--answers", 0_usize)?;
        let rest = words.rest();
        let Some((to, writes)) = rest.split_first().filter(|(_, writes)| !writes.is_empty()) else {
            return Err(Usage(format!("expected proxy|HOST:PORT|url:VARIABLE BYTES.., got {rest:?}")));
        };
        let bytes = |word: &OsString| {
            bytes::unescaped(word.as_bytes()).ok_or_else(|| Usage(format!("{word:?} has an escape that is none")))
        };
        let writes = writes.iter().map(bytes).collect::<Result<_, _>>()?;
        let to = to.to_string_lossy().into_owned();
        if to != "proxy" && variable(&to).is_none() && authority(&to).is_none() {
            return Err(Usage(format!("expected proxy, HOST:PORT or url:VARIABLE, got {to:?}")));
        }
        Ok(Self { eof, timeout, lull, least, to, writes })
    }

    /// Whom to call, and the header line that he asks for.
    fn called(&self, url: Option<&BaseUrl>, deadline: Instant) -> Result<(SocketAddr, String), String> {
        let (host, port, authorization) = match (url, self.to.as_str()) {
            (Some(url), _) => (url.host.clone(), url.port, String::new()),
            (None, "proxy") => {
                let Proxy { host, port, authorization } = Proxy::of(proxy::OF_REQUESTS).ok_or("ENOPROXY")?;
                (host, port, authorization)
            }
            (None, place) => authority(place).map(|(host, port)| (host, port, String::new())).ok_or("EINVAL")?,
        };
        Ok((SocketAddr::new(resolve(&host, deadline)?, port), authorization))
    }

    /// Fills in what is heard as it is heard.
    fn talk(&self, heard: &mut Heard) -> Result<(), String> {
        let deadline = Instant::now() + self.timeout;
        let symbol = |error: io::Error| seen::errno(&error);
        let url = variable(&self.to).map(|name| BaseUrl::of(name).ok_or("ENOURL")).transpose()?;
        let (address, mut authorization) = self.called(url.as_ref(), deadline)?;
        let stream = TcpStream::connect_timeout(&address, http::left(deadline).map_err(symbol)?).map_err(symbol)?;
        let mut connection = Connection::new(stream, deadline);
        for (at, write) in self.writes.iter().enumerate() {
            let write = url.as_ref().map_or_else(|| authorized(write, &authorization), |url| url.filled(write));
            if let Err(error) = connection.send(&write) {
                heard.closed = true; // whoever hangs up in the middle may have said why
                heard.errors.push(symbol(error));
            }
            if self.eof && at + 1 == self.writes.len() {
                let _ = connection.shutdown(Shutdown::Write);
            }
            let mut answer = connection.until_lull(self.lull, MAX, &mut heard.closed);
            while !heard.closed && statuses(&answer).len() < self.least && Instant::now() < deadline {
                answer.extend(connection.until_lull(self.lull, MAX, &mut heard.closed));
            }
            if write.starts_with(b"CONNECT ") && status(&answer).is_some_and(|code| (200..300).contains(&code)) {
                authorization.clear(); // what follows is for the host at the tunnel's end
            }
            heard.answers.push(answer);
            if heard.closed {
                break;
            }
        }
        Ok(())
    }
}

/// What came back.
#[derive(Default)]
struct Heard {
    answers: Vec<Vec<u8>>,
    /// Whether the other side has hung up.
    closed: bool,
    errors: Vec<String>,
}

impl Action for Converse {
    fn target(&self) -> String {
        self.to.clone()
    }

    fn run(&self) -> Seen {
        let mut heard = Heard::default();
        let result = self.talk(&mut heard);
        let all: Vec<u8> = heard.answers.concat();
        let shown = |answer: &Vec<u8>| Json::from(bytes::escaped(&answer[..answer.len().min(SHOWN)]));
        let detail = Json::object([
            ("answers", Json::list(heard.answers.iter().map(shown))),
            ("statuses", Json::list(statuses(&all).into_iter().map(Json::count))),
            ("bytes", Json::count(all.len())),
            ("closed", Json::Bool(heard.closed)),
            ("errors", Json::list(heard.errors)),
        ]);
        Seen { errno: result.err(), detail }
    }
}

/// What is written to a proxy that asks who asks: the request line of each head, which begins it or follows an empty line, has
/// this header line behind it.
fn authorized(write: &[u8], authorization: &str) -> Vec<u8> {
    let (mut all, mut begins) = (Vec::new(), true);
    for line in write.split_inclusive(|byte| *byte == b'\n') {
        all.extend(line);
        if begins && [&b" HTTP/1.1\r\n"[..], b" HTTP/1.0\r\n"].iter().any(|end| line.ends_with(end)) {
            all.extend(authorization.as_bytes());
        }
        begins = line == b"\r\n" || (begins && !line.ends_with(b"\r\n")); // a request line may have a line feed in it
    }
    all
}

/// The codes of all status lines in a stream of answers. A body that has one is counted too: nothing is parsed here.
fn statuses(all: &[u8]) -> Vec<u16> {
    let starts = (0..all.len()).filter(|at| all[*at..].starts_with(b"HTTP/1."));
    starts.filter_map(|at| status(&all[at..all.len().min(at + 16)])).collect()
}

/// The variable that holds the URL.
fn variable(to: &str) -> Option<&str> {
    to.strip_prefix("url:")
}

fn authority(text: &str) -> Option<(String, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    Some((host.to_owned(), port.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_is_found() {
        assert_eq!(statuses(b"HTTP/1.1 200 OK\r\n\r\nokHTTP/1.0 403 No\r\n\r\n"), [200, 403]);
        assert_eq!(statuses(b"220 mail\r\n"), [0_u16; 0]);
    }
    #[test]
    fn each_request_of_a_write_names_its_user() {
        let named = |write: &str| String::from_utf8(authorized(write.as_bytes(), "A: b\r\n")).unwrap();
        let one = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        assert_eq!(named(&[one, one].concat()), "GET / HTTP/1.1\r\nA: b\r\nHost: a\r\n\r\n".repeat(2));
        assert_eq!(named("CONNECT a\nb HTTP/1.0\r\n\r\n"), "CONNECT a\nb HTTP/1.0\r\nA: b\r\n\r\n");
        assert_eq!(named("SSH-2.0-x\r\n"), "SSH-2.0-x\r\n");
        assert_eq!(named("GET / HTTP/1.1\r\nX: HTTP/1.1\r\n").matches("A: b").count(), 1);
    }
}
