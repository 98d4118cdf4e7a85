//! A step that does all it can to the proxy, while another attempt of the same process goes on being served. What is bounded
//! is counted: descriptors, connections, tasks, lines; never time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kusaw::egress::limits::{Limits, Shared};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::accepted::accepted;
use super::world::{LONG, Setup, allow};

const CONNECTIONS: usize = 48;

/// Ways to be a burden.
const ACTS: [&[u8]; 8] = [
    b"CONNECT a.example:443 HTTP/1.1\r\n\r\n",
    b"CONNECT a.exam",
    b"",
    b"\x16\x03\x01\x40\x00aaaaaaaa",
    b"\x00\x01\x02\xff\xfe garbage \r\n\r\n\r\n",
    b"GET http://b.evil/ HTTP/1.1\r\nHost: b\r\n\r\nGET http://c.evil/ HTTP/1.1\r\nHost: c\r\n\r\nCONNECT d.evil:1 HTTP/1.1\r\n\r\n",
    b"POST http://a.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://b.evil/ HTTP/1.1\r\nHost: b\r\n\r\n",
    b"CONNECT a.example:443 HTTP/1.1\r\n\r\n\x16\x03\x01\x00\xff\x01",
];

/// Whether it was told that a host is blocked.
async fn act(number: usize, address: std::net::SocketAddr) -> bool {
    let Ok(mut stream) = TcpStream::connect(address).await else { return false };
    if number % 16 == 9 {
        // A head without an end.
        while stream.write_all(&[b'x'; 4 << 10]).await.is_ok() {}
        return false;
    }
    let mut answer = [0; 64];
    let _ = stream.write_all(ACTS[number % ACTS.len()]).await;
    // Some read, some do not, some leave at once.
    match number % 3 {
        0 => drop(timeout(Duration::from_millis(300), stream.read(&mut answer)).await),
        1 => tokio::time::sleep(Duration::from_millis(100)).await,
        _ => {}
    }
    answer.starts_with(b"HTTP/1.1 403")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hostile_attempt_is_bounded_and_another_one_is_served_meanwhile() {
    let shrink = |limits: &mut Limits| {
        limits.connections = CONNECTIONS;
        limits.head_read = Duration::from_millis(500);
        limits.hello = Duration::from_millis(300);
        limits.drain = Duration::from_millis(300);
        // The measure is what is held, not how fast it comes.
        (limits.rate, limits.burst) = (100_000, 100_000);
    };
    let bad = allow(&["a.example"]).limits(shrink).start().await;
    let shared: Arc<Shared> = bad.attempt.shared.clone();
    let good = Setup { shared: Some(shared.clone()), ..allow(&["a.example"]) }.start().await;
    let (port, address) = (bad.address.port(), bad.address);
    // Held open, all that an attempt may have are counted as such, and no more.
    let mut held = Vec::new();
    for number in 0..CONNECTIONS + 20 {
        let mut client = bad.connect().await;
        client.send(ACTS[0]).await;
        let expected = if number < CONNECTIONS { "200" } else { "503 limit" };
        assert_eq!(client.answer().await.short(), expected, "connection {number}");
        held.push(client);
    }
    assert_eq!(accepted(port), CONNECTIONS);
    drop(held);
    let over = Arc::new(AtomicBool::new(false));
    let most = Arc::new(AtomicUsize::new(0));
    let watching = {
        let (over, most) = (over.clone(), most.clone());
        tokio::spawn(async move {
            while !over.load(Ordering::Relaxed) {
                most.fetch_max(accepted(port), Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
    };
    let served = async {
        let mut served = 0;
        while !over.load(Ordering::Relaxed) {
            let answer = good.ask("GET http://a.example/ HTTP/1.1\r\nHost: a\r\n\r\n").await;
            assert_eq!(answer.short(), "200", "after {served} requests");
            served += 1;
        }
        served
    };
    let hostile = async {
        let (mut acts, mut refused) = (JoinSet::new(), 0);
        for number in 0..5_000 {
            if acts.len() >= 300 {
                refused += u64::from(acts.join_next().await.unwrap().unwrap());
            }
            acts.spawn(act(number, address));
        }
        while let Some(told) = timeout(LONG, acts.join_next()).await.unwrap() {
            refused += u64::from(told.unwrap());
        }
        over.store(true, Ordering::Relaxed);
        refused
    };
    let (served, refused) = tokio::join!(served, hostile);
    watching.await.unwrap();
    let most = most.load(Ordering::Relaxed);
    assert!(served > 20, "{served} requests of the other attempt");
    // One more is being told that it is too many.
    assert!(most <= CONNECTIONS + 1, "{most} connections at a time");
    let log = bad.log();
    assert!((1..=50).contains(&log.len()), "{log:?}");
    assert!(
        log.iter().all(|l| ["b.evil", "c.evil", "d.evil", "<malformed>"].contains(&l["host"].as_str().unwrap())),
        "{log:?}"
    );
    assert!(good.log().is_empty(), "nothing of it is the other attempt's");
    let smuggled = bad.origin.got().iter().filter(|bytes| bytes.contains("evil")).count();
    assert_eq!(smuggled, 0);
    let (events, _) = bad.end().await;
    let blocked = events.last().unwrap()["blocked_total"].as_u64().unwrap();
    assert!(refused > 0 && blocked >= refused, "{blocked} blocked, {refused} were told so");
    assert_eq!(accepted(port), 0, "each connection is closed");
    good.end().await;
    assert_eq!(shared.places.available_permits(), shared.limits.process, "each place is free again");
}
