//! A step that does all it can to the injecting listener, while another attempt of the same process has its requests
//! answered. What is bounded is counted: connections, places, requests with the key, tasks; never time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use kusaw::egress::limits::{Limits, Shared};

use super::accepted::accepted;
use super::factory::wait_until;
use super::wire::{LONG, Wire, close, origin};
use super::{KEY, OK, head};

const CONNECTIONS: usize = 8;

/// Who acts at a time: far more than there are places, so that without a bound there would be more connections.
const ACTORS: usize = 40;

const ACTS: usize = 1_200;

/// Ways to be a burden; the last two are good requests, one behind the other and cut off.
fn acts(wire: &Wire) -> Vec<Vec<u8>> {
    let (host, path) = (wire.host(), wire.path());
    let end = "\r\n";
    let texts = [
        wire.request("POST /slow-head") + "X: ",
        String::new(),
        format!("GET {path}/v1 HTTP/1.1\nHost: {host}\n\n"),
        format!("GET {path}/v1 HTTP/1.1\r\nHost: evil.example\r\n\r\n").repeat(50),
        format!("GET /{:0>32}/v1 HTTP/1.1\r\nHost: {host}\r\n\r\n", 0).repeat(50),
        wire.request("GET /many") + &"X-A: b\r\n".repeat(500) + end,
        wire.request("POST /smuggles")
            + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled",
        wire.request("POST /over") + &format!("Content-Length: {}\r\n\r\n", u64::MAX / 2),
        (wire.request("GET /piped") + end).repeat(20),
        wire.request("POST /half") + "Content-Length: 9\r\n\r\nhalf",
    ];
    let bytes: [&[u8]; 2] = [b"\x16\x03\x01\x40\x00aaaaaaaa", b"\x00\x01\x02\xff\xfe garbage \r\n\r\n\r\n"];
    texts.into_iter().map(String::into_bytes).chain(bytes.map(<[u8]>::to_vec)).collect()
}

/// Whether it was told something.
fn act(number: usize, address: std::net::SocketAddr, acts: &[Vec<u8>]) -> bool {
    let Ok(mut stream) = TcpStream::connect(address) else { return false };
    let _ = stream.set_read_timeout(Some(Duration::from_millis(300)));
    if number % 16 == 9 {
        // A head without an end.
        while stream.write_all(&[b'x'; 4 << 10]).is_ok() {}
        return false;
    }
    let _ = stream.write_all(&acts[number % acts.len()]);
    // Some read, some do not, some leave at once.
    match number % 3 {
        0 => matches!(stream.read(&mut [0; 64]), Ok(1..)),
        1 => {
            thread::sleep(Duration::from_millis(100));
            false
        }
        _ => false,
    }
}

#[test]
fn a_hostile_attempt_is_bounded_and_another_one_is_served_meanwhile() {
    let limits = Limits { connections: CONNECTIONS, drain: Duration::from_millis(300), ..Limits::default() };
    let shared = Arc::new(Shared::new(limits, 20_000));
    let (told, heads) = channel();
    let answers = origin(move |mut stream| {
        let _ = told.send(head(&mut stream));
        let _ = stream.write_all(OK.as_bytes());
        close(stream);
    });
    let (bad, good) = (Wire::sharing(answers, shared.clone()), Wire::sharing(answers, shared.clone()));
    let (address, port, acts) = (bad.host(), bad.host().port(), acts(&bad));
    let (over, most, next, heard) =
        (AtomicBool::new(false), AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let served = thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                most.fetch_max(accepted(port), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(20));
            }
        });
        let serving = scope.spawn(|| {
            let ask = good.request("GET /good") + "Connection: close\r\n\r\n";
            let mut served = 0;
            while !over.load(Ordering::Relaxed) {
                let answer = good.say(ask.as_bytes()).unwrap_or_default();
                assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hello"), "after {served}: {answer}");
                served += 1;
            }
            served
        });
        let actors: Vec<_> = (0..ACTORS)
            .map(|_| {
                scope.spawn(|| {
                    while let number @ ..ACTS = next.fetch_add(1, Ordering::Relaxed) {
                        heard.fetch_add(usize::from(act(number, address, &acts)), Ordering::Relaxed);
                    }
                })
            })
            .collect();
        actors.into_iter().for_each(|actor| actor.join().unwrap());
        over.store(true, Ordering::Relaxed);
        serving.join().unwrap()
    });
    let (most, heard) = (most.into_inner(), heard.into_inner());
    assert!(
        served > 20 && heard > 20,
        "{served} requests of the other attempt, {heard} of the hostile one were answered"
    );
    // One more is being told that it is too many.
    assert!((1..=CONNECTIONS + 1).contains(&most), "{most} connections at a time");
    let (hostile, own) = (bad.count(), good.count());
    assert_eq!(own, served, "each with the key, and none of the other's");
    let summary = bad.end();
    assert_eq!(accepted(port), 0, "each connection is closed");
    good.end();
    assert_eq!(shared.places.available_permits(), shared.limits.process, "each place is free again");
    // What arrived are whole heads of requests that may be passed on, each with the key once.
    let heads: Vec<String> = heads.try_iter().filter(|head| !head.is_empty()).collect();
    let of = |path: &str| heads.iter().filter(|head| head.split(' ').nth(1) == Some(path)).count() as u64;
    assert_eq!(of("/good"), served);
    assert!(of("/piped") > 0, "the hostile one has what is its own");
    let fine = ["/good", "/piped", "/half", "/smuggles"];
    for head in &heads {
        let path = head.split(' ').nth(1).unwrap();
        assert!(fine.contains(&path) && head.matches(KEY).count() == 1 && !head.contains("smuggled"), "{head}");
    }
    assert!(hostile > 0 && summary["failures"]["dns"] == 0, "{hostile} {summary}");
}

/// Held open, all that an attempt may have are counted as such, and no more.
#[test]
fn an_attempt_has_so_many_connections_and_is_told_so() {
    let wire = Wire::with(9, |limits| (limits.connections, limits.head_read) = (CONNECTIONS, LONG * 10));
    let held: Vec<TcpStream> = (0..CONNECTIONS).map(|_| wire.connect()).collect();
    wait_until(|| accepted(wire.host().port()) == CONNECTIONS);
    let refused = wire.say(b"").unwrap();
    assert!(refused.starts_with("HTTP/1.1 503 ") && refused.contains("X-Kusaw-Egress: limit\r\n"), "{refused}");
    drop(held);
    wire.end();
}
