//! The injecting listener in this process, with limits that a test can wait for, and raw connections on both sides.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use kusaw::egress::grant::Role;
use kusaw::egress::inject::Injection;
use kusaw::egress::inject::route::{Route, segment};
use kusaw::egress::limits::{Limits, Shared};
use kusaw::egress::log::Log;
use kusaw::egress::policy::Policy;
use kusaw::egress::proxy::{self, Attempt};
use kusaw::store::{Secret, Store};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use zeroize::Zeroizing;

use super::KEY;

/// Longer than anything here takes; a test that waits for it has failed.
pub const LONG: Duration = Duration::from_secs(60);

/// One attempt with one key.
pub struct Wire {
    attempt: Arc<Attempt>,
    address: SocketAddr,
    segment: String,
    stop: watch::Sender<()>,
    serving: JoinHandle<()>,
    runtime: Runtime,
    folder: TempDir,
}

impl Wire {
    pub fn to(port: u16) -> Wire {
        Wire::with(port, |_| {})
    }

    pub fn with(port: u16, shrink: impl FnOnce(&mut Limits)) -> Wire {
        let mut limits = Limits::default();
        shrink(&mut limits);
        Wire::sharing(port, Arc::new(Shared::new(limits, 20_000)))
    }

    /// In the same process as others that share this.
    pub fn sharing(port: u16, shared: Arc<Shared>) -> Wire {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        store.set("k", &Secret::new(Zeroizing::new(KEY.into()))).unwrap();
        let runtime = Runtime::new().unwrap();
        let _entered = runtime.enter();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, segment) = (listener.local_addr().unwrap(), segment().unwrap());
        let [upstream, header, format] =
            [&format!("http://127.0.0.1:{port}"), "authorization", "Bearer {}"].map(str::to_string);
        let route = Route { name: "p".into(), upstream, header, format, secret: "k".into(), segment: segment.clone() };
        let injection = Injection::open(&[route], address.port(), &store).unwrap();
        let record = |name| File::create(folder.path().join(name)).unwrap();
        let log = Log::new("a", record("egress.log"), record("events.jsonl"));
        let attempt = Arc::new(Attempt::new(Policy::new(&[]), log, true, Some(injection), shared));
        let (stop, stopped) = watch::channel(());
        let listener = proxy::adopt(listener).unwrap();
        let serving = runtime.spawn(proxy::serve(listener, Role::Inject, attempt.clone(), stopped));
        drop(_entered);
        Wire { attempt, address, segment, stop, serving, runtime, folder }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream
    }

    /// The head of a request to the route, its end excepted.
    pub fn request(&self, line: &str) -> String {
        let (method, rest) = line.split_once(' ').unwrap();
        let version = if rest.contains(" HTTP/") { "" } else { " HTTP/1.1" };
        format!("{method} /{}{rest}{version}\r\nHost: {}\r\n", self.segment, self.address)
    }

    pub fn path(&self) -> String {
        format!("/{}", self.segment)
    }

    /// What comes of these bytes, until the other side ends; none where it breaks off.
    pub fn say(&self, bytes: &[u8]) -> Option<String> {
        let mut stream = self.connect();
        let _ = stream.write_all(bytes);
        all_of(&mut stream)
    }

    pub fn host(&self) -> SocketAddr {
        self.address
    }

    /// Requests that carried the key.
    pub fn count(&self) -> u64 {
        self.attempt.injection.as_ref().unwrap().requests().map(|(_, count)| count).sum()
    }

    /// Ends the attempt; all of it has ended when this returns.
    /// The value is its summary.
    pub fn end(self) -> Value {
        drop(self.stop);
        self.runtime.block_on(async { tokio::time::timeout(LONG, self.serving).await }).unwrap().unwrap();
        assert_eq!(Arc::strong_count(&self.attempt), 1, "something still uses it");
        // The runtime counts a task a little longer than whoever waits for it.
        super::factory::wait_until(|| self.runtime.metrics().num_alive_tasks() == 0);
        self.attempt.log.close().unwrap();
        let events = std::fs::read_to_string(self.folder.path().join("events.jsonl")).unwrap();
        serde_json::from_str(events.lines().next_back().unwrap()).unwrap()
    }
}

pub fn all_of(stream: &mut TcpStream) -> Option<String> {
    let mut all = Vec::new();
    stream.read_to_end(&mut all).ok()?;
    Some(String::from_utf8_lossy(&all).into_owned())
}

/// Each connection to it is handed over, in a thread of its own.
pub fn origin(answer: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, answer) = (listener.local_addr().unwrap().port(), Arc::new(answer));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = answer.clone();
            std::thread::spawn(move || answer(stream));
        }
    });
    port
}

/// Ends a connection in order, whatever is still on its way.
pub fn close(mut stream: TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let _ = std::io::copy(&mut stream, &mut std::io::sink());
}
