//! An attempt's proxy on a loopback port, the network behind it, and an origin.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kusaw::egress::dial::{Answer as Found, Later, Network};
use kusaw::egress::entry::Entry;
use kusaw::egress::grant::Role;
use kusaw::egress::limits::{Limits, Place, Shared};
use kusaw::egress::log::Log;
use kusaw::egress::policy::Policy;
use kusaw::egress::proxy::{self, Attempt};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longer than anything here takes; a test that waits for it has failed.
pub const LONG: Duration = Duration::from_secs(60);

/// Names with their answers, one after the other; the last stays. Every address leads to the origin, but for those that
/// lead nowhere.
#[derive(Debug)]
pub struct Outside {
    pub answers: HashMap<String, Vec<Vec<IpAddr>>>,
    pub origin: Option<SocketAddr>,
    pub lookups: Mutex<Vec<String>>,
    pub dialled: Mutex<Vec<SocketAddr>>,
    /// Of this machine.
    pub own: Mutex<Vec<IpAddr>>,
    /// Look-ups of names below `slow.example` go on until there are permits, whoever waits.
    pub slow: Arc<Semaphore>,
}

/// Nobody answers there.
pub const NOWHERE: &str = "198.60.22.";

impl Network for Outside {
    fn resolve(&self, name: &str, place: Place) -> Later<Found> {
        let mut lookups = self.lookups.lock().unwrap();
        let nth = lookups.iter().filter(|n| *n == name).count();
        lookups.push(name.into());
        let answer = self.answers.get(name).map(|all| all[nth.min(all.len() - 1)].clone());
        let own = self.own.lock().unwrap().clone();
        let slow = name.ends_with(".slow.example").then(|| self.slow.clone());
        let looked_up = tokio::spawn(async move {
            let _place = place;
            if let Some(slow) = slow {
                drop(slow.acquire().await.unwrap());
            }
            let addresses = answer.ok_or_else(|| io::Error::other("no such name"))?;
            Ok(Found { addresses, own })
        });
        Box::pin(async move { looked_up.await.unwrap() })
    }

    fn connect(&self, address: SocketAddr) -> Later<TcpStream> {
        self.dialled.lock().unwrap().push(address);
        if address.to_string().starts_with(NOWHERE) {
            return Box::pin(std::future::pending());
        }
        let origin = self.origin.unwrap();
        Box::pin(TcpStream::connect(origin))
    }
}

pub struct World {
    folder: tempfile::TempDir,
    pub outside: Arc<Outside>,
    pub attempt: Arc<Attempt>,
    pub address: SocketAddr,
    /// The proxy's, once more.
    pub listener: std::net::TcpListener,
    pub origin: Origin,
    stop: watch::Sender<()>,
    serving: JoinHandle<()>,
}

pub struct Setup {
    pub allow: Vec<String>,
    pub answers: Vec<(String, Vec<Vec<IpAddr>>)>,
    pub limits: Limits,
    pub sni: bool,
    pub role: Role,
    pub own: bool,
    pub shared: Option<Arc<Shared>>,
}

/// A world that allows these; each name in it that is not given has one public address.
pub fn allow(entries: &[&str]) -> Setup {
    Setup {
        allow: entries.iter().map(|e| e.to_string()).collect(),
        answers: Vec::new(),
        limits: Limits::default(),
        sni: true,
        role: Role::Proxy,
        own: false,
        shared: None,
    }
}

impl Setup {
    pub fn answer(mut self, name: &str, answers: &[&[&str]]) -> Setup {
        let answers = answers.iter().map(|a| a.iter().map(|a| a.parse().unwrap()).collect()).collect();
        self.answers.push((name.into(), answers));
        self
    }

    pub fn limits(mut self, shrink: impl FnOnce(&mut Limits)) -> Setup {
        shrink(&mut self.limits);
        self
    }

    pub async fn start(self) -> World {
        let origin = Origin::start().await;
        let entries: Vec<Entry> = self.allow.iter().map(|e| Entry::parse(e).unwrap()).collect();
        let named = entries.iter().map(|e| e.to_string().split(':').next().unwrap().replace('*', "a"));
        let mut answers: HashMap<_, _> = named.map(|n| (n, vec![vec!["93.184.216.34".parse().unwrap()]])).collect();
        answers.extend(self.answers);
        let outside = Arc::new(Outside {
            answers,
            origin: Some(origin.address),
            lookups: Mutex::default(),
            dialled: Mutex::default(),
            own: Mutex::default(),
            slow: Arc::new(Semaphore::new(0)),
        });
        let shared = self.shared.unwrap_or_else(|| Arc::new(Shared::over(self.limits, 20_000, outside.clone())));
        let folder = tempfile::tempdir().unwrap();
        let log = File::create(folder.path().join("egress.log")).unwrap();
        let log = Log::new("a", log, File::create(folder.path().join("events.jsonl")).unwrap());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let again = listener.try_clone().unwrap();
        let listener = proxy::adopt(listener).unwrap();
        let policy = Policy::new(&entries).refusing(self.own.then_some(address));
        let attempt = Arc::new(Attempt::new(policy, log, self.sni, None, shared));
        let (stop, stopped) = watch::channel(());
        let serving = tokio::spawn(proxy::serve(listener, self.role, attempt.clone(), stopped));
        World { folder, outside, attempt, address, listener: again, origin, stop, serving }
    }
}

impl World {
    pub async fn connect(&self) -> Client {
        Client(TcpStream::connect(self.address).await.unwrap())
    }

    /// One request on its own connection.
    pub async fn ask(&self, request: &str) -> Answer {
        let mut client = self.connect().await;
        client.send(request.as_bytes()).await;
        client.answer().await
    }

    pub fn log(&self) -> Vec<Value> {
        lines(self.folder.path().join("egress.log"))
    }

    /// Ends the attempt and returns its events.
    pub async fn end(self) -> (Vec<Value>, Origin) {
        drop(self.stop);
        timeout(LONG, self.serving).await.unwrap().unwrap();
        self.attempt.log.close().unwrap();
        (lines(self.folder.path().join("events.jsonl")), self.origin)
    }
}

fn lines(path: PathBuf) -> Vec<Value> {
    std::fs::read_to_string(path).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

pub struct Client(pub TcpStream);

/// An answer; everything is empty when the connection was closed without one.
#[derive(Debug, Default)]
pub struct Answer {
    pub status: u16,
    pub code: String,
    pub head: String,
    pub body: String,
}

impl Client {
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes).await;
    }

    pub async fn answer(&mut self) -> Answer {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match timeout(LONG, self.0.read_u8()).await.unwrap() {
                Ok(byte) => head.push(byte),
                Err(_) => return Answer::default(),
            }
        }
        let head = String::from_utf8(head).unwrap();
        let value = |name: &str| {
            let found = head.lines().find(|l| l.to_ascii_lowercase().starts_with(&format!("{name}:")));
            found.map(|l| l.split_once(':').unwrap().1.trim().to_string()).unwrap_or_default()
        };
        let mut body = vec![0; value("content-length").parse().unwrap_or(0)];
        timeout(LONG, self.0.read_exact(&mut body)).await.unwrap().unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, code: value("x-kusaw-egress"), body: String::from_utf8(body).unwrap(), head }
    }

    /// What comes until the other side ends.
    pub async fn rest(&mut self) -> io::Result<Vec<u8>> {
        let mut all = Vec::new();
        timeout(LONG, self.0.read_to_end(&mut all)).await.unwrap().map(|_| all)
    }

    pub async fn exactly(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        timeout(LONG, self.0.read_exact(&mut bytes)).await.unwrap().unwrap();
        bytes
    }
}

impl Answer {
    /// Status and code.
    pub fn short(&self) -> String {
        format!("{} {}", self.status, self.code).trim().to_string()
    }
}

/// Answers a request with its head, everything else with the same bytes; `/NAME` asks for something odd.
pub struct Origin {
    pub address: SocketAddr,
    got: Arc<Mutex<Vec<Vec<u8>>>>,
    task: JoinHandle<()>,
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Origin {
    async fn start() -> Origin {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let got: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let all = got.clone();
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(converse(stream, all.clone()));
            }
        });
        Origin { address, got, task }
    }

    /// Bytes of each connection.
    pub fn got(&self) -> Vec<String> {
        self.got.lock().unwrap().iter().map(|b| String::from_utf8_lossy(b).into_owned()).collect()
    }
}

async fn converse(mut stream: TcpStream, got: Arc<Mutex<Vec<Vec<u8>>>>) {
    let mine = {
        let mut all = got.lock().unwrap();
        all.push(Vec::new());
        all.len() - 1
    };
    let mut bytes = vec![0; 64 << 10];
    while let Ok(n @ 1..) = stream.read(&mut bytes).await {
        got.lock().unwrap()[mine].extend_from_slice(&bytes[..n]);
        let text = String::from_utf8_lossy(&bytes[..n]).into_owned();
        let Some((head, _)) = text.split_once(" HTTP/1.1\r\n") else {
            if stream.write_all(&bytes[..n]).await.is_err() {
                break;
            }
            continue;
        };
        let answer = match head.split(' ').nth(1).unwrap() {
            "/redirect" => "HTTP/1.1 302 Found\r\nLocation: http://b.evil/\r\nContent-Length: 0\r\n\r\n".into(),
            "/switch" => "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n".into(),
            "/flood" => "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(1_000),
            "/large" => format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "x".repeat(200_000)),
            "/close" => break,
            "/lengths" => {
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n"
                    .into()
            }
            "/coded" => "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabcdef".into(),
            "/hints" => "HTTP/1.1 103 E\r\n\r\n".repeat(17) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
            "/own" => "HTTP/1.1 403 F\r\nX-Kusaw-Egress: self\r\nContent-Length: 2\r\n\r\nno".into(),
            "/broken" => {
                let half = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n";
                let _ = stream.write_all(half).await;
                break;
            }
            "/later" => {
                tokio::time::sleep(Duration::from_millis(500)).await;
                "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlater".into()
            }
            _ => format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: keep-alive, x-hop\r\nX-Hop: 1\r\n\r\n{text}",
                text.len()
            ),
        };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            break;
        }
    }
    let _ = stream.shutdown().await;
}
