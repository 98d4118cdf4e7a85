//! `status [PID]`: the lines of /proc/PID/status about capabilities, filters, owners and the tracer, of PID or itself.

use std::fs;

use super::pid::Pid;
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Sets of capabilities, in hexadecimal.
const TEXTS: [&str; 5] = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
const NUMBERS: [&str; 3] = ["NoNewPrivs", "Seccomp", "TracerPid"];
/// Real, effective, saved, and of the file system.
const LISTS: [&str; 2] = ["Uid", "Gid"];

/// Shows the status.
pub struct Status {
    pid: Pid,
}

impl Status {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        Ok(Self { pid: Pid::or_own(words.at_most_one("PID")?)? })
    }
}

impl Action for Status {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    fn run(&self) -> Seen {
        match fs::read(self.pid.folder().join("status")) {
            Ok(status) => Seen::ok(facts(&String::from_utf8_lossy(&status))),
            Err(error) => error.into(),
        }
    }
}

/// What an older kernel does not tell is null.
fn facts(status: &str) -> Json {
    let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
    let number = |word: &str| word.parse().map_or(Json::Null, Json::Number);
    let list = |line: &str| Json::list(line.split_whitespace().map(number));
    let state = line("State").map(|line| line.chars().take(1).collect::<String>());
    let texts = TEXTS.map(|name| (name, line(name).map_or(Json::Null, Json::from)));
    let numbers = NUMBERS.map(|name| (name, line(name).map_or(Json::Null, number)));
    let lists = LISTS.map(|name| (name, line(name).map_or(Json::Null, list)));
    let state = [("State", state.map_or(Json::Null, Json::from))];
    Json::object(texts.into_iter().chain(numbers).chain(lists).chain(state))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_read_line_by_line() {
        let seen = facts("Name:\tState: x\nState:\tS (sleeping)\nTracerPid:\t7\nUid:\t1\t2\t3\t4\nCapEff:\t00ff\n");
        let text = r#"{"CapInh":null,"CapPrm":null,"CapEff":"00ff","CapBnd":null,"CapAmb":null,"#.to_owned()
            + r#""NoNewPrivs":null,"Seccomp":null,"TracerPid":7,"Uid":[1,2,3,4],"Gid":null,"State":"S"}"#;
        assert_eq!(seen.to_string(), text);
    }
}
