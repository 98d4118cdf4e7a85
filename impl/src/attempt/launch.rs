//! From settings to a reach, and from there to the end of a step in its sandbox.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::Path;

use super::Attempt;
use super::environment;
use super::exchange::Exchanged;
use super::left;
use super::repos::{Repos, Views};
use super::temp::{STATE, TempFolder};
use crate::allow::{Allowed, StateFile};
use crate::backend::{Launch, bubblewrap};
use crate::egress::inject::route::{PLACEHOLDER, Route};
use crate::egress::{Egress, grant::Grant, settle};
use crate::git::import;
use crate::git::outcome::RepoOutcome;
use crate::outcome::{End, Reason, Refusal};
use crate::process::{signals::Signals, stdio::Stdio};
use crate::provider::{self, Installed, state};
use crate::reach::{self, Connect, Reach, Shown, Temp};
use crate::secrets::Variable;
use crate::settings::{allowlist, inject};
use crate::stderr;

impl Attempt<'_> {
    /// Runs the step in its sandbox; `git` gets what became of its commits.
    pub(super) fn sandboxed(
        &self,
        repos: &Repos,
        mut allowed: Allowed,
        secrets: &[Variable],
        git: &mut Vec<RepoOutcome>,
    ) -> Result<End, Refusal> {
        if nix::unistd::geteuid().is_root() {
            stderr::warn("running as root: a sandbox around root's own user id protects less");
        }
        let cwd = self.cwd(repos);
        let (argv, program) = self.argv(&cwd, true)?;
        let setup = |what: &str, e: std::io::Error| Refusal::new(Reason::SetupFailed, format!("{what}: {e}"));
        // Before any thread exists and anything is made that a sudden end would leave behind.
        let signals = Signals::take().map_err(|e| setup("signals", e.into()))?;
        let waiting = bubblewrap::start(&self.connect())?;
        let temp = TempFolder::make().map_err(|e| setup("private temp folder", e))?;
        let views = repos.show(&self.folder)?;
        let files = std::mem::take(&mut allowed.files);
        let mut reach = self.reach(&temp.temp, &views, program, allowed);
        let exchanged = exchange(&files, &mut reach)?;
        if reach.ports().len() > kusaw_enter::channel::MAX_PORTS {
            return Err(Refusal::new(Reason::NotImplemented, "more than 63 entries of the form localhost:PORT"));
        }
        let stdio = Stdio::prepare().map_err(|e| setup("stdio", e))?;
        let events = self.folder.record(settle::EVENTS)?;
        settle::hold(&events).map_err(|e| setup("the lock on events.jsonl", e))?;
        let mut egress = match &reach.connect {
            Connect::Anywhere => None,
            Connect::Allowed(grant) => {
                let log = self.folder.record(settle::LOG)?;
                Some(Egress::new(&self.folder.id, grant, log, events))
            }
        };
        let mut ready = |listeners, launcher| {
            views.begin(launcher).map_err(|e| setup("the record of git folders", e))?;
            egress.as_mut().map_or(Ok(None), |egress| egress.start_in(self.factory, listeners))
        };
        let mut meanwhile = || {
            temp.furnish().map_err(|e| setup("private temp folder", e))?;
            views.record(&temp.temp).map_err(|e| setup("the record of git folders", e))
        };
        let (signals, meanwhile, ready) = (&signals, &mut meanwhile, &mut ready);
        let launch =
            Launch { argv: &argv, cwd: &cwd, reach: &reach, secrets, stdio, signals, most: None, meanwhile, ready };
        let end = bubblewrap::launch(waiting, launch);
        // The sandbox is dead. Signals that came before were the step's. From now on one that asks ends what follows, and the next
        // run goes on with the import.
        while matches!(signals.next(), Ok(Some(_))) {}
        let asked = Cell::new(false);
        let stop = || {
            asked.set(asked.get() || matches!(signals.asked(), Ok(Some(_))));
            asked.get()
        };
        exchanged.into_iter().for_each(|one| one.give_back(&stop).unwrap_or_else(stderr::warn));
        // Nothing can be refused any more, so the summary is exact.
        if !egress.is_none_or(Egress::finish) {
            self.folder.record(left::UNSETTLED).map_or_else(stderr::warn, drop);
        }
        *git = views.end(end.is_ok(), &stop);
        if end.is_ok() {
            self.tame();
        }
        end
    }

    /// A program that a step leaves must not run as the step's user when somebody else starts it. In worktrees the import
    /// sees to it.
    fn tame(&self) {
        let (done, tamed) = import::tame(&self.folder.artifacts());
        done.iter().for_each(|what| stderr::warn(format!("artifacts: {what}")));
        if let Err(fault) = tamed {
            stderr::warn(format!("artifacts: {}: {}", fault.code, fault.detail));
        }
    }

    /// What the step can reach: of its settings, its folder, its repos' views, and the caller's environment. Nothing is made.
    pub(super) fn reach(&self, temp: &Temp, views: &Views, program: Installed, allowed: Allowed) -> Reach {
        let home = reach::home();
        let is_own = std::env::var_os("HOME").is_some_and(|own| home == Path::new(&own));
        let mut reach = Reach {
            home,
            temp: temp.clone(),
            home_is_open: allowed.home_is_open && is_own,
            read: [self.folder.path.clone()].into_iter().chain(program.roots).chain(allowed.read).collect(),
            write: [self.folder.artifacts()].into_iter().chain(views.worktrees()).chain(allowed.write).collect(),
            hide: allowed.hide,
            links: allowed.links.into_iter().chain(program.links).collect(),
            identities: allowed.identities,
            instead: views.roots(),
            parts: views.parts(),
            connect: self.connect(),
            env: Vec::new(),
        };
        reach.links.sort();
        reach.links.dedup();
        reach.hide_private();
        let caller: Vec<_> = std::env::vars_os().collect();
        reach.env = environment::inside(&reach, &caller, &self.env());
        reach.env.extend(self.of_agent());
        reach.env.extend(self.injected(&reach.connect));
        reach
    }

    /// The variables by which the step's agent finds its state; the step's own `env:` has them already.
    fn of_agent(&self) -> Vec<(OsString, OsString)> {
        let own = &self.step.env;
        let state = provider::of(self.step)
            .and_then(|provider| provider.state(&reach::home(), |name| state::variable(own, name)).ok());
        let variables = state.into_iter().flat_map(|state| state.variables);
        variables.filter(|(name, _)| !own.contains_key(*name)).map(|(name, value)| (name.into(), value)).collect()
    }

    /// The variables of injected keys: the local address, and the placeholder. The step's own `env:` names none of them.
    fn injected(&self, connect: &Connect) -> Vec<(OsString, OsString)> {
        let Connect::Allowed(grant) = connect else { return Vec::new() };
        let Some(port) = grant.inject_port() else { return Vec::new() };
        let of_route = |(one, route): (inject::Injected, &Route)| {
            let base = format!("{}{}", route.base(port), one.base_path);
            [(one.base_url_env.into(), base.into()), (one.key_env.into(), PLACEHOLDER.into())]
        };
        let all = inject::of(self.settings, self.step).unwrap_or_default();
        all.into_iter().zip(&grant.inject).flat_map(of_route).collect()
    }

    /// The network the settings give it.
    pub(super) fn connect(&self) -> Connect {
        let grant = allowlist::grant(self.settings, self.name, self.step);
        grant.map_or(Connect::Anywhere, |grant| Connect::Allowed(Grant { inject: self.routes.clone(), ..grant }))
    }
}

/// Copies of the agent's files, each where the agent looks for it.
fn exchange(files: &[StateFile], reach: &mut Reach) -> Result<Vec<Exchanged>, Refusal> {
    let mut exchanged = Vec::new();
    for file in files {
        let failed =
            |e: std::io::Error| Refusal::new(Reason::SetupFailed, format!("a copy of {}: {e}", file.real.display()));
        let copy = match file.named.strip_prefix(&reach.home) {
            Ok(below) if !reach.home_is_open => reach.temp.home().join(below),
            _ => {
                let from = reach.temp.root.join(format!("{STATE}{}", exchanged.len()));
                reach.parts.push(Shown { from: from.clone(), to: file.real.clone(), write: true });
                from
            }
        };
        exchanged.push(Exchanged::take(file, copy).map_err(failed)?);
    }
    Ok(exchanged)
}
