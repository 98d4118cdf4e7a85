//! Who gets the key, and what else of a request arrives.

use super::{KEY, OK, factory, keep, provider};

#[test]
fn the_provider_gets_the_key_and_the_step_the_placeholder() {
    let (port, heads) = provider(OK);
    let factory = factory(
        port,
        "env; curl -sS -i $P_URL/x -H 'AUTHORIZATION: Bearer '$P_KEY -H 'x-api-key: mine' -H 'Connection: X-Api-Key'; \
         curl -s -o /dev/null -w ' %{http_code}' ${P_URL%/*/*}/0/v1/x; curl -s -o /dev/null -w ' %{http_code}' -H 'Host: evil' $P_URL/x",
    );
    let missing = factory.command().args(["run", "s", "--attempt", "a0"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("kusaw config set P_KEY --secret"));
    keep(&factory);
    let output = factory.command().args(["run", "s", "--attempt", "a"]).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("hello 404 421"), "{out}{err}");
    assert!(out.contains("P_KEY=factory-egress-placeholder\n") && !out.contains("set-cookie"), "{out}");
    assert!(!out.contains(KEY) && !err.contains(KEY));
    let head = heads.recv().unwrap();
    assert!(head.starts_with("get /v1/x http/1.1\r\n"), "{head}");
    assert_eq!(head.matches(&format!("\r\nauthorization: bearer {KEY}\r\n")).count(), 1, "{head}");
    assert!(!head.contains("x-api-key") && !head.contains("placeholder"), "{head}");
    assert!(heads.try_recv().is_err());
    let events = std::fs::read_to_string(factory.attempt().join("events.jsonl")).unwrap();
    assert!(events.contains(r#""injected":{"p":1}"#) && !events.contains(KEY), "{events}");
}

#[test]
fn redirects_are_told_and_an_echo_of_the_key_is_not() {
    let moved = "HTTP/1.1 307 Moved\r\nlocation: http://evil.example/\r\ncontent-length: 0\r\n\r\n";
    let echo = "HTTP/1.1 400 Bad\r\nx-echo: Bearer sk-canary-4f9b2c7d\r\ncontent-length: 0\r\n\r\n";
    let broken = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";
    for (answer, wanted) in [(moved, "307 0"), (echo, "502 0"), (broken, "200 18")] {
        let (port, heads) = provider(answer);
        let factory = factory(port, "curl -s -o /dev/null -w %{http_code} $P_URL/x; echo ' '$?");
        keep(&factory);
        let output = factory.command().args(["run", "s", "--attempt", "a"]).output().unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(out.trim(), wanted, "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(heads.iter().next().map(|head| head.contains(KEY)), Some(true));
    }
}
