//! Plain requests: one verdict each, rebuilt heads, answers as they come, and what is written down.

use std::sync::Arc;
use std::time::Duration;

use super::world::allow;

const GET: &str = "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n";

#[tokio::test]
async fn each_request_of_a_connection_is_judged_by_itself() {
    let world = allow(&["a.example", "b.example"]).start().await;
    let mut client = world.connect().await;
    for (host, short) in
        [("a.example", "200"), ("b.evil", "403 not-allowed"), ("a.example", "200"), ("b.example", "200")]
    {
        client.send(format!("GET http://{host}/ HTTP/1.1\r\nHost: a.example\r\n\r\n").as_bytes()).await;
        let answer = client.answer().await;
        assert_eq!(answer.short(), short, "{host}");
        assert_eq!(answer.body.contains(&format!("\r\nHost: {host}\r\n")), short == "200", "{}", answer.body);
    }
    client.send(b"CONNECT b.evil:443 HTTP/1.1\r\n\r\n").await;
    let answer = client.answer().await;
    assert_eq!(answer.short(), "403 not-allowed");
    assert_eq!(
        answer.body,
        "kusaw: b.evil:443 is blocked (not-allowed). To allow it: sandbox.egress.allow: [\"b.evil:443\"] in kusaw.yaml.\n"
    );
    client.send(GET.as_bytes()).await;
    assert_eq!(client.answer().await.short(), "200", "the connection goes on");
}

#[tokio::test]
async fn a_connection_to_an_origin_serves_one_client_and_one_place() {
    let world = allow(&["a.example", "b.example"]).start().await;
    let dials = || world.outside.dialled.lock().unwrap().len();
    let mut client = world.connect().await;
    for (url, expected) in [("a.example", 1), ("a.example", 1), ("a.example:81", 2), ("b.example", 3), ("a.example", 4)]
    {
        client.send(GET.replace("//a.example", &format!("//{url}")).as_bytes()).await;
        assert_eq!(client.answer().await.short(), "200");
        assert_eq!(dials(), expected, "{url}");
    }
    assert_eq!(world.ask(GET).await.short(), "200");
    assert_eq!(dials(), 5, "another client, another connection");
}

#[tokio::test]
async fn a_name_is_looked_up_once_a_request_and_judged_each_time() {
    let answers: &[&[&str]] = &[&["93.184.216.34"], &["127.0.0.1"], &["93.184.216.34"]];
    let world = allow(&["a.example"]).answer("a.example", answers).start().await;
    let mut client = world.connect().await;
    for (lookups, short) in [(1, "200"), (2, "403 private-address"), (3, "200")] {
        client.send(GET.as_bytes()).await;
        let answer = client.answer().await;
        assert_eq!((answer.short().as_str(), world.outside.lookups.lock().unwrap().len()), (short, lookups));
        assert!(!answer.body.contains("127.0.0.1"), "{}", answer.body);
    }
    assert!(world.outside.dialled.lock().unwrap().iter().all(|a| a.ip().to_string() == "93.184.216.34"));
    assert_eq!(world.ask(&GET.replace("a.ex", "nx.ex")).await.short(), "403 not-allowed");
}

#[tokio::test]
async fn two_framings_become_one() {
    for headers in
        ["Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5"]
    {
        let world = allow(&["a.example"]).start().await;
        let smuggled = "GET http://b.evil/ HTTP/1.1\r\nHost: b.evil\r\n\r\n";
        let body = "2\r\nhi\r\n0\r\n\r\n";
        let request =
            format!("POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\n{headers}\r\n\r\n{body}{smuggled}");
        let answer = world.ask(&request).await;
        assert_eq!(answer.short(), "200");
        let got = world.origin.got().concat().to_ascii_lowercase();
        assert!(got.contains("transfer-encoding: chunked") && !got.contains("content-length"), "{got}");
        assert!(!got.contains("b.evil"), "{got}");
    }
}

#[tokio::test]
async fn headers_of_the_hop_stay_behind() {
    let world = allow(&["a.example"]).start().await;
    let hop = "Connection: Upgrade, HTTP2-Settings, x-mine\r\nUpgrade: h2c\r\nHTTP2-Settings: x\r\nX-Mine: 1\r\n\
               Proxy-Authorization: Basic x\r\nProxy-Connection: keep-alive\r\nTE: trailers\r\nKeep-Alive: 5\r\n";
    for upgrade in ["h2c", "websocket"] {
        let hop = hop.replace("h2c", upgrade);
        let answer =
            world.ask(&format!("GET http://a.example/p?q HTTP/1.1\r\nHost: x\r\n{hop}Accept: */*\r\n\r\n")).await;
        assert_eq!(answer.body, "GET /p?q HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n\r\n");
        assert!(!answer.head.contains("X-Hop") && !answer.head.contains("x-hop"), "{}", answer.head);
    }
}

#[tokio::test]
async fn redirects_are_the_clients_business() {
    let world = allow(&["a.example"]).start().await;
    let answer = world.ask(&GET.replace("/ HTTP", "/redirect HTTP")).await;
    assert_eq!(answer.status, 302);
    assert!(answer.head.contains("http://b.evil/"), "{}", answer.head);
    assert_eq!(world.outside.dialled.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn odd_answers_are_an_upstream_error() {
    for path in ["/switch", "/flood", "/hints", "/large", "/coded", "/close"] {
        let world = allow(&["a.example"]).start().await;
        let answer = world.ask(&GET.replace("/ HTTP", &format!("{path} HTTP"))).await;
        assert_eq!(answer.short(), "502 upstream-error", "{path}");
        assert_eq!(world.outside.dialled.lock().unwrap().len(), 1, "{path}: nothing is sent twice");
    }
}

#[tokio::test]
async fn an_answer_has_one_length_and_speaks_for_nobody_else() {
    let world = allow(&["a.example"]).start().await;
    let answer = world.ask(&GET.replace("/ HTTP", "/lengths HTTP")).await;
    assert!(answer.status == 200 && !answer.head.to_ascii_lowercase().contains("content-length"), "{}", answer.head);
    let answer = world.ask(&GET.replace("/ HTTP", "/own HTTP")).await;
    assert_eq!((answer.short().as_str(), answer.body.as_str()), ("403", "no"));
}

/// An old client takes the end of the connection for that of an answer.
#[tokio::test]
async fn an_answer_that_breaks_off_is_no_whole_one() {
    let world = allow(&["a.example"]).start().await;
    for (version, breaks) in [("HTTP/1.0", true), ("HTTP/1.1", false)] {
        let mut client = world.connect().await;
        client.send(GET.replace("/ HTTP/1.1", &format!("/broken {version}")).as_bytes()).await;
        let rest = client.rest().await;
        assert_eq!(rest.is_err(), breaks, "{version}: {rest:?}");
        // A client that knows chunks sees that the last one is missing.
        assert!(rest.is_err() || !rest.unwrap().ends_with(b"0\r\n\r\n"));
    }
}

#[tokio::test]
async fn bare_line_feeds_and_other_protocols_are_no_request() {
    let world = allow(&["a.example"]).start().await;
    let hello = "\u{16}\u{3}\u{1}\0\u{5}hello\r\n\r\n";
    for noise in
        [&GET.replace("\r\n", "\n"), "GET /\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", hello, "\u{5}\u{1}\0\r\n\r\n"]
    {
        let answer = world.ask(noise).await;
        assert!([0, 400].contains(&answer.status), "{noise:?}: {}", answer.short());
    }
    assert!(world.log().is_empty(), "noise is no host");
    assert!(world.origin.got().is_empty());
    let (events, _) = world.end().await;
    assert_eq!(events[0]["malformed"], 5);
}

#[tokio::test]
async fn heads_have_a_size_and_a_time() {
    let setup = allow(&["a.example"])
        .limits(|l| (l.head_read, l.keep_alive) = (Duration::from_millis(300), super::world::LONG));
    let world = setup.start().await;
    let long = format!("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nX: {}\r\n\r\n", "x".repeat(70 << 10));
    assert_eq!(world.ask(&long).await.status, 431);
    let many = format!("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n{}\r\n", "X: y\r\n".repeat(101));
    assert_eq!(world.ask(&many).await.status, 431);
    let target = format!("GET http://a.example/{} HTTP/1.1\r\nHost: a.example\r\n\r\n", "x".repeat(9 << 10));
    assert_eq!(world.ask(&target).await.short(), "431 bad-request");
    assert_eq!(world.ask("GET http://a.exam").await.short(), "408 bad-request");
    assert_eq!(world.ask("").await.status, 0, "nothing at all is closed without a word");
    let mut client = world.connect().await;
    client.send(GET.as_bytes()).await;
    assert_eq!(client.answer().await.short(), "200");
    tokio::time::sleep(Duration::from_millis(900)).await;
    client.send(GET.as_bytes()).await;
    assert_eq!(client.answer().await.short(), "200", "between two requests there is more time");
    client.send(b"GET http").await;
    assert_eq!(client.answer().await.short(), "408 bad-request", "but not inside one");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_blocked_host_has_one_line_that_is_there_before_the_answer() {
    let world = Arc::new(allow(&["a.example"]).start().await);
    let mut all = Vec::new();
    for n in 0..20 {
        let world = world.clone();
        all.push(tokio::spawn(async move {
            let host = format!("h{n}.evil");
            assert_eq!(world.ask(&format!("CONNECT {host}:443 HTTP/1.1\r\n\r\n")).await.short(), "403 not-allowed");
            let lines = world.log();
            let line = lines.iter().find(|l| l["host"] == *host);
            assert_eq!(line.map(|l| l["port"].as_u64()), Some(Some(443)), "{host} is not in the log yet");
            for spelling in [format!("CONNECT H{n}.EVIL.:80"), format!("GET http://{host}:81/")] {
                world.ask(&format!("{spelling} HTTP/1.1\r\nHost: x\r\n\r\n")).await;
            }
        }));
    }
    for one in all {
        one.await.unwrap();
    }
    assert_eq!(world.log().len(), 20);
    let (events, _) = Arc::into_inner(world).unwrap().end().await;
    assert_eq!((&events[20]["blocked_distinct"], &events[20]["blocked_total"]), (&20.into(), &60.into()));
}
