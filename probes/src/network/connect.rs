//! `connect [--proxy none|connect|http] [--times N] [--parallel N] [--timeout MS] HOST:PORT`: tries to
//! get an answer of an origin, directly, through a CONNECT tunnel of $HTTPS_PROXY, or by an
//! absolute-form GET through $HTTP_PROXY. To a proxy HOST:PORT goes exactly as given, however odd,
//! with the user and password that the proxy's URL has. Each try ends within its timeout.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Mutex, RwLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::action::Action;
use crate::json::Json;
use crate::network::http::{self, Connection};
use crate::network::proxy::{self, Proxy};
use crate::network::resolve::resolve;
use crate::seen::{self, Seen};
use crate::words::{Usage, Words};

/// Connects, once or often.
pub struct Connect {
    via: Via,
    times: u32,
    parallel: u32,
    timeout: Duration,
    target: String,
    host: String,
    port: u16,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Via {
    Direct,
    Tunnel,
    Http,
}

impl Connect {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let via = match words.value("--proxy")?.as_ref().map(|word| word.to_string_lossy()).as_deref() {
            None | Some("none") => Via::Direct,
            Some("connect") => Via::Tunnel,
            Some("http") => Via::Http,
            Some(other) => {
                return Err(Usage(format!("--proxy is none, connect or http, not {other:?}")));
            }
        };
        let times = words.number("--times", 1_u32)?.max(1);
        let parallel = words.number("--parallel", 1_u32)?.max(1);
        let timeout = Duration::from_millis(words.number("--timeout", 5_000_u64)?.max(1));
        let [target] = words.exactly(["HOST:PORT"])?;
        let target = target.to_string_lossy().into_owned();
        let (host, port) = match target.rsplit_once(':').map(|(host, port)| (host, port.parse())) {
            Some((host, Ok(port))) => (host.to_owned(), port),
            _ if via == Via::Direct => {
                return Err(Usage(format!("expected HOST:PORT, got {target:?}")));
            }
            _ => (target.clone(), 0),
        };
        Ok(Self { via, times, parallel, timeout, target, host, port })
    }

    /// One try.
    fn once(&self) -> Try {
        let mut attempt = Try::default();
        let deadline = Instant::now() + self.timeout;
        attempt.errno = self.exchange(deadline, &mut attempt).err().map(|Symbol(errno)| errno);
        attempt
    }

    /// Fills in what is seen as it is seen, so that an error keeps what came before it.
    fn exchange(&self, deadline: Instant, seen: &mut Try) -> Result<(), Symbol> {
        let Proxy { host, port, authorization } = self.dialled()?;
        let address = SocketAddr::new(resolve(&host, deadline)?, port);
        seen.address = Some(address);
        let stream = TcpStream::connect_timeout(&address, http::left(deadline)?)?;
        let mut connection = Connection::new(stream, deadline);
        if self.via == Via::Tunnel {
            let target = &self.target;
            let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorization}\r\n");
            connection.send(request.as_bytes())?;
            let head = connection.head()?;
            seen.status = http::status(&head);
            if !seen.welcome() {
                seen.reply = connection.reply(head)?;
                return Err(seen.refusal());
            }
        }
        connection.send(self.request(&authorization).as_bytes())?;
        seen.reply = connection.reply(Vec::new())?;
        if self.via == Via::Http {
            seen.status = http::status(&seen.reply);
            if !seen.welcome() {
                return Err(seen.refusal());
            }
        }
        if seen.reply.is_empty() { Err(Symbol("ENOREPLY".to_owned())) } else { Ok(()) }
    }

    /// Whom to call: the origin or the proxy.
    fn dialled(&self) -> Result<Proxy, Symbol> {
        let names = match self.via {
            Via::Direct => {
                return Ok(Proxy { host: self.host.clone(), port: self.port, authorization: String::new() });
            }
            Via::Tunnel => proxy::OF_TUNNELS,
            Via::Http => proxy::OF_REQUESTS,
        };
        Proxy::of(names).ok_or_else(|| Symbol("ENOPROXY".to_owned()))
    }

    fn request(&self, authorization: &str) -> String {
        let (target, host) = (&self.target, &self.host);
        match self.via {
            Via::Http => {
                format!("GET http://{target}/ HTTP/1.1\r\nHost: {target}\r\n{authorization}Connection: close\r\n\r\n")
            }
            _ => format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
        }
    }

    /// All tries: `parallel` threads that start together, each `times` tries in a row.
    fn tries(&self) -> Vec<Try> {
        let tries = Mutex::new(Vec::new());
        let gate = RwLock::new(());
        thread::scope(|scope| {
            let closed = gate.write();
            for _ in 0..self.parallel {
                let run = || {
                    drop(gate.read());
                    for _ in 0..self.times {
                        let attempt = self.once();
                        tries.lock().unwrap_or_else(|broken| broken.into_inner()).push(attempt);
                    }
                };
                if let Err(error) = thread::Builder::new().spawn_scoped(scope, run) {
                    let errno = Some(seen::errno(&error));
                    tries.lock().unwrap_or_else(|broken| broken.into_inner()).push(Try { errno, ..Try::default() });
                }
            }
            drop(closed);
        });
        tries.into_inner().unwrap_or_default()
    }
}

impl Action for Connect {
    fn target(&self) -> String {
        self.target.clone()
    }

    /// Shows the first failed try where there is one, else the last.
    fn run(&self) -> Seen {
        let tries = self.tries();
        let ok = tries.iter().filter(|attempt| attempt.errno.is_none()).count();
        let refused = tries.iter().filter(|attempt| attempt.status.is_some() && !attempt.welcome()).count();
        let Some(shown) = tries.iter().find(|attempt| attempt.errno.is_some()).or(tries.last()) else {
            return Seen::failed("ENOTRY", Json::Null);
        };
        let via = match self.via {
            Via::Direct => "none",
            Via::Tunnel => "connect",
            Via::Http => "http",
        };
        let detail = Json::object([
            ("via", Json::from(via)),
            ("address", shown.address.map_or(Json::Null, |address| Json::from(address.to_string()))),
            ("status", shown.status.map_or(Json::Null, Json::count)),
            ("reply", Json::from(&shown.reply[..])),
            ("attempts", Json::count(tries.len())),
            ("counts", Json::object([("ok", Json::count(ok)), ("refused", Json::count(refused))])),
        ]);
        Seen { errno: shown.errno.clone(), detail }
    }
}

/// What one try saw.
#[derive(Default)]
struct Try {
    address: Option<SocketAddr>,
    status: Option<u16>,
    reply: Vec<u8>,
    errno: Option<String>,
}

impl Try {
    fn welcome(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }

    fn refusal(&self) -> Symbol {
        Symbol(self.status.map_or("ENOREPLY".to_owned(), |status| format!("EPROXY{status}")))
    }
}

/// Why a try failed.
struct Symbol(String);

impl From<io::Error> for Symbol {
    /// A socket's own timeout shows as EAGAIN.
    fn from(error: io::Error) -> Self {
        let timeout = error.kind() == io::ErrorKind::WouldBlock;
        Self(if timeout { "ETIMEDOUT".to_owned() } else { seen::errno(&error) })
    }
}

impl From<&'static str> for Symbol {
    fn from(symbol: &'static str) -> Self {
        Self(symbol.to_owned())
    }
}
