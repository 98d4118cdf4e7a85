//! `ipcs`: the keys of the System V objects that /proc/sysvipc lists: those of this process's IPC namespace.

use std::fs;
use std::io;

use super::key::Key;
use crate::action::Action;
use crate::json::Json;
use crate::seen::{Seen, errno, or_errno};
use crate::words::{Usage, Words};

const KINDS: [&str; 3] = ["shm", "sem", "msg"];

/// Lists them.
pub struct Ipcs;

impl Ipcs {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [] = words.exactly([])?;
        Ok(Self)
    }
}

impl Action for Ipcs {
    fn target(&self) -> String {
        String::new()
    }

    fn run(&self) -> Seen {
        let mut first = None;
        let listed = KINDS.map(|kind| {
            let keys = listed(kind);
            if let Err(error) = &keys {
                first.get_or_insert_with(|| errno(error));
            }
            (kind, or_errno(keys))
        });
        Seen { errno: first, detail: Json::object(listed) }
    }
}

fn listed(kind: &str) -> io::Result<Json> {
    let text = fs::read_to_string(format!("/proc/sysvipc/{kind}"))?;
    Ok(Json::list(keys(&text).into_iter().map(|key| key.to_string())))
}

/// The first word of each line but the heading, in decimal.
fn keys(text: &str) -> Vec<Key> {
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()?.parse().map(Key).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_stand_at_the_beginning_of_lines() {
        assert_eq!(keys("       key      shmid\n        17   0\n        -1  5\n"), [Key(17), Key(-1)]);
    }
}
