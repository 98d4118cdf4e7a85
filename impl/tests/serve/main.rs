//! `kusaw serve`: one proxy for all attempts of a factory. Who registers, who is refused, and what becomes of attempts when
//! anything of it is killed. With the real sandbox; origins listen on the host's loopback.
#![allow(missing_docs, clippy::unwrap_used)]

mod crowd;
#[path = "../factory/mod.rs"]
mod factory;
mod keys;
mod life;
mod strangers;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Output, Stdio};

pub use factory::serve::Serve;
use factory::{Factory, settings};
use serde_json::Value;

pub const WAITS: &str = "echo up; until [ -e ../../artifacts/go ]; do sleep 0.02; done; echo went on";

/// The step asks the proxy for this host and port.
pub fn asks(authority: &str) -> String {
    format!("curl -s -o /dev/null -w '%{{http_connect}}\\n' -p http://{authority}/; ")
}

pub fn serving(factory: &Factory, script: &str) {
    settings(factory, "sandbox: {mode: required, network: allowlist}", script);
}

pub fn status(factory: &Factory) -> (Option<i32>, Value) {
    let output = factory.command().args(["service", "status", "--json"]).output().unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

pub fn run(factory: &Factory, id: &str) -> Output {
    factory.command().args(["run", "s", "--attempt", id]).output().unwrap()
}

/// An attempt at work, and what its step says from now on.
pub type Started = (Child, BufReader<std::process::ChildStdout>);

/// Starts an attempt whose step says `up` and then goes on.
pub fn start(factory: &Factory, id: &str) -> Started {
    try_start(factory, id).unwrap()
}

/// The same, or what is said where it never comes up.
pub fn try_start(factory: &Factory, id: &str) -> Result<Started, Output> {
    let mut child = factory
        .command()
        .args(["run", "s", "--attempt", id])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line != "up\n" {
        line.clear();
        if out.read_line(&mut line).unwrap() == 0 {
            return Err(child.wait_with_output().unwrap());
        }
    }
    Ok((child, out))
}

pub fn events(factory: &Factory, id: &str) -> Vec<Value> {
    let text = fs::read_to_string(factory.path().join("attempts").join(id).join("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub fn summaries(factory: &Factory, id: &str) -> Vec<Value> {
    events(factory, id).into_iter().filter(|event| event["type"] == "egress.summary").collect()
}

pub fn outcome(factory: &Factory, id: &str) -> Value {
    serde_json::from_slice(&fs::read(factory.path().join("attempts").join(id).join("outcome.json")).unwrap()).unwrap()
}
