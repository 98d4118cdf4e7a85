//! Limits on connections, and the end of an attempt: what is under way gets through, the rest is reset, nothing lives on.

use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::sys::socket::{Shutdown, shutdown};

use super::world::{Client, World, allow};

async fn tunnel(world: &World) -> Client {
    let mut client = world.connect().await;
    client.send(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!(client.answer().await.short(), "200");
    client
}

fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

#[tokio::test]
async fn at_the_end_of_an_attempt_nothing_lives_on() {
    let world = allow(&["a.example"]).limits(|l| l.drain = Duration::from_millis(500)).start().await;
    let mut tunnels = Vec::new();
    for _ in 0..20 {
        tunnels.push(tunnel(&world).await);
    }
    let mut idle = world.connect().await;
    idle.send(b"GET http://a.example/ HTTP/1.1\r\nHost: a\r\n\r\n").await;
    assert_eq!(idle.answer().await.short(), "200");
    let mut silent = world.connect().await;
    let mut half = world.connect().await;
    half.send(b"GET http://a.exa").await;
    let (attempt, address) = (Arc::downgrade(&world.attempt), world.address);
    let (_, origin) = world.end().await;
    assert_eq!(attempt.strong_count(), 0, "no task holds it");
    assert!(tokio::net::TcpStream::connect(address).await.is_err(), "the listener is closed");
    for client in &mut tunnels {
        assert_eq!(client.rest().await.unwrap_err().kind(), ErrorKind::ConnectionReset);
    }
    for client in [&mut idle, &mut silent, &mut half] {
        let _ = client.rest().await;
    }
    drop(origin);
    let patience = Instant::now() + super::world::LONG;
    while tasks() > 0 {
        assert!(Instant::now() < patience, "{} tasks live on", tasks());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_a_client_sent_before_the_end_gets_through() {
    let world = allow(&["a.example"]).start().await;
    let mut client = tunnel(&world).await;
    client.send(b"last words").await;
    drop(client);
    let (_, origin) = world.end().await;
    let patience = Instant::now() + super::world::LONG;
    while origin.got() != ["last words"] {
        assert!(Instant::now() < patience, "{:?}", origin.got());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn requests_during_the_drain_are_told_that_the_attempt_is_over() {
    let world = allow(&["a.example"]).limits(|l| l.drain = Duration::from_secs(3)).start().await;
    let _open = tunnel(&world).await;
    let address = world.address;
    let ending = tokio::spawn(world.end());
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut client = Client(tokio::net::TcpStream::connect(address).await.unwrap());
    client.send(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!(client.answer().await.short(), "403 attempt-ended");
    ending.await.unwrap();
}

/// As where no descriptor is left.
#[tokio::test]
async fn a_listener_that_fails_cuts_nothing_that_is_under_way() {
    let world = allow(&["a.example"]).start().await;
    let mut client = world.connect().await;
    client.send(b"GET http://a.example/later HTTP/1.1\r\nHost: a\r\n\r\n").await;
    let patience = Instant::now() + super::world::LONG;
    while world.origin.got().concat().is_empty() {
        assert!(Instant::now() < patience);
        tokio::task::yield_now().await;
    }
    shutdown(world.listener.as_raw_fd(), Shutdown::Both).unwrap();
    let (answer, _) = tokio::join!(client.answer(), world.end());
    assert_eq!((answer.short().as_str(), answer.body.as_str()), ("200", "later"));
}

#[tokio::test]
async fn an_attempt_has_so_many_connections_and_gets_them_back() {
    let world = allow(&["a.example"]).limits(|l| l.connections = 3).start().await;
    let open = [tunnel(&world).await, tunnel(&world).await, tunnel(&world).await];
    let request = "CONNECT a.example:443 HTTP/1.1\r\n\r\n";
    assert_eq!(world.ask(request).await.short(), "503 limit");
    drop(open);
    let patience = Instant::now() + super::world::LONG;
    while world.ask(request).await.short() != "200" {
        assert!(Instant::now() < patience);
    }
}

#[tokio::test]
async fn new_connections_over_the_rate_wait() {
    let world = allow(&["a.example"]).limits(|l| (l.rate, l.burst) = (20, 5)).start().await;
    let start = Instant::now();
    for _ in 0..15 {
        assert_eq!(world.ask("CONNECT a.example:443 HTTP/1.1\r\n\r\n").await.short(), "200");
    }
    assert!(
        start.elapsed() > Duration::from_millis(400),
        "ten over the burst, twenty a second: half a second at least"
    );
}
