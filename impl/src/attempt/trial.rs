//! A launch that is no attempt: it has no folder, no repository and no records, and goes the way of every launch, so that it
//! can never say anything else than a launch would.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::time::Duration;

use super::environment;
use super::temp::TempFolder;
use crate::backend::{Launch, bubblewrap};
use crate::egress::Egress;
use crate::outcome::{End, Reason, Refusal};
use crate::process::{signals::Signals, stdio::Stdio};
use crate::reach::{self, Connect, Reach};

/// How long a trial may take, from its program's start to its end.
const MOST: Duration = Duration::from_secs(30);

/// What is read of its records and of what it says, in bytes.
const READ: u64 = 64 << 10;

/// What is tried.
#[derive(Debug, Clone, Default)]
pub struct Trial {
    /// Program and arguments.
    pub argv: Vec<OsString>,
    /// Readable besides the system.
    pub read: Vec<PathBuf>,
    /// Where the program starts; its temp folder if nothing is said.
    pub cwd: Option<PathBuf>,
    /// Outbound connections.
    pub connect: Connect,
    /// Variables besides the usual ones.
    pub env: Vec<(String, String)>,
}

/// How it went.
#[derive(Debug)]
pub struct Tried {
    /// How the program ended.
    pub end: End,
    /// Its stdout.
    pub said: Vec<u8>,
    /// The egress.log, empty in open mode.
    pub log: Vec<u8>,
}

impl Trial {
    /// Tries it. The signals are the process's own, taken before any thread was made.
    pub fn run(mut self, signals: &Signals) -> Result<Tried, Refusal> {
        let setup = |e: std::io::Error| Refusal::new(Reason::SetupFailed, e);
        let waiting = bubblewrap::start(&self.connect)?;
        let temp = TempFolder::make().map_err(setup)?;
        let mut reach = Reach {
            home: reach::home(),
            temp: temp.temp.clone(),
            read: std::mem::take(&mut self.read),
            connect: std::mem::take(&mut self.connect),
            ..Reach::default()
        };
        reach.hide_private();
        let caller: Vec<_> = std::env::vars_os().collect();
        reach.env = environment::inside(&reach, &caller, &self.env);
        let cwd = self.cwd.take().unwrap_or_else(|| reach.temp.tmpdir());
        let (stdio, mut said) = Stdio::told().map_err(setup)?;
        let (mut log, events) = (tempfile::tempfile().map_err(setup)?, tempfile::tempfile().map_err(setup)?);
        let mut egress = match &reach.connect {
            Connect::Anywhere => None,
            Connect::Allowed(grant) => Some(Egress::new("trial", grant, log.try_clone().map_err(setup)?, events)),
        };
        let mut ready =
            |listeners, _| egress.as_mut().map_or(Ok(None), |egress| egress.start(listeners).map(|()| None));
        let (meanwhile, ready) = (&mut || temp.furnish().map_err(setup), &mut ready);
        let most = Some(MOST);
        let launch =
            Launch { argv: &self.argv, cwd: &cwd, reach: &reach, secrets: &[], stdio, signals, most, meanwhile, ready };
        let end = bubblewrap::launch(waiting, launch);
        egress.map(Egress::finish);
        log.rewind().map_err(setup)?;
        Ok(Tried { end: end?, said: bounded(&mut said).map_err(setup)?, log: bounded(&mut log).map_err(setup)? })
    }
}

/// The writer is dead: this ends.
fn bounded(from: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(READ).read_to_end(&mut bytes)?;
    Ok(bytes)
}
