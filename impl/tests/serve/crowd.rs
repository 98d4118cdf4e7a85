//! Two hundred attempts on one `serve`, twenty at a time, each with another allowlist; and more than one can host.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::factory::{Factory, factory, wait_until};
use super::{Serve, WAITS, asks, events, serving, summaries, try_start};

pub const ATTEMPTS: usize = 200;
pub const AT_ONCE: usize = 20;

/// Asks its own origin through the proxy and directly, then those of three others, and a host of its own that is blocked. The
/// path says who asks. Without a process for each question.
const STEP: &str = r#"
ask() {
  exec 3<>"/dev/tcp/$1/$2" || { echo "none"; return; }
  printf 'GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n' "$3" "$4" >&3
  read -r _ status _ <&3; echo "$status"
}
proxied() { ask 127.0.0.1 3128 "http://$1/$me" "$1"; }
proxied "127.0.0.1:$own"; proxied "localhost:$own"; ask 127.0.0.1 "$own" "/$me" "localhost:$own"
[ -z "$six" ] || ask ::1 "$own" "/$me" "localhost:$own"
for other in $others; do proxied "127.0.0.1:$other"; ask 127.0.0.1 "$other" "/$me" x 2>/dev/null; done
proxied "blocked-$me.example"
"#;

/// An origin for each attempt; what was asked of each.
struct Origins {
    ports: Vec<u16>,
    asked: Arc<Mutex<Vec<BTreeSet<String>>>>,
}

impl Origins {
    fn new() -> Origins {
        let listeners: Vec<TcpListener> =
            (0..ATTEMPTS).map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap()).collect();
        let ports = listeners.iter().map(|one| one.local_addr().unwrap().port()).collect();
        let asked = Arc::new(Mutex::new(vec![BTreeSet::new(); ATTEMPTS]));
        for (n, listener) in listeners.into_iter().enumerate() {
            let asked = asked.clone();
            // They end with the test.
            thread::spawn(move || {
                for stream in listener.incoming() {
                    let mut stream = stream.unwrap();
                    let mut head = vec![0; 4096];
                    let got = stream.read(&mut head).unwrap_or(0);
                    let line = String::from_utf8_lossy(&head[..got]);
                    // Other programs of this machine may look at what listens on its loopback; an attempt asks for its own path.
                    let path = line.split(' ').nth(1).filter(|path| path.starts_with('/')).map(str::to_string);
                    asked.lock().unwrap()[n].extend(path);
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                }
            });
        }
        Origins { ports, asked }
    }

    fn others(&self, n: usize) -> String {
        [1, 7, 100].map(|step| self.ports[(n + step) % ATTEMPTS].to_string()).join(" ")
    }

    fn settings(&self, six: bool) -> String {
        let mut text = "sandbox: {mode: required, network: allowlist}\nsteps:\n".to_string();
        for (n, own) in self.ports.iter().enumerate() {
            let variables =
                format!("me={n}; own={own}; six={}; others='{}'", if six { "6" } else { "" }, self.others(n));
            let script = serde_json::to_string(&(variables + STEP)).unwrap();
            text += &format!(
                "  s{n}:\n    run: [bash, -c, {script}]\n    sandbox: {{egress: {{allow: ['localhost:{own}']}}}}\n"
            );
        }
        text
    }
}

/// Threads, descriptors, and memory in KiB.
pub fn burden(serve: &Serve) -> (usize, usize, usize) {
    let process = format!("/proc/{}", serve.0.id());
    let status = fs::read_to_string(format!("{process}/status")).unwrap();
    let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok());
    (serve.threads(), fs::read_dir(format!("{process}/fd")).unwrap().count(), memory.unwrap())
}

fn run_all(factory: &Factory, numbers: std::ops::Range<usize>, six: bool) {
    let own = if six { "200\n".repeat(4) } else { "200\n".repeat(3) };
    run_each(factory, numbers, &(own + &"403\nnone\n".repeat(3) + "403\n"));
}

/// Runs the steps of these numbers, so many at a time; each says the same.
pub fn run_each(factory: &Factory, numbers: std::ops::Range<usize>, wanted: &str) {
    let next = AtomicUsize::new(numbers.start);
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= numbers.end {
                        return;
                    }
                    let (step, id) = (format!("s{n}"), format!("a{n}"));
                    let output = factory.command().args(["run", &step, "--attempt", &id]).output().unwrap();
                    assert_eq!(String::from_utf8_lossy(&output.stdout), wanted, "{n}: {output:?}");
                }
            });
        }
    });
}

#[test]
fn no_attempt_reaches_what_is_another_s_and_nothing_is_left_of_them() {
    let origins = Origins::new();
    let six = TcpListener::bind("[::1]:0").is_ok();
    let factory = Factory::new(&origins.settings(six));
    let serve = Serve::of(&factory);
    let at_first = burden(&serve);
    // What the first ones leave is what a process keeps: its heap, and nothing that grows.
    run_all(&factory, 0..AT_ONCE, six);
    let memory = burden(&serve).2;
    run_all(&factory, AT_ONCE..ATTEMPTS, six);
    for n in 0..ATTEMPTS {
        assert_eq!(origins.asked.lock().unwrap()[n], BTreeSet::from([format!("/{n}")]), "origin {n}");
        let id = format!("a{n}");
        let log = fs::read_to_string(factory.path().join("attempts").join(&id).join("egress.log")).unwrap();
        let blocked: Vec<String> = log
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
            .map(|line| {
                assert_eq!(line["attempt"], *id);
                line["host"].as_str().unwrap().to_string()
            })
            .collect();
        // Other ports of the loopback are one host.
        assert_eq!(blocked, ["127.0.0.1".to_string(), format!("blocked-{n}.example")], "{n}");
        assert_eq!((summaries(&factory, &id).len(), events(&factory, &id).len()), (1, 3), "{n}");
        assert_eq!(summaries(&factory, &id)[0]["blocked_total"], 4, "{n}");
    }
    assert_light(&serve, at_first, memory);
}

/// It has the threads and descriptors of the beginning, and no more memory than after the first attempts.
pub fn assert_light(serve: &Serve, at_first: (usize, usize, usize), memory: usize) {
    let started = Instant::now();
    wait_until(|| {
        let now = burden(serve);
        (now.0, now.1) == (at_first.0, at_first.1) || started.elapsed() > Duration::from_secs(15)
    });
    let now = burden(serve);
    assert_eq!((now.0, now.1), (at_first.0, at_first.1), "threads and descriptors");
    assert!(now.2 < memory + 2048, "{memory} KiB after {AT_ONCE} attempts, {} after {ATTEMPTS}", now.2);
}

/// It is said before anything of the attempt is executed, and nobody who is there already notices.
#[test]
fn an_attempt_for_which_no_descriptors_are_left_is_refused_until_another_has_ended() {
    let factory = factory("", "");
    serving(&factory, &(WAITS.to_owned() + "; " + &asks("blocked.example:80") + "true"));
    let serve = Serve::limited(&factory, 80);
    let mut going_on = Vec::new();
    let refused = loop {
        let id = format!("a{}", going_on.len());
        match try_start(&factory, &id) {
            Ok(started) => going_on.push((id, started)),
            Err(refused) => break refused,
        }
        assert!(going_on.len() < 40, "80 open files are not enough for these");
    };
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(125) && said.contains("serve-full"), "{refused:?}");
    assert!(said.contains("open files") && said.contains("fix: wait until another attempt has ended"), "{said}");
    assert!(going_on.len() > 1, "{}", going_on.len());
    let go = |id: &str| fs::write(factory.path().join("attempts").join(id).join("artifacts/go"), "").unwrap();
    let (id, (first, _out)) = going_on.remove(0);
    go(&id);
    assert!(first.wait_with_output().unwrap().status.success());
    going_on.push(("next".into(), try_start(&factory, "next").unwrap()));
    for (id, (run, mut out)) in going_on {
        go(&id);
        let mut rest = String::new();
        out.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "went on\n403\n", "{id}: its proxy answers");
        assert!(run.wait_with_output().unwrap().status.success());
        assert_eq!(summaries(&factory, &id)[0]["complete"], true);
    }
    drop(serve);
}
