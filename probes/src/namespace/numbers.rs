//! `namespaces [PID]`: the numbers of the namespaces that PID, or the probe itself, is in. Two processes are in the
//! same one where the numbers are the same (namespaces(7)).

use std::fs;
use std::io;

use nix::errno::Errno;

use crate::action::Action;
use crate::json::Json;
use crate::process::pid::Pid;
use crate::seen::{Seen, errno, or_errno};
use crate::words::{Usage, Words};

const KINDS: [&str; 7] = ["user", "pid", "ipc", "uts", "mnt", "net", "cgroup"];

/// Shows the numbers.
pub struct Namespaces {
    pid: Pid,
}

impl Namespaces {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        Ok(Self { pid: Pid::or_own(words.at_most_one("PID")?)? })
    }

    fn number(&self, kind: &str) -> io::Result<i64> {
        let link = fs::read_link(self.pid.folder().join("ns").join(kind))?;
        number(&link.to_string_lossy()).ok_or_else(|| Errno::EINVAL.into())
    }
}

impl Action for Namespaces {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    fn run(&self) -> Seen {
        let mut first = None;
        let numbers = KINDS.map(|kind| {
            let number = self.number(kind).map(Json::Number);
            if let Err(error) = &number {
                first.get_or_insert_with(|| errno(error));
            }
            (kind, or_errno(number))
        });
        Seen { errno: first, detail: Json::object(numbers) }
    }
}

/// What stands in the brackets of `pid:[4026531836]`.
fn number(link: &str) -> Option<i64> {
    link.split_once('[')?.1.strip_suffix(']')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_in_brackets() {
        assert_eq!(number("pid:[4026531836]"), Some(4_026_531_836));
        assert_eq!(number("/tmp/x"), None);
    }
}
