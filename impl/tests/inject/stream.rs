//! Bodies: as they come, however long, and never whole when they are not.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::wire::{LONG, Wire, all_of, close, origin};
use super::{OK, head};

const CHUNKED: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}

/// The head, and how much came behind it at once.
fn head_and_rest(stream: &mut TcpStream) -> (String, usize) {
    let whole = head(stream);
    let (head, rest) = whole.split_once("\r\n\r\n").unwrap();
    (head.into(), rest.len())
}

/// Reads on until this has come.
fn until(from: &mut TcpStream, text: &str) -> String {
    let (mut seen, mut byte) = (String::new(), [0]);
    while !seen.ends_with(text) {
        from.read_exact(&mut byte).unwrap();
        seen.push(char::from(byte[0]));
    }
    seen
}

/// The origin sends an event only when the client has seen the one before: whoever held one back would hold up both.
#[test]
fn an_event_arrives_before_the_next_is_sent() {
    let (seen, acknowledged) = channel::<u32>();
    let acknowledged = Mutex::new(acknowledged);
    let port = origin(move |mut stream| {
        head(&mut stream);
        stream.write_all(CHUNKED.as_bytes()).unwrap();
        for n in 0..20 {
            stream.write_all(chunk(&format!("data: {n}\n\n")).as_bytes()).unwrap();
            assert_eq!(acknowledged.lock().unwrap().recv_timeout(LONG), Ok(n));
        }
        stream.write_all(b"0\r\n\r\n").unwrap();
        close(stream);
    });
    let wire = Wire::to(port);
    let mut client = wire.connect();
    client.write_all((wire.request("GET /v1") + "Connection: close\r\n\r\n").as_bytes()).unwrap();
    for n in 0..20 {
        until(&mut client, &format!("data: {n}\n\n"));
        seen.send(n).unwrap();
    }
    assert!(all_of(&mut client).unwrap().ends_with("0\r\n\r\n"));
    wire.end();
}

#[test]
fn an_answer_that_breaks_off_is_no_whole_one() {
    // The end of the connection is that of an answer for an old client: it is reset.
    let broken: [(&str, &str); 4] = [
        ("HTTP/1.1", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        ("HTTP/1.1", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"),
        ("HTTP/1.0", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n"),
        ("HTTP/1.0", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"),
    ];
    for (version, answer) in broken {
        let port = origin(move |mut stream| {
            head(&mut stream);
            stream.write_all(answer.as_bytes()).unwrap();
            close(stream);
        });
        let wire = Wire::to(port);
        let line = format!("GET /v1 {version}");
        let told = wire.say((wire.request(&line) + "Connection: close\r\n\r\n").as_bytes());
        // Without a head there is no answer at all.
        let whole = |told: &str| {
            told.split_once("\r\n\r\n").is_some_and(|(head, body)| {
                version == "HTTP/1.0"
                    || body.ends_with("0\r\n\r\n")
                    || body.len() >= 9 && head.contains("content-length")
            })
        };
        assert!(!told.as_deref().is_some_and(whole), "{version} {answer}: {told:?}");
        wire.end();
    }
}

/// The whole of it is sent before anything is read: what is told must not be lost with the close.
#[test]
fn a_body_that_is_too_large_is_told_so_whether_its_length_is_said_or_not() {
    const MOST: usize = 1 << 20;
    let (told, sums) = channel();
    let port = origin(move |mut stream| {
        stream.set_read_timeout(Some(LONG)).unwrap();
        let (whole, mut sum) = head_and_rest(&mut stream);
        let mut piece = vec![0; 64 << 10];
        let mut last = Vec::new();
        while if whole.contains("content-length") { sum < MOST } else { !last.ends_with(b"0\r\n\r\n") } {
            match stream.read(&mut piece) {
                Ok(n @ 1..) => {
                    sum += n;
                    last.extend_from_slice(&piece[..n]);
                    last.drain(..last.len().saturating_sub(8));
                }
                _ => return,
            }
        }
        told.send(sum).unwrap();
        stream.write_all(OK.as_bytes()).unwrap();
        close(stream);
    });
    let wire = Wire::with(port, |limits| limits.inject_body = MOST as u64);
    let post = wire.request("POST /v1") + "Connection: close\r\n";
    let said = |n: usize| [format!("{post}Content-Length: {n}\r\n\r\n").into_bytes(), vec![b'x'; n]].concat();
    let unsaid = |n: usize| {
        let mut bytes = format!("{post}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
        for piece in vec![b'x'; n].chunks(16 << 10) {
            bytes.extend([format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
        }
        bytes.extend(b"0\r\n\r\n");
        bytes
    };
    for fits in [said(MOST), unsaid(MOST)] {
        let told = wire.say(&fits).unwrap();
        assert!(told.starts_with("HTTP/1.1 200 "), "{told}");
        assert!(sums.recv().unwrap() >= MOST);
    }
    // What is over was never whole for the provider either.
    for over in [said(MOST + 1), unsaid(MOST + 1), unsaid(3 * MOST)] {
        let told = wire.say(&over).unwrap();
        assert!(told.starts_with("HTTP/1.1 413 ") && told.contains("x-kusaw-egress: limit\r\n"), "{told}");
        assert!(sums.try_recv().is_err());
    }
    wire.end();
}

#[test]
fn silence_has_an_end_on_every_side() {
    let idle = |limits: &mut kusaw::egress::limits::Limits| {
        limits.inject_idle = Duration::from_millis(300);
        limits.drain = Duration::from_millis(300);
    };
    // The provider says nothing: that can still be told.
    let port = origin(|mut stream| {
        head(&mut stream);
        let _ = stream.read(&mut [0]);
    });
    let wire = Wire::with(port, idle);
    let told = wire.say((wire.request("GET /v1") + "Connection: close\r\n\r\n").as_bytes()).unwrap();
    assert!(told.starts_with("HTTP/1.1 504 ") && told.contains("connect-timeout"), "{told}");
    wire.end();
    // It stops in the middle.
    let port = origin(|mut stream| {
        head(&mut stream);
        stream.write_all(format!("{CHUNKED}5\r\nhello\r\n").as_bytes()).unwrap();
        let _ = stream.read(&mut [0]);
    });
    let wire = Wire::with(port, idle);
    assert_eq!(wire.say((wire.request("GET /v1") + "Connection: close\r\n\r\n").as_bytes()), None);
    wire.end();
    // The client stops in the middle: the provider sees an end that is none.
    let (told, ends) = channel();
    let port = origin(move |mut stream| told.send(all_of(&mut stream)).unwrap());
    let wire = Wire::with(port, idle);
    let mut client = wire.connect();
    client.write_all((wire.request("POST /v1") + "Content-Length: 9\r\n\r\nhello").as_bytes()).unwrap();
    let told = all_of(&mut client).unwrap_or_default();
    assert!(told.is_empty() || told.starts_with("HTTP/1.1 504 "), "{told}");
    assert!(ends.recv_timeout(LONG).unwrap().is_none_or(|all| all.ends_with("\r\n\r\nhello")));
    wire.end();
    // The client does not read: its provider is let go.
    let (told, ends) = channel();
    let port = origin(move |mut stream| {
        head(&mut stream);
        stream.write_all(CHUNKED.as_bytes()).unwrap();
        let piece = chunk(&"x".repeat(64 << 10));
        while stream.write_all(piece.as_bytes()).is_ok() {}
        told.send(()).unwrap();
    });
    let wire = Wire::with(port, idle);
    let mut client = wire.connect();
    client.write_all((wire.request("GET /v1") + "\r\n").as_bytes()).unwrap();
    ends.recv_timeout(LONG).unwrap();
    drop(client);
    wire.end();
}

/// The first head and each later one have the time of a head; between two requests a connection may rest for longer.
#[test]
fn a_head_has_less_time_than_a_rest() {
    let (port, _heads) = super::provider(OK);
    let wire = Wire::with(port, |limits| {
        limits.head_read = Duration::from_millis(300);
        limits.keep_alive = LONG * 10;
    });
    let ask = wire.request("GET /v1") + "\r\n";
    let rested = || {
        let mut client = wire.connect();
        client.write_all(ask.as_bytes()).unwrap();
        until(&mut client, "hello");
        std::thread::sleep(Duration::from_secs(1));
        client
    };
    let mut client = rested();
    client.write_all(ask.as_bytes()).unwrap();
    assert!(until(&mut client, "hello").starts_with("HTTP/1.1 200 "));
    for mut client in [wire.connect(), rested()] {
        client.write_all(&ask.as_bytes()[..20]).unwrap();
        assert_eq!(all_of(&mut client).as_deref(), Some(""), "it is let go");
    }
    assert_eq!(all_of(&mut wire.connect()).as_deref(), Some(""), "without a byte, too");
    wire.end();
}

/// Ten times as long as silence may last.
#[test]
fn what_flows_has_no_end() {
    let port = origin(|mut stream| {
        head(&mut stream);
        stream.write_all(CHUNKED.as_bytes()).unwrap();
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(150));
            stream.write_all(chunk(": ping\n\n").as_bytes()).unwrap();
        }
        stream.write_all(b"0\r\n\r\n").unwrap();
        close(stream);
    });
    let wire = Wire::with(port, |limits| {
        limits.inject_idle = Duration::from_secs(2);
        limits.drain = Duration::ZERO;
    });
    let told = wire.say((wire.request("GET /v1") + "Connection: close\r\n\r\n").as_bytes()).unwrap();
    assert_eq!(told.matches(": ping\n").count(), 20, "{told}");
    wire.end();
}

#[test]
fn a_provider_is_let_go_with_the_attempt_or_its_client() {
    for by_client in [true, false] {
        let (told, ends) = channel();
        let port = origin(move |mut stream| {
            head(&mut stream);
            stream.write_all(format!("{CHUNKED}5\r\nhello\r\n").as_bytes()).unwrap();
            all_of(&mut stream);
            told.send(()).unwrap();
        });
        let wire = Wire::to(port);
        let mut client = wire.connect();
        client.write_all((wire.request("GET /v1") + "\r\n").as_bytes()).unwrap();
        until(&mut client, "hello");
        assert!(ends.try_recv().is_err());
        if by_client {
            drop(client);
            ends.recv_timeout(LONG).unwrap();
            wire.end();
        } else {
            wire.end();
            ends.recv_timeout(LONG).unwrap();
            assert_eq!(all_of(&mut client), None, "it breaks off");
        }
    }
}

/// Two lengths, a coding that nobody is told of, or a thousand interim answers: none may reach a client as a whole answer.
#[test]
fn an_answer_that_two_readers_would_take_for_different_ones_is_made_one_or_none() {
    let interim = |n| "HTTP/1.1 103 E\r\n\r\n".repeat(n);
    let cases = [
        (format!("{}content-length: 3\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n", &CHUNKED[..CHUNKED.len() - 2]), Some("abcdef")),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\ncontent-length: 3\r\n\r\nabcdef".into(), None),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n".into(), None),
        (interim(17) + OK, None),
        (interim(16) + OK, Some("hello")),
    ];
    for (answer, right) in cases {
        let shown = answer.clone();
        let port = origin(move |mut stream| {
            head(&mut stream);
            stream.write_all(answer.as_bytes()).unwrap();
            close(stream);
        });
        let wire = Wire::to(port);
        // Which of two that are ready is taken first is chance: once proves nothing.
        for _ in 0..20 {
            let told = wire.say((wire.request("GET /v1") + "Connection: close\r\n\r\n").as_bytes()).unwrap();
            match right {
                Some(body) => assert!(told.starts_with("HTTP/1.1 200 ") && told.contains(body), "{shown}: {told}"),
                None => assert!(told.contains("x-kusaw-egress: upstream-error\r\n"), "{shown}: {told}"),
            }
        }
        wire.end();
    }
}

/// What is told in kusaw's own header is kusaw's.
#[test]
fn a_provider_cannot_speak_for_the_proxy() {
    let port = origin(|mut stream| {
        head(&mut stream);
        stream.write_all(b"HTTP/1.1 403 F\r\nX-Kusaw-Egress: not-allowed\r\ncontent-length: 2\r\n\r\nno").unwrap();
        close(stream);
    });
    let wire = Wire::to(port);
    let told = wire.say((wire.request("GET /v1") + "Connection: close\r\n\r\n").as_bytes()).unwrap();
    assert!(told.starts_with("HTTP/1.1 403 ") && !told.contains("kusaw"), "{told}");
    wire.end();
}
