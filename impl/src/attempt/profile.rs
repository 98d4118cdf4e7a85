//! What an attempt of a step would be, with nothing made and nothing started: the way of a launch up to its plan. Where a name
//! is only known when an attempt is made, a word in capitals stands for it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::folder::Folder;
use super::repos::Repos;
use super::{Attempt, load, named};
use crate::allow::Allowed;
use crate::backend::bubblewrap;
use crate::outcome::{Reason, Refusal};
use crate::provider::Installed;
use crate::reach::{Connect, Reach, Temp};
use crate::settings::{Mode, Settings, Step, attempts};
use crate::stderr;
use crate::store::Store;

/// Stands for the attempt's id.
pub const ATTEMPT: &str = "ATTEMPT";

/// Stands for what the private temp folder has in its name.
pub const PRIVATE: &str = "PRIVATE";

/// An attempt that nobody has made.
pub struct Profile {
    /// `off` or `required`.
    pub mode: Mode,
    /// Where that comes from.
    pub why: String,
    /// What the step executes.
    pub argv: Vec<OsString>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// Variables whose values are secrets of the step.
    pub secrets: Vec<String>,
    /// What the step can reach, and how that is made so; none without a sandbox.
    pub sandboxed: Option<(Reach, bubblewrap::Planned)>,
}

/// The profile of `step`, or what a launch of it would be refused for.
pub fn profile(factory: &Path, step: &str) -> Result<Profile, Refusal> {
    let (factory, settings) = load(factory)?;
    let attempts = attempts::of(named(&factory, &settings, step)?);
    // Of those with `per_repo: true` the first.
    let first = attempts.first().ok_or_else(|| Refusal::new(Reason::BadSettings, format!("steps.{step}: no repos")))?;
    of(&factory, &settings, step, first)
}

/// That of one attempt of the step `name`; `factory` is a real path.
pub fn of(factory: &Path, settings: &Settings, name: &str, step: &Step) -> Result<Profile, Refusal> {
    let attempt = Attempt::planned(factory, settings, name, step)?;
    let (allowed, warnings) = attempt.admitted()?;
    warnings.iter().for_each(stderr::warn);
    let mode = attempt.effective.mode;
    let repos = Repos::planned(factory, settings, step, &attempt.folder)?;
    // There is no worktree yet whose files could be looked at; the repository's are what it will have.
    let like = Repos::first_place(factory, settings, step).unwrap_or_else(|| attempt.cwd(&repos));
    let (argv, program) = attempt.argv(&like, mode == Mode::Required)?;
    let sandboxed = match mode {
        Mode::Off => None,
        Mode::Required => Some(attempt.plan(&repos, allowed, program)?),
    };
    let secrets = Store::own().and_then(|store| store.of_step(factory, name)).unwrap_or_default();
    Ok(Profile { mode, why: attempt.effective.why.clone(), argv, cwd: attempt.cwd(&repos), secrets, sandboxed })
}

impl<'a> Attempt<'a> {
    /// One that nobody makes: it has no folder.
    pub(super) fn planned(
        factory: &'a Path,
        settings: &'a Settings,
        name: &'a str,
        step: &'a Step,
    ) -> Result<Self, Refusal> {
        Self::in_folder(factory, settings, name, step, None, || Ok(Folder::planned(factory, ATTEMPT)))
    }

    fn plan(
        &self,
        repos: &Repos,
        allowed: Allowed,
        program: Installed,
    ) -> Result<(Reach, bubblewrap::Planned), Refusal> {
        let above = std::env::temp_dir();
        let above = above.canonicalize().unwrap_or(above);
        let temp = Temp { root: above.join(format!("{}{PRIVATE}", super::temp::PREFIX)) };
        let reach = self.reach(&temp, &repos.plan(&self.folder)?, program, allowed);
        let planned = bubblewrap::planned(&reach)?;
        Ok((reach, planned))
    }
}

impl Profile {
    /// The network's word, and the ports that are listened on inside.
    pub fn network(&self) -> (&'static str, Vec<u16>) {
        match self.sandboxed.as_ref().map(|(reach, _)| reach) {
            Some(reach) if reach.connect != Connect::Anywhere => ("allowlist", reach.ports()),
            _ => ("open", Vec::new()),
        }
    }

    /// Names of the step's variables. Without a sandbox they are the caller's and its own.
    pub fn variables(&self) -> Vec<String> {
        let reach = self.sandboxed.iter().map(|(reach, _)| reach);
        let set = reach.flat_map(|reach| &reach.env).map(|(name, _)| name.to_string_lossy().into_owned());
        set.chain(self.secrets.iter().cloned()).collect()
    }
}
