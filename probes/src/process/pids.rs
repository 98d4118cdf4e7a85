//! `pids MARK`: which visible processes have MARK in their command line. This probe is none of them, and neither is
//! whoever only asks for them or started a `daemon` with that mark.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::process;

use super::processes::{content, pids, without_question};
use crate::action::Action;
use crate::files::sweep::contains;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Looks for marked processes.
pub struct Pids {
    mark: OsString,
}

impl Pids {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [mark] = words.exactly(["MARK"])?;
        if mark.is_empty() {
            return Err(Usage("MARK is not empty".to_owned()));
        }
        Ok(Self { mark })
    }

    fn marks(&self, pid: u32) -> bool {
        let mark = self.mark.as_bytes();
        let cmdline = content(format!("/proc/{pid}/cmdline").as_ref()).unwrap_or_default();
        let asked = without_question(&cmdline, "pids", mark);
        pid != process::id() && contains(&without_question(&asked, "daemon", mark), mark)
    }
}

impl Action for Pids {
    fn target(&self) -> String {
        self.mark.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let pids = match pids() {
            Ok(pids) => pids,
            Err(error) => return error.into(),
        };
        let marked = pids.iter().filter(|pid| self.marks(**pid)).map(|pid| Json::count(*pid));
        Seen::ok(Json::object([("pids", Json::list(marked)), ("count", Json::count(pids.len()))]))
    }
}
