//! Large bodies pass through whoever hosts the proxy without being held there.

use std::fs;
use std::io::{Read, Write};

use super::hidden::{finish, up};
use super::wire::{close, origin};
use super::{HOSTS, OK, factory, head, keep};

const UP: usize = 32 << 20;
const DOWN: usize = 100 << 20;

const STEP: &str = "wait_for() { until [ -e $1 ]; do sleep 0.02; done; }; curl -sS $P_URL/small; echo; echo up; wait_for more; \
                    head -c 33554432 /dev/zero | curl -sS -T - $P_URL/up; echo; curl -sS $P_URL/down | wc -c; echo up; wait_for go";

/// The most memory that it ever had, in KiB.
fn peak(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

#[test]
fn what_passes_is_not_held() {
    for host in HOSTS {
        let port = origin(|mut stream| {
            let whole = head(&mut stream);
            let (head, mut rest) =
                (whole.split(' ').nth(1).unwrap(), whole.split_once("\r\n\r\n").unwrap().1.as_bytes().to_vec());
            let (mut sum, mut piece) = (rest.len(), vec![0; 64 << 10]);
            let answer = match head {
                "/v1/up" => {
                    while !rest.ends_with(b"\r\n0\r\n\r\n") {
                        let Ok(n @ 1..) = stream.read(&mut piece) else { return };
                        sum += n;
                        rest.extend_from_slice(&piece[..n]);
                        rest.drain(..rest.len().saturating_sub(8));
                    }
                    assert!((UP..UP + (1 << 20)).contains(&sum), "{sum}");
                    OK.to_string()
                }
                "/v1/down" => format!("HTTP/1.1 200 OK\r\ncontent-length: {DOWN}\r\n\r\n"),
                _ => OK.to_string(),
            };
            stream.write_all(answer.as_bytes()).unwrap();
            if head == "/v1/down" {
                piece.fill(b'x');
                (0..DOWN / piece.len()).for_each(|_| stream.write_all(&piece).unwrap());
            }
            close(stream);
        });
        let factory = factory(port, STEP);
        keep(&factory);
        let serve = host.start(&factory);
        let mut running = up(factory.command(), "a");
        let pid = serve.as_ref().map_or(running.run.0.id(), |serve| serve.0.id());
        let before = peak(pid);
        fs::write(factory.attempt().join("artifacts/more"), "").unwrap();
        running.goes_on();
        assert_eq!(running.said, format!("hello\n{DOWN}\nup\n"), "{host:?}");
        let after = peak(pid);
        assert!(after < before + (4 << 10), "{host:?}: {before} KiB, then {after}");
        finish(running, &factory, "a");
    }
}
