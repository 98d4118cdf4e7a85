//! What is refused before anything leaves, and what leaves as if nothing were odd.

use std::io::{Read, Write};
use std::sync::mpsc::channel;

use serde_json::json;

use super::wire::{Wire, close, origin};
use super::{KEY, OK, head, provider};

#[test]
fn no_other_form_host_or_path_reaches_the_provider() {
    let (port, heads) = provider(OK);
    let wire = Wire::to(port);
    let (host, path) = (wire.host(), wire.path());
    let wrong = format!("/{}/v1", "0".repeat(32));
    let cases = [
        (format!("GET http://127.0.0.1:{port}{path}/v1 HTTP/1.1\r\nHost: {host}\r\n"), "400 bad-request"),
        (format!("GET http://{host}{path}/v1 HTTP/1.1\r\nHost: {host}\r\n"), "400 bad-request"),
        (format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\nHost: {host}\r\n"), "405 bad-method"),
        (format!("OPTIONS {path}/v1 HTTP/1.1\r\nHost: {host}\r\n"), "405 bad-method"),
        (format!("TRACE {path}/v1 HTTP/1.1\r\nHost: {host}\r\n"), "405 bad-method"),
        (wire.request("GET /v1") + "Connection: Upgrade\r\nUpgrade: websocket\r\n", "400 bad-request"),
        (format!("GET {path}/v1 HTTP/1.1\r\nHost: evil.example\r\n"), "421 bad-host"),
        (format!("GET {path}/v1 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"), "421 bad-host"),
        (format!("GET {path}/v1 HTTP/1.1\r\n"), "421 bad-host"),
        (format!("GET {path}/v1 HTTP/1.0\r\n"), "421 bad-host"),
        (wire.request("GET /v1") + &format!("Host: {host}\r\n"), "421 bad-host"),
        (format!("GET {wrong} HTTP/1.1\r\nHost: {host}\r\n"), "404 not-found"),
        (format!("GET / HTTP/1.1\r\nHost: {host}\r\n"), "404 not-found"),
        (format!("GET {}/v1 HTTP/1.1\r\nHost: {host}\r\n", &path[..20]), "404 not-found"),
        (wire.request("GET /v1/../../x"), "400 bad-request"),
        (wire.request("GET //evil.example/x"), "400 bad-request"),
        (wire.request("POST /v1") + "Transfer-Encoding: gzip, chunked\r\n", "400 bad-request"),
    ];
    for (request, right) in cases {
        let told = wire.say(format!("{request}Connection: close\r\n\r\n").as_bytes()).unwrap();
        let (status, code) = right.split_once(' ').unwrap();
        let is = told.starts_with(&format!("HTTP/1.1 {status} ")) || told.starts_with(&format!("HTTP/1.0 {status} "));
        assert!(is && told.contains(&format!("x-kusaw-egress: {code}\r\n")), "{request}{told}");
        assert!(!told.contains(KEY));
    }
    assert_eq!(wire.count(), 0);
    // The control: the same connection to the same place, and now it comes.
    let told = wire.say((wire.request("GET /v1") + "Connection: close\r\n\r\n").as_bytes()).unwrap();
    assert!(told.starts_with("HTTP/1.1 200 ") && told.ends_with("hello"), "{told}");
    assert!(heads.recv().unwrap().starts_with("get /v1 http/1.1\r\n") && heads.try_recv().is_err());
    assert_eq!(wire.count(), 1);
    wire.end();
}

#[test]
fn an_old_client_is_served_and_one_that_waits_for_a_hundred_gets_it() {
    let (told, heads) = channel();
    let port = origin(move |mut stream| {
        let mut whole = head(&mut stream);
        while whole.contains("content-length: 5\r\n") && !whole.ends_with("\r\n\r\nhello") {
            let mut piece = [0; 16];
            match stream.read(&mut piece) {
                Ok(n @ 1..) => whole += str::from_utf8(&piece[..n]).unwrap(),
                _ => break,
            }
        }
        told.send(whole).unwrap();
        stream.write_all(OK.as_bytes()).unwrap();
        close(stream);
    });
    let wire = Wire::to(port);
    let told = wire.say((wire.request("GET /v1 HTTP/1.0") + "\r\n").as_bytes()).unwrap();
    assert!(told.contains(" 200 ") && told.ends_with("hello"), "{told}");
    assert!(heads.recv().unwrap().starts_with("get /v1 http/1.1\r\n"));
    let mut client = wire.connect();
    let head = wire.request("POST /v1") + "Content-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
    client.write_all(head.as_bytes()).unwrap();
    let mut go_on = [0; 25];
    client.read_exact(&mut go_on).unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    client.write_all(b"hello").unwrap();
    let told = super::wire::all_of(&mut client).unwrap();
    assert!(told.starts_with("HTTP/1.1 200 ") && told.ends_with("hello"), "{told}");
    let head = heads.recv().unwrap();
    assert!(!head.contains("expect") && head.ends_with("\r\n\r\nhello") && head.contains(KEY), "{head}");
    wire.end();
}

/// Two lengths that differ: one goes out, and nothing behind the body is a request, here or there.
#[test]
fn a_body_with_two_lengths_goes_out_with_one() {
    const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
    const LENGTH: &str = "Content-Length: 60\r\n";
    let (told, arrived) = channel();
    let port = origin(move |mut stream| {
        let mut all = head(&mut stream);
        // A body that ends with the head came with it.
        while !all.ends_with("0\r\n\r\n") && !all.contains("smuggled") {
            let mut piece = [0; 4096];
            match stream.read(&mut piece) {
                Ok(n @ 1..) => all += &String::from_utf8_lossy(&piece[..n]),
                _ => break,
            }
        }
        stream.write_all(OK.as_bytes()).unwrap();
        // To the end of the connection: whatever else was sent over it is here.
        stream.read_to_string(&mut all).unwrap();
        told.send(all).unwrap();
    });
    let wire = Wire::to(port);
    for lengths in [[CHUNKED, LENGTH], [LENGTH, CHUNKED]] {
        for end in ["Connection: close\r\n", ""] {
            let behind = wire.request("GET /smuggled") + "Connection: close\r\n\r\n";
            let request = wire.request("POST /v1") + &lengths.concat() + end + "\r\n0\r\n\r\n" + &behind;
            let answer = wire.say(request.as_bytes()).unwrap();
            assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hello"), "{lengths:?} {end:?}: {answer}");
            assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{lengths:?} {end:?}: {answer}");
            let all = arrived.recv().unwrap();
            assert!(all.contains("transfer-encoding: chunked") && !all.contains("content-length"), "{all}");
            assert!(all.ends_with("\r\n\r\n0\r\n\r\n") && !all.contains("smuggled"), "{all}");
        }
    }
    // The control: with one length the same bytes are a second request, and it arrives.
    let behind = wire.request("GET /smuggled") + "Connection: close\r\n\r\n";
    let request = wire.request("POST /v1") + CHUNKED + "\r\n0\r\n\r\n" + &behind;
    let answer = wire.say(request.as_bytes()).unwrap();
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 2, "{answer}");
    let all = [arrived.recv().unwrap(), arrived.recv().unwrap()].concat();
    assert!(all.contains("get /smuggled http/1.1"), "{all}");
    // Nothing else came over any connection.
    wire.end();
    assert!(arrived.try_recv().is_err());
}

#[test]
fn a_redirect_is_told_as_it_is_and_nobody_follows_it() {
    let (other, arrived) = provider(OK);
    let port = origin(move |mut stream| {
        head(&mut stream);
        let moved = format!("HTTP/1.1 307 T\r\nlocation: http://127.0.0.1:{other}/v1\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(moved.as_bytes()).unwrap();
        close(stream);
    });
    let wire = Wire::to(port);
    let told =
        wire.say((wire.request("POST /v1") + "Content-Length: 0\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    assert!(told.starts_with("HTTP/1.1 307 "), "{told}");
    assert!(told.contains(&format!("\r\nlocation: http://127.0.0.1:{other}/v1\r\n")), "{told}");
    wire.end();
    // All that could have followed has ended, and a connection would lie in the other's queue.
    assert!(arrived.try_recv().is_err());
    std::net::TcpStream::connect(("127.0.0.1", other)).unwrap().write_all(b"x\r\n\r\n").unwrap();
    assert_eq!(arrived.recv().unwrap(), "x\r\n\r\n", "the control is the first that came");
}

#[test]
fn only_what_went_out_with_the_key_is_counted() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let wire = Wire::to(nobody);
    let told = wire.say((wire.request("GET /v1") + "Connection: close\r\n\r\n").as_bytes()).unwrap();
    assert!(told.contains("502 Bad Gateway") && told.contains("connect-failed") && wire.count() == 0, "{told}");
    assert_eq!(wire.end()["failures"], json!({"dns": 0, "connect": 1, "timeout": 0, "upstream": 0}));
    // One that takes the connection and ends it: it may have read the key.
    let wire = Wire::to(origin(|mut stream| drop(head(&mut stream))));
    let told = wire.say((wire.request("GET /v1") + "Connection: close\r\n\r\n").as_bytes()).unwrap();
    assert!(told.contains("upstream-error") && wire.count() == 1, "{told}");
    assert_eq!(wire.end()["failures"], json!({"dns": 0, "connect": 0, "timeout": 0, "upstream": 1}));
    // What is wrong with a request is no failure of the provider's, and nor is an answer.
    let (port, _heads) = provider(OK);
    let wire = Wire::to(port);
    for line in ["GET /v1/../x", "TRACE /v1", "GET /v1"] {
        wire.say((wire.request(line) + "Connection: close\r\n\r\n").as_bytes()).unwrap();
    }
    assert_eq!(wire.end()["failures"], json!({"dns": 0, "connect": 0, "timeout": 0, "upstream": 0}));
}
