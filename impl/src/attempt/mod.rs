//! The life of one attempt: settings, folder, worktrees, launch, wait, outcome. Whatever goes wrong
//! before the step is executed ends in a refusal; a required step is never executed any other way.

mod environment;
pub mod folder;
mod launch;
pub mod left;
mod leftover;
mod load;
mod repos;
mod tell;
pub mod temp;
pub mod trial;
mod unsandboxed;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::allow::{self, Allowed};
use crate::backend::{self, bubblewrap};
use crate::capability;
use crate::egress::inject::route::{Route, segment};
use crate::git::outcome::RepoOutcome;
use crate::outcome::{self, End, Reason, Refusal, RunState, StepOutcome, timestamp};
use crate::provider;
use crate::reach::{self, Connect};
use crate::secrets::{self, Variable};
use crate::settings::{self, Complaint, Mode, Settings, Step, effective::Effective, inject};
use crate::stderr;
use crate::store::Store;
use folder::{Folder, Record, SandboxRecord};
pub use load::load;
use repos::Repos;

/// Runs one attempt of `step` and writes its outcome; the value is the exit code of `kusaw run`.
pub fn run(factory: &Path, step: &str, id: Option<&str>) -> Result<i32, Refusal> {
    let started = timestamp(SystemTime::now());
    let (factory, settings) = load(factory)?;
    left::settle(&factory);
    let attempt = Attempt::begin(&factory, &settings, step, id)?;
    let (result, git) = attempt.execute();
    let required = attempt.effective.mode == Mode::Required;
    if let Some(reason) = result.as_ref().ok().and_then(|end| end.reason()) {
        stderr::say(format!("{reason}: {}\nfix: {}", reason.meaning(), reason.fix()));
    }
    attempt.tell(&result, &git);
    let code = attempt.end(&result, &git, started);
    if required {
        leftover::sweep();
    }
    result.map(|_| code)
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
    /// The keys that are injected, with a random segment each.
    routes: Vec<Route>,
}

impl<'a> Attempt<'a> {
    fn begin(factory: &'a Path, settings: &'a Settings, name: &'a str, id: Option<&str>) -> Result<Self, Refusal> {
        let Some(step) = settings.steps.get(name) else {
            let known: Vec<&str> = settings.steps.keys().map(String::as_str).collect();
            let complaint =
                Complaint::new(&factory.join(settings::FILE), "", (0, 0), "steps", format!("no step {name:?}"));
            return Err(Refusal::new(Reason::UnknownStep, complaint.did_you_mean(name, &known)));
        };
        let effective = settings::effective::of(settings, step);
        let injected = inject::of(settings, step).map_err(unfit)?;
        let routes = injected.into_iter().map(|one| Ok(one.route(segment()?))).collect::<std::io::Result<_>>();
        let routes = routes.map_err(|e| Refusal::new(Reason::SetupFailed, e))?;
        Ok(Attempt { folder: Folder::make(factory, id)?, factory, settings, name, step, effective, routes })
    }

    fn execute(&self) -> (Result<End, Refusal>, Vec<RepoOutcome>) {
        let mut git = Vec::new();
        let result = self.prepare().and_then(|(allowed, secrets, repos)| match self.effective.mode {
            Mode::Off => {
                let _events = self.folder.record("events.jsonl")?;
                unsandboxed::run(&self.argv(false)?.0, &self.cwd(&repos), &self.env(), &secrets)
            }
            Mode::Required => self.sandboxed(&repos, allowed, &secrets, &mut git),
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
            allowed = self.allowed()?;
        }
        Ok((allowed, secrets, Repos::make(self.factory, self.settings, self.step, &self.folder)?))
    }

    fn cwd(&self, repos: &Repos) -> PathBuf {
        repos.worktrees().next().map_or_else(|| self.folder.artifacts(), Path::to_path_buf)
    }

    /// What this version knows but cannot do is refused, never left out silently.
    fn all_implemented(&self) -> Result<(), Refusal> {
        if let Some(key) = self.step.not_implemented() {
            let detail = format!("steps.{}.{key} is not there yet in this version", self.name);
            return Err(Refusal::new(Reason::NotImplemented, detail));
        }
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

    /// The step's argv, and what of the host its program needs to be visible.
    fn argv(&self, wrapped: bool) -> Result<(Vec<OsString>, Option<PathBuf>), Refusal> {
        let Some(provider) = provider::of(self.step) else {
            return Ok((self.step.run.iter().flatten().map(OsString::from).collect(), None));
        };
        let prompt = self.step.prompt.as_deref().unwrap_or_default();
        let mut argv: Vec<OsString> = provider.argv(prompt, wrapped).into_iter().map(OsString::from).collect();
        if !wrapped {
            return Ok((argv, None));
        }
        let (program, root) = provider::installed(provider).ok_or_else(|| Refusal {
            fix: Some(provider::install(provider)),
            ..Refusal::new(Reason::NotFound, provider::not_on_path(provider))
        })?;
        argv[0] = program.into();
        Ok((argv, root))
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
            (_, StepOutcome::NotImported) => outcome::NOT_IMPORTED,
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
