//! What came of a launch: facts only, for whoever judges.

use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use super::stdio::Files;
use super::terminal::Seen;
use super::{PROBE_IN_WORKTREE, SHELL, shell};
use crate::driver::Templates;
use crate::probe::Report;

/// One launch and what came of it.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What was started.
    pub argv: Vec<String>,
    /// Names of the environment.
    pub env: Vec<String>,
    /// The command inside, if it was a command.
    pub command: Vec<String>,
    /// Exit code; 128+n for a signal.
    pub exit: Option<i32>,
    /// The signal that ended the launcher itself, if one did.
    pub signal: Option<i32>,
    /// Whether it was ended at its bound.
    pub timed_out: bool,
    /// Its stdout; at a terminal, all that was shown.
    pub stdout: Vec<u8>,
    /// Its stderr.
    pub stderr: Vec<u8>,
    /// What the probe in it reported.
    pub report: Report,
    /// Templates in the context of this launch: where to look.
    pub templates: Rc<Templates>,
    /// The factory's folder.
    pub factory: PathBuf,
    /// The files that were its 0, 1 and 2, if they were files.
    pub files: Option<Files>,
    /// What became of the caller's terminal, if it has one.
    pub terminal: Option<Seen>,
    /// How long it took.
    pub took: Duration,
}

impl Launch {
    /// Why nothing is proven by what did not happen in it, if so.
    pub fn unfinished(&self) -> Option<String> {
        let why = match self.command.split_first() {
            Some((program, asked)) if program == PROBE_IN_WORKTREE => self.report.unfinished(asked, self.exit)?,
            Some((program, _)) if program == SHELL => shell::unfinished(self)?,
            _ => self.report.unfinished(&[], self.exit).filter(|_| !self.report.ended)?,
        };
        Some(format!("{why}; stderr: {}", crate::text::line(&self.stderr, 300)))
    }

    /// Everything it printed.
    pub fn output(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&self.stderr));
        text
    }
}
