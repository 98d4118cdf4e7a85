//! The life of one attempt: settings, folder, worktrees, launch, wait, outcome. Whatever goes wrong
//! before the step is executed ends in a refusal; a required step is never executed any other way.

mod admission;
mod environment;
mod exchange;
pub mod folder;
mod intake;
mod launch;
pub mod left;
mod leftover;
mod load;
mod merge;
mod per_repo;
pub mod profile;
mod program;
mod repos;
mod setup;
mod tell;
pub mod temp;
pub mod trial;
mod unsandboxed;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::allow::Allowed;
use crate::backend;
use crate::egress::inject::route::{Route, segment};
use crate::git::outcome::RepoOutcome;
use crate::outcome::{End, Reason, Refusal, RunExit, RunState, StepOutcome, timestamp};
use crate::secrets::{self, Variable};
use crate::settings::{self, Complaint, Mode, Settings, Step, attempts, effective::Effective, inject};
use crate::stderr;
use folder::{Folder, Record, SandboxRecord};
pub use load::load;
use repos::Repos;

/// Runs `step`: one attempt, or with `per_repo: true` one for each of its repos; the value is the exit code of `kusaw run`.
/// `report` tells the user of a refusal after which other attempts go on, and has its exit code.
pub fn run(factory: &Path, step: &str, id: Option<&str>, report: &dyn Fn(&Refusal) -> i32) -> Result<i32, Refusal> {
    let (factory, settings) = load(factory)?;
    left::settle(&factory);
    let found = named(&factory, &settings, step)?;
    // The user is asked before anything is made, once, and not for what is refused anyway: that is told and recorded below.
    let is_asked = asks(found)
        && attempts::of(found)
            .iter()
            .all(|one| Attempt::planned(&factory, &settings, step, one).and_then(|planned| planned.admitted()).is_ok());
    let asked = is_asked.then(|| intake::prompt(step)).transpose()?;
    match found.is_per_repo() {
        true => per_repo::run(&factory, &settings, step, asked.as_deref(), id, report),
        false => Attempt::begin(&factory, &settings, step, found, asked.as_deref(), id)?.run(),
    }
}

/// The step of this name.
fn named<'a>(factory: &Path, settings: &'a Settings, name: &str) -> Result<&'a Step, Refusal> {
    settings.steps.get(name).ok_or_else(|| {
        let known: Vec<&str> = settings.steps.keys().map(String::as_str).collect();
        let complaint = Complaint::new(&factory.join(settings::FILE), "", (0, 0), "steps", format!("no step {name:?}"));
        Refusal::new(Reason::UnknownStep, complaint.did_you_mean(name, &known))
    })
}

/// Whether the user is asked for the prompt of its agent.
fn asks(step: &Step) -> bool {
    step.provider.is_some() && step.prompt.is_none() && !step.is_interactive()
}

fn unfit(wrong: inject::Wrong) -> Refusal {
    Refusal { fix: Some(wrong.fix), ..Refusal::new(Reason::BadSettings, wrong.what) }
}

struct Attempt<'a> {
    factory: &'a Path,
    settings: &'a Settings,
    name: &'a str,
    step: &'a Step,
    effective: Effective,
    folder: Folder,
    /// What its agent is told.
    prompt: Option<String>,
    /// The keys that are injected, with a random segment each.
    routes: Vec<Route>,
}

impl<'a> Attempt<'a> {
    fn begin(
        factory: &'a Path,
        settings: &'a Settings,
        name: &'a str,
        step: &'a Step,
        asked: Option<&str>,
        id: Option<&str>,
    ) -> Result<Self, Refusal> {
        Self::in_folder(factory, settings, name, step, asked, || Folder::make(factory, id))
    }

    /// With the folder that `make` makes, once nothing else is wrong with the step.
    fn in_folder(
        factory: &'a Path,
        settings: &'a Settings,
        name: &'a str,
        step: &'a Step,
        asked: Option<&str>,
        make: impl FnOnce() -> Result<Folder, Refusal>,
    ) -> Result<Self, Refusal> {
        let effective = settings::effective::of(settings, step);
        let injected = inject::of(settings, step).map_err(unfit)?;
        let routes = injected.into_iter().map(|one| Ok(one.route(segment()?))).collect::<std::io::Result<_>>();
        let routes = routes.map_err(|e| Refusal::new(Reason::SetupFailed, e))?;
        let prompt = step.prompt.clone().or_else(|| asked.map(Into::into));
        Ok(Attempt { folder: make()?, factory, settings, name, step, effective, prompt, routes })
    }

    /// Executes the step and writes the outcome; the value is the exit code.
    fn run(self) -> Result<i32, Refusal> {
        let started = timestamp(SystemTime::now());
        let (result, git) = self.execute();
        let required = self.effective.mode == Mode::Required;
        if let Some(reason) = result.as_ref().ok().and_then(|end| end.reason()) {
            stderr::say(format!("{reason}: {}\nfix: {}", reason.meaning(), reason.fix()));
        }
        self.tell(&result, &git);
        let code = self.end(&result, &git, started);
        if required {
            leftover::sweep();
        }
        result.map(|_| code)
    }

    fn execute(&self) -> (Result<End, Refusal>, Vec<RepoOutcome>) {
        let mut git = Vec::new();
        let result = self.prepare().and_then(|(allowed, secrets, repos)| {
            let cwd = self.cwd(&repos);
            setup::run(&self.step.setup, &cwd, &self.env())?;
            match self.effective.mode {
                Mode::Off => {
                    let _events = self.folder.record("events.jsonl")?;
                    unsandboxed::run(&self.argv(&cwd, false)?.0, &cwd, &self.env(), &secrets)
                }
                Mode::Required => self.sandboxed(&repos, allowed, &secrets, &mut git),
            }
        });
        (result, git)
    }

    /// What an attempt that may begin has; until here, nothing but its folder was made.
    fn prepare(&self) -> Result<(Allowed, Vec<Variable>, Repos), Refusal> {
        let (allowed, warnings) = self.admitted()?;
        if self.prompt.is_none() && asks(self.step) {
            return Err(Refusal::new(
                Reason::NoPrompt,
                format!("steps.{}: nobody was asked for the prompt", self.name),
            ));
        }
        warnings.iter().for_each(stderr::warn);
        let secrets = secrets::of_step(self.factory, self.settings, self.name, self.step)?;
        Ok((allowed, secrets, Repos::make(self.factory, self.settings, self.step, &self.folder)?))
    }

    fn cwd(&self, repos: &Repos) -> PathBuf {
        repos.worktrees().next().map_or_else(|| self.folder.artifacts(), Path::to_path_buf)
    }

    fn env(&self) -> Vec<(String, String)> {
        self.step.env.iter().map(|(n, v)| (n.clone(), v.clone())).collect()
    }

    fn end(self, result: &Result<End, Refusal>, git: &[RepoOutcome], started: String) -> i32 {
        let required = self.effective.mode == Mode::Required;
        let outcome = result.as_ref().map_or(StepOutcome::Refused, |end| match end.outcome() {
            StepOutcome::Succeeded if git.iter().any(|repo| repo.rejected.is_some()) => StepOutcome::NotImported,
            outcome => outcome,
        });
        let code = match (result, outcome) {
            (_, StepOutcome::NotImported) => RunExit::NotImported.code(),
            (Ok(end), _) => end.exit_code(),
            (Err(refusal), _) => refusal.exit_code(),
        };
        let record = Record {
            contract: 1,
            attempt: &self.folder.id.clone(),
            step: self.name,
            state: if result.is_ok() { RunState::Ended } else { RunState::Refused },
            outcome,
            reason: result.as_ref().map_or_else(|refusal| Some(refusal.reason), |end| end.reason()),
            exit_code: code,
            signal: result.as_ref().ok().and_then(|end| end.signal()),
            sandbox: SandboxRecord {
                effective: self.effective.mode.word(),
                why: &self.effective.why,
                backend: required.then_some(backend::bubblewrap::NAME),
            },
            started,
            ended: timestamp(SystemTime::now()),
            git,
        };
        if let Err(e) = self.folder.finish(&record) {
            stderr::warn(format!("outcome.json could not be written: {e}"));
        }
        code
    }
}
