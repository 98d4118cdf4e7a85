//! `connect`, `converse` and `hello`: directly and through a proxy.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{one, probe, reported};

/// A server that gives each connection to `answer` with the head of what it asked.
fn server(answer: impl Fn(String, TcpStream) + Send + Sync + Copy + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let request = request(&mut stream);
                answer(request, stream);
            });
        }
    });
    address
}

fn request(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

fn say(mut stream: &TcpStream, text: &str) {
    stream.write_all(text.as_bytes()).unwrap();
}

#[test]
fn a_direct_connection_shows_what_the_origin_says() {
    let origin = server(|request, stream| {
        say(&stream, &format!("HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\n{}", &request[..4]));
        thread::sleep(Duration::from_secs(20));
    });
    let started = Instant::now();
    let seen = one(&format!("connect {origin}"));
    assert!(started.elapsed() < Duration::from_secs(5), "waited for the end of a complete answer");
    assert_eq!(seen["ok"], true);
    assert_eq!(seen["detail"]["via"], "none");
    assert_eq!(seen["detail"]["address"], origin);
    assert_eq!(seen["detail"]["status"], Value::Null);
    assert!(seen["detail"]["reply"].as_str().unwrap().ends_with("\r\n\r\nGET "));
    assert_eq!(seen["detail"]["attempts"], 1);
}

#[test]
fn silence_and_refusal_have_their_own_symbols() {
    let silent = server(|_, _stream| thread::sleep(Duration::from_secs(20)));
    assert_eq!(one(&format!("connect --timeout 200 {silent}"))["errno"], "ETIMEDOUT");
    let closing = server(|_, _| ());
    assert_eq!(one(&format!("connect {closing}"))["errno"], "ENOREPLY");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let seen = one(&format!("connect {free}"));
    assert_eq!(seen["errno"], "ECONNREFUSED");
    assert_eq!(seen["detail"]["address"], free.to_string());
    let output = probe().env_clear().args(["connect", "--proxy", "http", "a.invalid:80"]).output().unwrap();
    assert_eq!(reported(output)[0]["errno"], "ENOPROXY");
}

/// A proxy that lets `good.invalid` through and answers in the origin's place.
fn proxy() -> String {
    server(|asked, mut stream| {
        let good = asked.contains("good.invalid");
        let tunnel = asked.starts_with("CONNECT ");
        if !good {
            say(&stream, "HTTP/1.1 403 No\r\nContent-Length: 4\r\n\r\nnope");
        } else if tunnel {
            say(&stream, "HTTP/1.1 200 OK\r\n\r\nfirst ");
            let inner = request(&mut stream);
            say(&stream, &inner);
        } else {
            say(&stream, &format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{asked}", asked.len()));
        }
    })
}

fn through(proxy: &str, words: &str) -> Value {
    through_url(&format!("http://{proxy}/"), words)
}

fn through_url(url: &str, words: &str) -> Value {
    let mut command = probe();
    command.env("HTTPS_PROXY", url).env("HTTP_PROXY", url).args(words.split(' '));
    reported(command.output().unwrap()).remove(0)
}

#[test]
fn a_tunnel_carries_the_origins_first_words() {
    let proxy = proxy();
    let seen = through(&proxy, "connect --proxy connect good.invalid:443");
    assert_eq!(seen["ok"], true, "{seen}");
    assert_eq!(seen["detail"]["status"], 200);
    assert_eq!(seen["detail"]["address"], proxy);
    assert_eq!(seen["detail"]["reply"], "first GET / HTTP/1.1\r\nHost: good.invalid\r\nConnection: close\r\n\r\n");
    let seen = through(&proxy, "connect --proxy connect bad.invalid:443");
    assert_eq!((&seen["ok"], &seen["errno"]), (&json!(false), &json!("EPROXY403")));
    assert_eq!(seen["detail"]["status"], 403);
    assert!(seen["detail"]["reply"].as_str().unwrap().ends_with("nope"));
}

#[test]
fn plain_http_goes_in_absolute_form() {
    let proxy = proxy();
    let seen = through(&proxy, "connect --proxy http good.invalid:80");
    assert_eq!(seen["ok"], true, "{seen}");
    assert!(seen["detail"]["reply"].as_str().unwrap().contains("GET http://good.invalid:80/ HTTP/1.1\r\n"));
    let seen = through(&proxy, "connect --proxy http bad.invalid:80");
    assert_eq!(seen["errno"], "EPROXY403");
}

#[test]
fn many_tries_are_counted() {
    let proxy = proxy();
    let seen = through(&proxy, "connect --proxy connect --parallel 8 --times 2 good.invalid:443");
    assert_eq!(seen["detail"]["attempts"], 16);
    assert_eq!(seen["detail"]["counts"], json!({"ok": 16, "refused": 0}));
    let seen = through(&proxy, "connect --proxy http --times 3 bad.invalid:80");
    assert_eq!(seen["detail"]["counts"], json!({"ok": 0, "refused": 3}));
}

#[test]
fn raw_bytes_arrive_as_they_are_and_every_answer_is_told() {
    let echo = server(|asked, mut stream| {
        say(&stream, &format!("HTTP/1.1 200 OK\r\n\r\n{asked}"));
        let mut more = Vec::new();
        stream.read_to_end(&mut more).unwrap();
        stream.write_all(&more).unwrap();
    });
    let seen = one(&format!(r"converse --eof --lull 100 {echo} GET\s/\x01\r\n\r\n \0\xff"));
    assert_eq!(seen["ok"], true, "{seen}");
    assert_eq!(seen["target"], echo);
    assert_eq!(seen["detail"]["answers"], json!([r"HTTP/1.1 200 OK\r\n\r\nGET /\x01\r\n\r\n", r"\x00\xff"]));
    assert_eq!(seen["detail"]["statuses"], json!([200]));
    assert_eq!(seen["detail"]["closed"], true);
    let seen = through(&proxy(), r"converse proxy GET\shttp://bad.invalid/\sHTTP/1.1\r\n\r\n");
    assert_eq!((&seen["ok"], &seen["detail"]["statuses"]), (&json!(true), &json!([403])));
}

#[test]
fn without_a_proxy_nothing_is_sent() {
    for words in ["converse proxy x", "hello --proxy connect a.invalid:443"] {
        let output = probe().env_clear().args(words.split(' ')).output().unwrap();
        assert_eq!(reported(output)[0]["errno"], "ENOPROXY");
    }
}

#[test]
fn a_tls_server_that_says_nothing_of_the_kind_has_no_certificate() {
    let proxy = server(|asked, mut stream| {
        let good = asked.starts_with("CONNECT good.invalid:443 ");
        say(&stream, if good { "HTTP/1.1 200 OK\r\n\r\n" } else { "HTTP/1.1 403 No\r\n\r\n" });
        let mut record = [0; 5];
        if stream.read_exact(&mut record).is_ok() {
            assert_eq!(record[..3], [22, 3, 1]);
            stream.write_all(&[21, 3, 3, 0, 2, 2, 112]).unwrap(); // unrecognized_name
        }
    });
    let seen = through(&proxy, "hello --proxy connect --sni other.invalid good.invalid:443");
    assert_eq!((&seen["errno"], &seen["detail"]["alert"]), (&json!("ENOCERT"), &json!(112)));
    let sent = seen["detail"]["sent"].as_str().unwrap();
    let name: String = b"other.invalid".iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(sent.starts_with("160301") && sent.contains(&name));
    assert_eq!(through(&proxy, "hello --proxy connect bad.invalid:443")["errno"], "EPROXY403");
}

#[test]
fn a_datagram_shows_what_comes_back() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let mut buffer = [0; 64];
        while let Ok((length, client)) = socket.recv_from(&mut buffer) {
            let _ = socket.send_to(&buffer[..length], client);
        }
    });
    for words in ["", "--connected "] {
        let seen = one(&format!("datagram {words}{address}"));
        assert_eq!((&seen["ok"], &seen["detail"]["reply"]), (&json!(true), &json!("kusaw-probe")), "{words}");
    }
}

#[test]
fn every_way_tells_what_a_listener_says() {
    let origin = server(|request, stream| say(&stream, &format!("HTTP/1.1 403 {}\r\n\r\n", &request[..4])));
    let seen = one("every-way nobody.invalid:80");
    let open = seen["detail"]["open"].as_array().unwrap();
    let said = open.iter().find(|one| one["at"] == origin.as_str()).unwrap()["said"].as_str().unwrap();
    assert!(said.contains("403 CONN") && said.contains("403 GET "), "{said}");
}

#[test]
fn every_way_names_itself_to_who_asks_for_that() {
    let proxy = server(|request, stream| {
        let asked = request.contains("Proxy-Authorization: Basic bWU6cHc=\r\n");
        say(&stream, &format!("HTTP/1.1 {} {}\r\n\r\n", if asked { 403 } else { 407 }, &request[..4]));
    });
    let seen = through_url(&format!("http://me:pw@{proxy}/"), "every-way nobody.invalid:80");
    let open = seen["detail"]["open"].as_array().unwrap();
    let said = open.iter().find(|one| one["at"] == proxy.as_str()).unwrap()["said"].as_str().unwrap();
    for answer in ["407 CONN", "407 GET ", "403 CONN", "403 GET "] {
        assert!(said.contains(answer), "{answer}: {said}");
    }
}
