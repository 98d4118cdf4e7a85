//! The way from a client to the origin: directly, or by a proxy that the environment names as it does for every program; and to
//! the provider, whose address the environment names too.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::event::Listener;
use crate::order::{By, Origin, Service};

/// Nothing here takes that long but what hangs.
const PATIENCE: Duration = Duration::from_secs(30);

const HEAD: usize = 64 << 10;

/// The variable that holds the provider's address.
pub const PROVIDER: &str = "PROVIDER_URL";

/// None: directly.
#[derive(Debug, Clone, Copy)]
pub struct Way(Option<SocketAddr>);

/// What the client takes for its provider.
#[derive(Debug, Clone)]
pub struct Provider {
    at: SocketAddr,
    /// Before each path.
    base: String,
}

/// To a request.
pub struct Answer {
    pub status: u16,
    /// Nothing more is answered on this connection.
    pub closes: bool,
}

impl Way {
    pub fn of_environment() -> io::Result<Way> {
        let Ok(url) = std::env::var("HTTPS_PROXY") else { return Ok(Way(None)) };
        let address = url.trim_start_matches("http://").trim_end_matches('/').parse();
        address.map(|address| Way(Some(address))).map_err(|e| io::Error::other(format!("HTTPS_PROXY {url}: {e}")))
    }

    /// A connection to the address, through the proxy with CONNECT.
    pub fn tunnel(self, to: SocketAddr) -> io::Result<TcpStream> {
        let mut stream = open(self.0.unwrap_or(to))?;
        if self.0.is_some() {
            ask(&mut stream, &to.to_string())?;
            let (status, _, rest) = head(&mut stream)?;
            expect(status, 200)?;
            if !rest.is_empty() {
                return Err(io::Error::other("bytes in a tunnel that nobody sent"));
            }
        }
        Ok(stream)
    }

    /// A CONNECT that the proxy is to refuse; true where there is one.
    pub fn refused(self, host: &str) -> io::Result<()> {
        let mut stream = open(self.proxy()?)?;
        ask(&mut stream, host)?;
        expect(answer(&mut stream)?.status, 403)
    }

    /// A connection for requests.
    pub fn for_requests(self, to: SocketAddr) -> io::Result<TcpStream> {
        open(self.0.unwrap_or(to))
    }

    /// A request for the host over such a connection.
    pub fn get(self, stream: &mut TcpStream, host: &str) -> io::Result<Answer> {
        let target = self.target(host);
        stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())?;
        answer(stream)
    }

    /// A stream of events from the origin.
    pub fn events(self, by: By, origin: &Origin, provider: &Provider) -> io::Result<Listener> {
        let to = origin.of(Service::Plain);
        let host = to.to_string();
        let (stream, target, host) = match by {
            By::Tunnel => (self.tunnel(to)?, "/".to_owned(), host),
            By::Request => (self.for_requests(to)?, self.target(&host), host),
            By::Injection => (provider.open()?, format!("{}/events", provider.base), provider.at.to_string()),
        };
        listen(stream, &target, &host)
    }

    /// Of a request for the root of a host.
    fn target(self, host: &str) -> String {
        if self.0.is_some() { format!("http://{host}/") } else { "/".to_owned() }
    }

    fn proxy(self) -> io::Result<SocketAddr> {
        self.0.ok_or_else(|| io::Error::other("no proxy"))
    }
}

impl Provider {
    /// The environment's; where it names none, this one.
    pub fn of_environment(otherwise: SocketAddr) -> io::Result<Provider> {
        let Ok(url) = std::env::var(PROVIDER) else { return Ok(Provider { at: otherwise, base: String::new() }) };
        let rest = url.trim_start_matches("http://").trim_end_matches('/');
        let (at, base) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let at = at.parse().map_err(|e| io::Error::other(format!("{PROVIDER} {url}: {e}")))?;
        Ok(Provider { at, base: base.to_owned() })
    }

    /// A connection for requests.
    pub fn open(&self) -> io::Result<TcpStream> {
        open(self.at)
    }

    /// A request with a body over such a connection.
    pub fn post(&self, stream: &mut TcpStream, body: &str) -> io::Result<Answer> {
        let Provider { at, base } = self;
        let length = body.len();
        let head = format!("POST {base}/messages HTTP/1.1\r\nHost: {at}\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes())?;
        answer(stream)
    }
}

pub fn expect(status: u16, wanted: u16) -> io::Result<()> {
    if status == wanted { Ok(()) } else { Err(io::Error::other(format!("status {status}, not {wanted}"))) }
}

fn open(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, PATIENCE)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn listen(mut stream: TcpStream, target: &str, host: &str) -> io::Result<Listener> {
    stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())?;
    let (status, _, came) = head(&mut stream)?;
    expect(status, 200)?;
    Ok(Listener::new(came, stream))
}

fn ask(stream: &mut TcpStream, host: &str) -> io::Result<()> {
    stream.write_all(format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
}

/// Read to its end, which the length tells or the connection's.
fn answer(stream: &mut TcpStream) -> io::Result<Answer> {
    let (status, head, body) = head(stream)?;
    let header = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let length =
        header("content-length").map(|length| length.parse::<usize>().map_err(io::Error::other)).transpose()?;
    let closes = header("connection").is_some_and(|value| value.contains("close")) || length.is_none();
    match length {
        Some(length) => stream.read_exact(&mut vec![0; length.saturating_sub(body.len())])?,
        None => stream.read_to_end(&mut Vec::new()).map(drop)?,
    }
    Ok(Answer { status, closes })
}

/// Status, the head in lower case, and what came behind it.
fn head(stream: &mut TcpStream) -> io::Result<(u16, String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let end = loop {
        let mut part = [0; 4096];
        let n = stream.read(&mut part)?;
        if n == 0 || bytes.len() > HEAD {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&part[..n]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let status = status.ok_or_else(|| io::Error::other(format!("no answer of HTTP: {head:?}")))?;
    Ok((status, head, bytes.split_off(end)))
}
