//! Two hundred attempts on one `serve`, twenty at a time, each with a key and a provider of its own.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;

use kusaw::store::{Secret, Store};
use zeroize::Zeroizing;

use super::crowd::{AT_ONCE, ATTEMPTS, assert_light, burden, run_each};
use super::factory::Factory;
use super::{Serve, summaries};

/// Asks its provider twice, and once by a segment that is not its own. Without a process for each question.
const STEP: &str = r#"
rest=${P_URL#http://}; at=${rest%%/*}
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/${at#*:}"
  printf 'GET /%s/%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n' "$1" "$me" "$at" "$P_KEY" >&3
  read -r _ status _ <&3; echo "$status"
}
ask "${rest#*/}"; ask "${rest#*/}"; ask "00000000000000000000000000000000/v1/$me"
"#;

/// What each provider was asked: path, and who asked.
type Asked = Arc<Mutex<Vec<BTreeSet<String>>>>;

fn providers() -> (Vec<u16>, Asked) {
    let asked: Asked = Arc::new(Mutex::new(vec![BTreeSet::new(); ATTEMPTS]));
    let ports = (0..ATTEMPTS).map(|n| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (port, asked) = (listener.local_addr().unwrap().port(), asked.clone());
        // They end with the test.
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (mut head, mut piece) = (Vec::new(), [0; 4096]);
                while !head.ends_with(b"\r\n\r\n") {
                    match stream.read(&mut piece) {
                        Ok(n @ 1..) => head.extend_from_slice(&piece[..n]),
                        _ => break,
                    }
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let credentials = head.lines().filter(|line| line.to_ascii_lowercase().starts_with("authorization:"));
                let path = head.split(' ').nth(1).unwrap_or_default();
                // Other programs of this machine may look at what listens on its loopback; an attempt asks below /v1.
                if path.starts_with("/v1/") {
                    let who: Vec<&str> = credentials.map(|line| line.split(' ').next_back().unwrap()).collect();
                    asked.lock().unwrap()[n].insert(format!("{path} {}", who.join(" and ")));
                }
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
        });
        port
    });
    (ports.collect(), asked)
}

#[test]
fn each_provider_sees_the_key_of_its_attempt_and_nothing_is_left_of_them() {
    let (ports, asked) = providers();
    let mut text = "sandbox: {mode: required, network: allowlist}\nsteps:\n".to_string();
    for (n, port) in ports.iter().enumerate() {
        let script = serde_json::to_string(&format!("me={n}{STEP}")).unwrap();
        let entry = format!(
            "name: p, upstream: 'http://127.0.0.1:{port}', base_url_env: P_URL, base_path: /v1, key_env: P_KEY, secret: K{n}"
        );
        text +=
            &format!("  s{n}:\n    run: [bash, -c, {script}]\n    sandbox: {{egress: {{inject: [{{{entry}}}]}}}}\n");
    }
    let factory = Factory::new(&text);
    let store = Store::at(&factory.home().join(".local/share/kusaw"));
    for n in 0..ATTEMPTS {
        store.set(&format!("K{n}"), &Secret::new(Zeroizing::new(format!("key-of-{n}").into()))).unwrap();
    }
    let serve = Serve::of(&factory);
    let at_first = burden(&serve);
    run_each(&factory, 0..AT_ONCE, "200\n200\n404\n");
    let memory = burden(&serve).2;
    run_each(&factory, AT_ONCE..ATTEMPTS, "200\n200\n404\n");
    for n in 0..ATTEMPTS {
        assert_eq!(asked.lock().unwrap()[n], BTreeSet::from([format!("/v1/{n} key-of-{n}")]), "provider {n}");
        let summaries = summaries(&factory, &format!("a{n}"));
        assert_eq!((summaries.len(), &summaries[0]["injected"]["p"]), (1, &2.into()), "{n}");
    }
    assert_light(&serve, at_first, memory);
}

/// Reading a key is work of a thread of its own, whose end is waited for, and no attempt without a key makes one.
#[test]
fn a_key_is_not_read_on_a_thread_that_answers() {
    let inject = "name: p, upstream: 'http://127.0.0.1:9', base_url_env: P_URL, key_env: P_KEY";
    let own = format!("{{egress: {{inject: [{{{inject}}}]}}}}");
    let factory = Factory::new(&format!(
        "sandbox: {{mode: required, network: allowlist}}\nsteps:\n  t: {{run: ['true']}}\n  s: {{run: ['true'], sandbox: {own}}}\n"
    ));
    Store::at(&factory.home().join(".local/share/kusaw"))
        .set("P_KEY", &Secret::new(Zeroizing::new("key".into())))
        .unwrap();
    let serve = Serve::of(&factory);
    let before = serve.threads();
    for (step, more) in [("t", 0), ("s", 1)] {
        assert!(factory.command().args(["run", step, "--attempt", step]).status().unwrap().success());
        // It is kept for a while, for the next key.
        assert_eq!(serve.threads(), before + more, "{step}");
    }
}
