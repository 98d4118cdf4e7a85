use super::*;
use serde_json::{Value, json};
use std::path::Path;

fn with_log(fill: impl FnOnce(&Log)) -> (Vec<Value>, Vec<Value>) {
    let folder = tempfile::tempdir().unwrap();
    let (lines, events) = (folder.path().join("log"), folder.path().join("events"));
    let log = Log::new("a", File::create(&lines).unwrap(), File::create(&events).unwrap());
    fill(&log);
    log.close().unwrap();
    log.close().unwrap();
    let read = |path: &Path| -> Vec<Value> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    };
    (read(&lines), read(&events))
}

fn name(n: usize) -> Host {
    Host::Name(format!("h{n}.example"))
}

#[test]
fn sixty_hosts_three_times_are_fifty_lines_and_exact_totals() {
    let (log, events) = with_log(|log| {
        for n in (0..180).map(|n| n % 60) {
            log.blocked(&name(n), 443 + n as u16, Via::Connect, Denial::NotAllowed);
        }
    });
    assert_eq!((log.len(), events.len()), (50, 51));
    assert_eq!(log[0]["host"], "h0.example");
    let summary = &events[50];
    assert_eq!(summary["type"], "egress.summary");
    assert_eq!((&summary["blocked_distinct"], &summary["blocked_total"]), (&json!(60), &json!(180)));
    assert_eq!(summary["blocked_suppressed"], 10);
}

#[test]
fn without_a_block_there_is_still_one_summary() {
    let (log, events) = with_log(|log| log.allowed(&name(1), 443));
    assert!(log.is_empty());
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["allowed"][0]["connections"], 1);
}

#[test]
fn each_failure_is_counted_as_what_it_was() {
    let (log, events) = with_log(|log| {
        let all = [(Failure::Dns, 1), (Failure::Connect, 2), (Failure::Timeout, 3), (Failure::Upstream, 4)];
        all.iter().for_each(|(what, times)| (0..*times).for_each(|_| log.failure(*what)));
    });
    assert!(log.is_empty(), "none of them is a block");
    assert_eq!(events[0]["failures"], json!({"dns": 1, "connect": 2, "timeout": 3, "upstream": 4}));
}

#[test]
fn malformed_hosts_share_a_line_and_a_flood_stays_bounded() {
    let (log, events) = with_log(|log| {
        (0..3).for_each(|_| log.malformed(Via::Connect, Denial::BadHost));
        (0..30_000).for_each(|n| log.blocked(&name(n), 1, Via::Http, Denial::NotAllowed));
    });
    assert_eq!(log[0]["host"], MALFORMED);
    assert_eq!(log.len(), LINES);
    let summary = &events[events.len() - 1];
    assert_eq!((&summary["malformed"], &summary["blocked_total"]), (&json!(3), &json!(30_000)));
    assert_eq!((&summary["blocked_distinct"], &summary["distinct_capped"]), (&json!(9_999), &json!(true)));
}

#[test]
fn memory_does_not_follow_the_number_of_hosts() {
    let held = |hosts: usize| {
        let file = || tempfile::tempfile().unwrap();
        let log = Log::new("a", file(), file());
        (0..hosts).for_each(|n| log.blocked(&name(n), 1, Via::Http, Denial::NotAllowed));
        (0..hosts).for_each(|n| log.allowed(&name(n), 1));
        let records = log.records();
        (records.seen.len(), records.seen.capacity(), records.allowed.len(), records.total)
    };
    let (seen, capacity, allowed, total) = held(100_000);
    assert_eq!((seen, allowed, total), (DISTINCT, ALLOWED, 100_000));
    assert_eq!(capacity, held(2 * DISTINCT).1);
}

#[test]
fn a_thousand_hosts_are_a_short_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log = Log::new(&"x".repeat(64), File::create(&path).unwrap(), tempfile::tempfile().unwrap());
    for n in 0..11_000 {
        let host = Host::Name(format!("{}{}", "a23456789.".repeat(24), n % 1_000));
        log.blocked(&host, 65_535, Via::Connect, Denial::PortNotAllowed);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.len() < 20_000 && text.lines().all(|l| l.len() <= 300), "{} bytes", text.len());
    assert_eq!(text.lines().count(), LINES);
    assert_eq!(log.records().total, 11_000);
}
