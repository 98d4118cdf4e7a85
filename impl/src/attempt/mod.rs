//! The life of one attempt: settings, folder, worktrees, launch, wait, outcome. Whatever goes wrong
//! before the step is executed ends in a refusal; a required step is never executed any other way.

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

use crate::allow::{self, Allowed};
use crate::backend::{self, bubblewrap};
use crate::capability;
use crate::egress::inject::route::{Route, segment};
use crate::git::outcome::RepoOutcome;
use crate::outcome::{End, Reason, Refusal, RunExit, RunState, StepOutcome, timestamp};
use crate::reach::{self, Connect};
use crate::secrets::{self, Variable};
use crate::settings::{self, Complaint, Mode, Settings, Step, effective::Effective, inject};
use crate::stderr;
use crate::store::Store;
use folder::{Folder, Record, SandboxRecord};
pub use load::load;
use repos::Repos;

/// Runs `step`: one attempt, or with `per_repo: true` one for each of its repos; the value is the exit code of `kusaw run`.
/// `report` tells the user of a refusal after which other attempts go on, and has its exit code.
pub fn run(factory: &Path, step: &str, id: Option<&str>, report: &dyn Fn(&Refusal) -> i32) -> Result<i32, Refusal> {
    let (factory, settings) = load(factory)?;
    left::settle(&factory);
    let found = named(&factory, &settings, step)?;
    // The user is asked before anything is made, and once.
    let is_asked = found.provider.is_some() && found.prompt.is_none();
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

    fn prepare(&self) -> Result<(Allowed, Vec<Variable>, Repos), Refusal> {
        self.all_implemented()?;
        let secrets = secrets::of_step(self.factory, self.settings, self.name, self.step)?;
        let mut allowed = Allowed::default();
        if self.effective.mode == Mode::Required {
            // Before a branch and a worktree are made for nothing.
            bubblewrap::installed()?;
            self.has_agent()?;
            allowed = self.allowed()?;
            repos::can_sign(self.factory, self.settings, self.step)?;
        }
        Ok((allowed, secrets, Repos::make(self.factory, self.settings, self.step, &self.folder)?))
    }

    /// What a launch would refuse for the settings, before anything is made.
    fn check(&self) -> Result<(), Refusal> {
        self.all_implemented()?;
        if self.effective.mode == Mode::Required {
            bubblewrap::installed()?;
            allow::of_attempt(self.factory, self.settings, self.name, self.step)?;
        }
        Ok(())
    }

    fn cwd(&self, repos: &Repos) -> PathBuf {
        repos.worktrees().next().map_or_else(|| self.folder.artifacts(), Path::to_path_buf)
    }

    /// What this version knows but cannot do is refused, never left out silently.
    fn all_implemented(&self) -> Result<(), Refusal> {
        self.has_secrets()?;
        self.has_capabilities()?;
        match self.connect() {
            Connect::Allowed(grant) if self.effective.mode == Mode::Required => reach::all_can_listen(&grant),
            _ => Ok(()),
        }
    }

    /// A step whose key is missing would only fail at its provider, later and with less said.
    fn has_secrets(&self) -> Result<(), Refusal> {
        if self.effective.mode == Mode::Off {
            return Ok(());
        }
        let injected = inject::of(self.settings, self.step).map_err(unfit)?;
        for one in &injected {
            let store = Store::own().map_err(|e| Refusal::new(Reason::SecretStore, e))?;
            if !store.has(&one.secret) {
                let detail = format!("steps.{}: inject {}: no secret {} in the store", self.name, one.name, one.secret);
                let fix = Some(format!("kusaw config set {} --secret", one.secret));
                return Err(Refusal { fix, ..Refusal::new(Reason::NoSecret, detail) });
            }
        }
        Ok(())
    }

    fn has_capabilities(&self) -> Result<(), Refusal> {
        match capability::missing(self.settings, self.step) {
            None => Ok(()),
            Some(missing) => {
                let detail = format!("steps.{}.requires: {missing} is not_supported here", self.name);
                Err(Refusal { fix: Some(missing.fix().into()), ..Refusal::new(Reason::NotSupported, detail) })
            }
        }
    }

    /// What `allow_read` and `allow_write` come to, with a line on stderr for each entry that opens more than it should.
    fn allowed(&self) -> Result<Allowed, Refusal> {
        let (allowed, warnings) = allow::of_attempt(self.factory, self.settings, self.name, self.step)?;
        warnings.iter().for_each(stderr::warn);
        Ok(allowed)
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
