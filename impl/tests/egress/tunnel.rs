//! Tunnels: bytes unchanged and in order, names in a ClientHello, half-closes, time limits.

use std::time::Duration;

use kusaw::egress::grant::Role;
use tokio::io::AsyncWriteExt;

use super::world::{Client, Setup, World, allow};

/// A ClientHello with these extensions: number and data.
fn hello(extensions: &[(u16, Vec<u8>)]) -> Vec<u8> {
    let vector16 = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes(), bytes].concat();
    let extensions: Vec<u8> =
        extensions.iter().flat_map(|(n, data)| [n.to_be_bytes().to_vec(), vector16(data)].concat()).collect();
    let body = [&[3, 3][..], &[7; 32], &[0], &[0, 2, 0x13, 1], &[1, 0], &vector16(&extensions)].concat();
    let message = [&[1, 0][..], &(body.len() as u16).to_be_bytes(), &body].concat();
    [&[22, 3, 1][..], &vector16(&message)].concat()
}

fn server_name(name: &str) -> (u16, Vec<u8>) {
    let length = name.len() as u16;
    (0, [&(length + 3).to_be_bytes()[..], &[0], &length.to_be_bytes(), name.as_bytes()].concat())
}

async fn tunnel(world: &World, target: &str) -> Client {
    let mut client = world.connect().await;
    client.send(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n").as_bytes()).await;
    assert_eq!(client.answer().await.short(), "200", "{target}");
    client
}

#[tokio::test]
async fn a_clienthello_for_another_host_never_leaves() {
    let world = allow(&["a.example:443"]).start().await;
    let own = hello(&[(10, vec![0, 2, 0, 29]), server_name("A.Example.")]);
    let mut client = tunnel(&world, "a.example:443").await;
    client.send(&own).await;
    assert_eq!(client.exactly(own.len()).await, own, "unchanged");
    for name in ["b.evil", "x.a.example", "a.exam\u{ad}ple", "a..example"] {
        let mut client = tunnel(&world, "a.example:443").await;
        client.send(&hello(&[server_name(name)])).await;
        assert!(client.rest().await.map_or(true, |b| b.is_empty()), "{name}");
    }
    let sent: String = world.origin.got().concat();
    assert_eq!(sent.as_bytes(), String::from_utf8_lossy(&own).as_bytes(), "nothing of the others");
    let log = world.log();
    let hosts: Vec<_> = log.iter().map(|l| l["host"].as_str().unwrap()).collect();
    assert_eq!(hosts, ["b.evil", "x.a.example", "<malformed>"]);
    assert!(log.iter().all(|l| l["reason"] == "sni-mismatch" && l["via"] == "sni"), "{log:?}");
    assert_eq!(log[0]["port"], 443);
    let (events, _) = world.end().await;
    assert_eq!((&events[3]["blocked_total"], &events[3]["malformed"]), (&2.into(), &2.into()));
}

#[tokio::test]
async fn the_check_can_be_turned_off() {
    let world = Setup { sni: false, ..allow(&["a.example"]) }.start().await;
    let other = hello(&[server_name("b.evil")]);
    let mut client = tunnel(&world, "a.example:443").await;
    client.send(&other).await;
    assert_eq!(client.exactly(other.len()).await, other);
}

#[tokio::test]
async fn without_a_name_or_with_an_address_nothing_is_checked() {
    let world = allow(&["a.example"]).start().await;
    for hello in [hello(&[]), hello(&[(10, vec![])]), hello(&[server_name("1.2.3.4")])] {
        let mut client = tunnel(&world, "a.example:443").await;
        client.send(&hello).await;
        assert_eq!(client.exactly(hello.len()).await, hello);
    }
    assert!(world.log().is_empty());
}

#[tokio::test]
async fn an_encrypted_clienthello_is_judged_by_its_outer_name() {
    let world = allow(&["a.example"]).start().await;
    let ech = |outer: &str| hello(&[(0xfe0d, vec![0; 200]), server_name(outer)]);
    let (own, other) = (ech("a.example"), ech("cloud.example"));
    let mut client = tunnel(&world, "a.example:443").await;
    client.send(&own).await;
    assert_eq!(client.exactly(own.len()).await, own);
    let mut client = tunnel(&world, "a.example:443").await;
    client.send(&other).await;
    assert!(client.rest().await.map_or(true, |b| b.is_empty()));
    assert_eq!(world.log()[0]["host"], "cloud.example");
}

#[tokio::test]
async fn a_clienthello_may_come_in_pieces_but_not_for_ever() {
    let setup = allow(&["a.example"]).limits(|l| l.hello = Duration::from_millis(400));
    let world = setup.start().await;
    let own = hello(&[server_name("a.example")]);
    let mut client = tunnel(&world, "a.example:443").await;
    for piece in own.chunks(20) {
        client.send(piece).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.exactly(own.len()).await, own);
    for part in [1, 5, 40] {
        let mut client = tunnel(&world, "a.example:443").await;
        client.send(&own[..part]).await;
        assert!(client.rest().await.map_or(true, |b| b.is_empty()), "{part}");
    }
    assert_eq!(world.origin.got().concat().len(), String::from_utf8_lossy(&own).len(), "nothing of the rest");
    assert_eq!(world.log()[0]["host"], "<malformed>");
}

#[tokio::test]
async fn other_protocols_flow_and_a_server_may_speak_first() {
    let world = allow(&["a.example"]).start().await;
    for first in [&b"SSH-2.0-x\r\n"[..], b"\x14not TLS", b"\x80\x2e\x01", b"\x00"] {
        let mut client = tunnel(&world, "a.example:443").await;
        client.send(first).await;
        assert_eq!(client.exactly(first.len()).await, first);
    }
    // An origin that speaks first: nothing has been sent to it yet.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut setup = allow(&["localhost"]);
    setup.shared = Some(std::sync::Arc::new(kusaw::egress::limits::Shared::new(setup.limits.clone(), 20_000)));
    let world = setup.start().await;
    let mut client = tunnel(&world, &format!("localhost:{}", listener.local_addr().unwrap().port())).await;
    let (mut server, _) = listener.accept().await.unwrap();
    server.write_all(b"220 hello\r\n").await.unwrap();
    assert_eq!(client.exactly(11).await, b"220 hello\r\n");
}

#[tokio::test]
async fn bytes_of_a_tunnel_are_nobodys_request() {
    let world = allow(&["a.example"]).start().await;
    let mut client = tunnel(&world, "a.example:80").await;
    client.send(b"CONNECT b.evil:443 HTTP/1.1\r\n\r\n").await;
    assert_eq!(client.answer().await.short(), "200", "a.example's own answer");
    assert_eq!(world.outside.lookups.lock().unwrap().concat(), "a.example");
    assert!(world.log().is_empty());
}

#[tokio::test]
async fn early_bytes_come_first_and_in_order_up_to_a_limit() {
    let world = allow(&["a.example"]).start().await;
    let mut client = world.connect().await;
    client.send(b"CONNECT a.example:443 HTTP/1.1\r\n\r\nearly ").await;
    assert_eq!(client.answer().await.short(), "200");
    client.send(b"and late").await;
    assert_eq!(client.exactly(14).await, b"early and late");
    // The check sees early bytes too.
    let other = hello(&[server_name("b.evil")]);
    let mut client = world.connect().await;
    client.send(&[&b"CONNECT a.example:443 HTTP/1.1\r\n\r\n"[..], &other].concat()).await;
    client.answer().await;
    assert!(client.rest().await.map_or(true, |b| b.is_empty()));
    assert_eq!(world.log().len(), 1);
}

#[tokio::test]
async fn a_half_close_is_passed_on_and_large_transfers_come_through() {
    let world = allow(&["a.example"]).start().await;
    let client = tunnel(&world, "a.example:443").await;
    let (from, mut to) = client.0.into_split();
    let sent: Vec<u8> = (0..3 << 20).map(|n: u32| (n % 251) as u8).collect();
    let copy = sent.clone();
    let writing = tokio::spawn(async move {
        to.write_all(&copy).await.unwrap();
        to.shutdown().await.unwrap();
    });
    let mut back = Vec::new();
    let mut from = from;
    tokio::io::AsyncReadExt::read_to_end(&mut from, &mut back).await.unwrap();
    writing.await.unwrap();
    assert!(back == sent, "{} of {} bytes", back.len(), sent.len());
}

#[tokio::test]
async fn silent_tunnels_end_and_busy_ones_do_not() {
    let shrink = |l: &mut kusaw::egress::limits::Limits| {
        (l.idle, l.half_closed) = (Duration::from_millis(600), Duration::from_millis(600));
    };
    let world = allow(&["a.example"]).limits(shrink).start().await;
    let mut silent = tunnel(&world, "a.example:443").await;
    let mut busy = tunnel(&world, "a.example:443").await;
    for _ in 0..8 {
        busy.send(b"x").await;
        busy.exactly(1).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    assert!(silent.rest().await.map_or(true, |b| b.is_empty()));
}

#[tokio::test]
async fn a_leased_port_leads_to_the_hosts_port_byte_for_byte() {
    let mut setup = allow(&["localhost:5432"]);
    setup.role = Role::Lease(5432);
    let world = setup.start().await;
    let mut client = world.connect().await;
    let other = hello(&[server_name("dev.test")]);
    client.send(&other).await;
    assert_eq!(client.exactly(other.len()).await, other);
    assert_eq!(world.outside.dialled.lock().unwrap()[0].to_string(), "127.0.0.1:5432");
}
