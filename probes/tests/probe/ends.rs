//! How the probe ends before its end, and what it says until then.

use std::os::unix::process::ExitStatusExt;
use std::process::{Output, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::{one, probe};

/// What an end by itself leaves: the lines before it, and no end line.
fn ended(words: &str) -> (Output, Vec<Value>) {
    let output = probe().args(words.split(' ')).output().unwrap();
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    (output, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

#[test]
fn an_exit_ends_the_probe_at_once() {
    for code in [0, 3, 37, 255] {
        let (output, lines) = ended(&format!("argv + exit {code} + argv"));
        assert_eq!(output.status.code(), Some(code));
        assert_eq!(lines.iter().map(|line| &line["action"]).collect::<Vec<_>>(), ["argv"]);
    }
}

#[test]
fn a_signal_to_itself_ends_the_probe() {
    for (name, number) in [("TERM", 15), ("KILL", 9), ("SEGV", 11), ("PIPE", 13), ("6", 6), ("40", 40)] {
        let (output, lines) = ended(&format!("argv + self-signal {name} + argv"));
        assert_eq!((output.status.signal(), output.status.core_dumped()), (Some(number), false));
        assert_eq!(lines.len(), 1);
    }
    let seen = one("self-signal WINCH");
    assert_eq!((&seen["ok"], &seen["detail"]), (&json!(true), &json!({})));
}

#[test]
fn what_is_printed_is_as_long_as_asked_for() {
    for bytes in [0, 1, 64, 5000, 3 << 20] {
        let output = probe().args(["print", &bytes.to_string()]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let printed = text.find('{').unwrap();
        assert_eq!(printed, bytes);
        let line: Value = serde_json::from_str(text[printed..].lines().next().unwrap()).unwrap();
        assert_eq!((&line["ok"], &line["detail"]["written"]), (&json!(true), &json!(bytes)));
    }
}

#[test]
fn what_nobody_reads_is_an_error() {
    let mut child = probe().args(["print", "1000000"]).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_sleep_takes_its_time() {
    let started = Instant::now();
    assert_eq!(one("sleep 120")["target"], "120");
    assert!(started.elapsed().as_millis() >= 120);
}
