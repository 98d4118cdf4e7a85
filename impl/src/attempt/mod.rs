//! The life of one attempt: settings, folder, worktrees, launch, wait, outcome. Whatever goes wrong
//! before the step is executed ends in a refusal; a required step is never executed any other way.

mod environment;
pub mod folder;
mod leftover;
pub mod temp;
mod unsandboxed;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::allow::{self, Allowed};
use crate::backend::{self, Launch, bubblewrap};
use crate::egress::{self, entry::Entry};
use crate::git::worktree::{self, Worktree};
use crate::outcome::{End, Reason, Refusal, RunState, StepOutcome, timestamp};
use crate::process::{signals::Signals, stdio::Stdio};
use crate::provider::{self, Provider};
use crate::reach::{self, Connect, Reach};
use crate::settings::{self, Complaint, Mode, Network, Settings, Step, effective::Effective};
use crate::stderr;
use folder::{Folder, Record, SandboxRecord};
use temp::TempFolder;

/// Runs one attempt of `step` and writes its outcome.
pub fn run(factory: &Path, step: &str, id: Option<&str>) -> Result<End, Refusal> {
    let started = timestamp(SystemTime::now());
    let (factory, settings) = load(factory)?;
    let attempt = Attempt::begin(&factory, &settings, step, id)?;
    let result = attempt.execute();
    let required = attempt.effective.mode == Mode::Required;
    attempt.end(&result, started);
    if required {
        leftover::sweep();
    }
    result
}

/// The factory's real path and its settings.
pub fn load(factory: &Path) -> Result<(PathBuf, Settings), Refusal> {
    let file = factory.join(settings::FILE);
    let unreadable = |e: std::io::Error| Refusal::new(Reason::BadSettings, format!("{}: {e}", file.display()));
    let mut bytes = Vec::new();
    // A pipe or a device must not hold us: it is opened without waiting, and refused.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = File::options().read(true).custom_flags(flags).open(&file).map_err(unreadable)?;
    if !opened.metadata().map_err(unreadable)?.is_file() {
        return Err(unreadable(std::io::Error::other("not a file")));
    }
    opened.take(settings::MAX as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let wrong = |c: Box<Complaint>| Refusal::new(Reason::BadSettings, c);
    let settings = settings::read(&file, &bytes).map_err(wrong)?;
    Ok((fs::canonicalize(factory).map_err(unreadable)?, settings))
}

struct Attempt<'a> {
    factory: &'a Path,
    settings: &'a Settings,
    name: &'a str,
    step: &'a Step,
    effective: Effective,
    folder: Folder,
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
        Ok(Attempt { folder: Folder::make(factory, id)?, factory, settings, name, step, effective })
    }

    fn execute(&self) -> Result<End, Refusal> {
        self.all_implemented()?;
        let mut allowed = Allowed::default();
        if self.effective.mode == Mode::Required {
            // Before a branch and a worktree are made for nothing.
            bubblewrap::installed()?;
            allowed = self.allowed()?;
        }
        let worktrees = self.make_worktrees()?;
        let cwd = worktrees.first().cloned().unwrap_or_else(|| self.folder.artifacts());
        match self.effective.mode {
            Mode::Off => {
                let _events = self.folder.record("events.jsonl")?;
                unsandboxed::run(&self.argv(false)?.0, &cwd, &self.env())
            }
            Mode::Required => self.sandboxed(&worktrees, &cwd, allowed),
        }
    }

    /// What this version knows but cannot do is refused, never left out silently.
    fn all_implemented(&self) -> Result<(), Refusal> {
        let blocks = [Some(("sandbox", &self.settings.sandbox)), self.step.block().map(|b| ("the step's sandbox", b))];
        let in_blocks = blocks.into_iter().flatten().filter(|_| self.effective.mode == Mode::Required);
        let mut missing = in_blocks.filter_map(|(place, b)| b.not_implemented().map(|key| format!("{place}: {key}")));
        let of_step = self.step.not_implemented().map(|key| format!("steps.{}.{key}", self.name));
        if let Some(key) = of_step.or_else(|| missing.next()) {
            return Err(Refusal::new(Reason::NotImplemented, format!("{key} is not there yet in this version")));
        }
        match self.connect() {
            Connect::Allowed(entries) if self.effective.mode == Mode::Required => reach::all_can_listen(&entries),
            _ => Ok(()),
        }
    }

    /// What `allow_read` and `allow_write` come to, with a line on stderr for each entry that opens more than it should.
    fn allowed(&self) -> Result<Allowed, Refusal> {
        let (allowed, warnings) = allow::of_attempt(self.factory, self.settings, self.name, self.step)?;
        warnings.iter().for_each(stderr::warn);
        Ok(allowed)
    }

    /// All of them, or none.
    fn make_worktrees(&self) -> Result<Vec<PathBuf>, Refusal> {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let mut made: Vec<Worktree> = Vec::new();
        for name in &self.step.repos {
            let Some(repo) = self.settings.repos.get(&name.value) else { continue };
            let place = worktree::place(&repo.path.value, self.factory, home.as_deref());
            match Worktree::add(&place, &self.folder.worktree(&name.value), &self.folder.id) {
                Ok(worktree) => made.push(worktree),
                Err(mut refusal) => {
                    made.into_iter().for_each(|worktree| refusal.detail += &worktree.undo());
                    return Err(refusal);
                }
            }
        }
        Ok(made.into_iter().map(|worktree| worktree.at).collect())
    }

    /// The step's argv, and what of the host its program needs to be visible.
    fn argv(&self, wrapped: bool) -> Result<(Vec<OsString>, Option<PathBuf>), Refusal> {
        if let Some(run) = &self.step.run {
            return Ok((run.iter().map(OsString::from).collect(), None));
        }
        let provider = self.provider();
        let prompt = self.step.prompt.as_deref().unwrap_or_default();
        let mut argv: Vec<OsString> = provider.argv(prompt, wrapped).into_iter().map(OsString::from).collect();
        if !wrapped {
            return Ok((argv, None));
        }
        let (program, root) = provider::installed(provider)
            .ok_or_else(|| Refusal::new(Reason::NotFound, format!("{} is not on PATH", provider.executable)))?;
        argv[0] = program.into();
        Ok((argv, root))
    }

    fn provider(&self) -> &'static Provider {
        let name = self.step.provider.as_ref().map(|p| p.value.as_str());
        name.and_then(provider::find).unwrap_or(provider::DEFAULT)
    }

    fn env(&self) -> Vec<(String, String)> {
        self.step.env.iter().map(|(n, v)| (n.clone(), v.clone())).collect()
    }

    fn sandboxed(&self, worktrees: &[PathBuf], cwd: &Path, allowed: Allowed) -> Result<End, Refusal> {
        if nix::unistd::geteuid().is_root() {
            stderr::warn("running as root: a sandbox around root's own user id protects less");
        }
        let (argv, program) = self.argv(true)?;
        let setup = |what: &str, e: std::io::Error| Refusal::new(Reason::SetupFailed, format!("{what}: {e}"));
        // Before any thread exists and anything is made that a sudden end would leave behind.
        let signals = Signals::take().map_err(|e| setup("signals", e.into()))?;
        let waiting = bubblewrap::start(&self.connect())?;
        let temp = TempFolder::make().map_err(|e| setup("private temp folder", e))?;
        let reach = self.reach(&temp, worktrees, program, allowed);
        let ports = reach.ports();
        if ports.len() > kusaw_enter::channel::MAX_PORTS {
            return Err(Refusal::new(Reason::NotImplemented, "more than 63 entries of the form localhost:PORT"));
        }
        let stdio = Stdio::prepare().map_err(|e| setup("stdio", e))?;
        let events = self.folder.record("events.jsonl")?;
        let mut egress = match &reach.connect {
            Connect::Anywhere => None,
            Connect::Allowed(entries) => {
                let log = self.folder.record("egress.log")?;
                Some(egress::Egress::new(&self.folder.id, entries, ports, log, events))
            }
        };
        let mut ready = |listeners| egress.as_mut().map_or(Ok(()), |egress| egress.start(listeners));
        let mut meanwhile = || temp.furnish().map_err(|e| setup("private temp folder", e));
        let (signals, meanwhile, ready) = (&signals, &mut meanwhile, &mut ready);
        let launch = Launch { argv: &argv, cwd, reach: &reach, stdio, signals, meanwhile, ready };
        let end = bubblewrap::launch(waiting, launch);
        // The sandbox is dead: nothing can be refused any more, so the summary is exact.
        egress.into_iter().for_each(|egress| egress.finish());
        end
    }

    fn reach(&self, temp: &TempFolder, worktrees: &[PathBuf], program: Option<PathBuf>, allowed: Allowed) -> Reach {
        let home = reach::home();
        let is_own = std::env::var_os("HOME").is_some_and(|own| home == Path::new(&own));
        let mut reach = Reach {
            home,
            temp: temp.temp.clone(),
            home_is_open: allowed.home_is_open && is_own,
            read: [self.folder.path.clone()].into_iter().chain(program).chain(allowed.read).collect(),
            write: [self.folder.artifacts()]
                .into_iter()
                .chain(worktrees.iter().cloned())
                .chain(allowed.write)
                .collect(),
            hide: allowed.hide,
            links: allowed.links,
            identities: allowed.identities,
            pins: worktrees.iter().map(|w| w.join(".git")).collect(),
            connect: self.connect(),
            env: Vec::new(),
        };
        reach.hide_private();
        let caller: Vec<_> = std::env::vars_os().collect();
        reach.env = environment::inside(&reach, &caller, &self.env());
        reach
    }

    /// The factory's allowlist, the step's on top, and the provider's own hosts.
    fn connect(&self) -> Connect {
        let factory = &self.settings.sandbox;
        let step = self.step.block();
        let network = step.and_then(|b| b.network).or(factory.network);
        if network != Some(Network::Allowlist) {
            return Connect::Anywhere;
        }
        let written = [Some(factory), step].into_iter().flatten().flat_map(|b| &b.egress.allow);
        let mut entries: Vec<Entry> = written.filter_map(|e| Entry::parse(&e.value).ok()).collect();
        let wanted = step.and_then(|b| b.egress.provider_hosts).or(factory.egress.provider_hosts);
        if wanted.unwrap_or(true) && self.step.run.is_none() {
            entries.extend(self.provider().egress.iter().filter_map(|e| Entry::parse(e).ok()));
        }
        Connect::Allowed(entries)
    }

    fn end(self, result: &Result<End, Refusal>, started: String) {
        let required = self.effective.mode == Mode::Required;
        let record = Record {
            contract: 1,
            attempt: &self.folder.id.clone(),
            step: self.name,
            state: if result.is_ok() { RunState::Ended } else { RunState::Refused },
            outcome: result.as_ref().map_or(StepOutcome::Refused, |end| end.outcome()),
            reason: result.as_ref().err().map(|refusal| refusal.reason),
            exit_code: result.as_ref().map_or_else(Refusal::exit_code, |end| end.exit_code()),
            signal: result.as_ref().ok().and_then(|end| end.signal()),
            sandbox: SandboxRecord {
                effective: self.effective.mode.word(),
                why: &self.effective.why,
                backend: required.then_some(backend::bubblewrap::NAME),
            },
            started,
            ended: timestamp(SystemTime::now()),
        };
        if let Err(e) = self.folder.finish(&record) {
            stderr::warn(format!("outcome.json could not be written: {e}"));
        }
    }
}
