//! Injected keys through the real sandbox, judged at a fake provider on the host's loopback.
#![allow(missing_docs, clippy::unwrap_used)]

mod factory;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};

use factory::Factory;

const KEY: &str = "sk-canary-4f9b2c7d";

/// Answers every request with the same bytes and hands over each head that arrived.
fn provider(answer: &'static str) -> (u16, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, (told, heads)) = (listener.local_addr().unwrap().port(), channel());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut head, mut piece) = (Vec::new(), [0; 4096]);
            while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                match stream.read(&mut piece) {
                    Ok(n) if n > 0 => head.extend_from_slice(&piece[..n]),
                    _ => break,
                }
            }
            let _ = told.send(String::from_utf8_lossy(&head).to_ascii_lowercase());
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, heads)
}

fn factory(port: u16, script: &str) -> Factory {
    let inject = format!(
        "{{name: p, upstream: 'http://127.0.0.1:{port}', base_url_env: P_URL, base_path: /v1, key_env: P_KEY}}"
    );
    let yaml = format!(
        "sandbox: {{mode: required, network: allowlist, egress: {{inject: [{inject}]}}}}\nsteps:\n  s:\n    run: [sh, -c, {script:?}]\n"
    );
    Factory::new(&yaml)
}

fn keep(factory: &Factory) {
    let mut set = factory.command();
    let mut set = set.args(["config", "set", "P_KEY", "--secret"]).stdin(Stdio::piped()).spawn().unwrap();
    set.stdin.take().unwrap().write_all(format!("{KEY}\n").as_bytes()).unwrap();
    assert!(set.wait().unwrap().success());
}

const OK: &str = "HTTP/1.1 200 OK\r\nset-cookie: a=b\r\ncontent-length: 5\r\n\r\nhello";

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
