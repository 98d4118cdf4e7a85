//! Carrying out a plan: one launch of the driver, or the same command bare, and what came of it.
//!
//! Every launch is bounded, in a process group of its own, with an environment that is known. What is printed is kept
//! whole; nothing is judged here.

pub mod arrange;
mod bare;
pub mod environment;
mod files;
mod order;
mod outcome;
pub mod places;
mod process;
mod shell;
pub mod stdio;
pub mod terminal;
mod worktrees;

use std::path::Path;

use serde_json::{Value, json};

use crate::driver::{Kind, Manifest, Network, Templates};
use crate::lab::fault::Fault;
use crate::lab::{DRIVER_BIN, HOME, Lab, UID, home};
use crate::plan::Plan;
use order::Order;
pub use outcome::Launch;
pub use process::Live;
pub use shell::{SHELL, shell};

/// The probe as a step names it: the worktree holds it.
pub const PROBE_IN_WORKTREE: &str = "tools/probe";

/// The id of an attempt: no other of the run has it.
pub fn attempt_id(nonce: &str, attempt: u32) -> String {
    format!("{nonce}-a{attempt}")
}

/// What is launched, and where its files go.
#[derive(Clone, Copy, Debug)]
pub struct Launcher<'a> {
    /// How the implementation is asked.
    pub manifest: &'a Manifest,
    /// Where.
    pub lab: &'a Lab,
}

impl Launcher<'_> {
    /// How the driver is started for a network; `None` = it does not offer that mode. Where a scenario asks for nothing, the
    /// network is open; a sandbox that has no such mode is then asked without a network.
    pub fn offered(&self, network: Network) -> Option<&[String]> {
        if self.manifest.kind == Kind::Factory {
            return Some(&self.manifest.commands.run);
        }
        let launch = &self.manifest.launch;
        let argv = match network {
            Network::Closed => &launch.closed,
            Network::Allowlist => &launch.allowlist,
            Network::Open => {
                if launch.open.is_some() {
                    &launch.open
                } else {
                    &launch.closed
                }
            }
        };
        argv.as_deref()
    }

    /// The templates of a launch that is still to come: where its places will be.
    ///
    /// # Errors
    /// When a template of the manifest is wrong.
    pub fn templates(&self, plan: &Plan, nonce: &str, attempt: u32) -> Result<Templates, String> {
        let factory = places::factory(plan, nonce);
        let context = self.context(plan, nonce, &Value::Null, &factory, &attempt_id(nonce, attempt))?;
        Ok(Templates::new(context))
    }

    /// Launches the plan under the driver. `nonce` is unique in the run, `attempt` within the scenario.
    ///
    /// # Errors
    /// When the harness cannot prepare the launch: a template, a file, a fault.
    pub async fn launch(&self, plan: &Plan, nonce: &str, attempt: u32) -> Result<Launch, String> {
        self.launch_live(plan, nonce, attempt, &Live::default()).await
    }

    /// The same, and tells the process while it runs.
    ///
    /// # Errors
    /// As [`Launcher::launch`].
    pub async fn launch_live(&self, plan: &Plan, nonce: &str, attempt: u32, live: &Live) -> Result<Launch, String> {
        let offered = self.offered(plan.network()).ok_or("the driver does not offer this network")?;
        self.ask(offered, plan, nonce, attempt, live).await
    }

    /// Has a factory look at the settings of the plan; nothing is executed.
    ///
    /// # Errors
    /// As [`Launcher::launch`], and when the driver has no such command.
    pub async fn validate(&self, plan: &Plan, nonce: &str, attempt: u32) -> Result<Launch, String> {
        let command = self.manifest.commands.validate.as_deref().ok_or("the driver has no commands.validate")?;
        self.ask(command, plan, nonce, attempt, &Live::default()).await
    }

    /// Has a factory say what its sandbox can do here, and, if it is to be verbose, what it cannot.
    ///
    /// # Errors
    /// As [`Launcher::validate`].
    pub async fn check(&self, plan: &Plan, verbose: bool, nonce: &str, attempt: u32) -> Result<Launch, String> {
        let mut command = self.manifest.commands.check.clone().ok_or("the driver has no commands.check")?;
        command.extend(verbose.then(|| "--verbose".to_owned()));
        self.ask(&command, plan, nonce, attempt, &Live::default()).await
    }

    /// Has a factory carry out one of its commands, by the manifest's name for it.
    ///
    /// # Errors
    /// As [`Launcher::validate`].
    pub async fn command(&self, name: &str, plan: &Plan, nonce: &str, attempt: u32) -> Result<Launch, String> {
        let command = self.manifest.commands.named(name).ok_or_else(|| format!("the driver has no commands.{name}"))?;
        self.ask(command, plan, nonce, attempt, &Live::default()).await
    }

    /// Has a factory host its proxy for all attempts, until `live` is ended.
    ///
    /// # Errors
    /// As [`Launcher::validate`].
    pub async fn serve(&self, plan: &Plan, nonce: &str, attempt: u32, live: &Live) -> Result<Launch, String> {
        let command = self.manifest.commands.serve.as_ref().ok_or("the driver has no commands.serve")?;
        self.ask(&command.run, plan, nonce, attempt, live).await
    }

    async fn ask(
        &self,
        asked: &[String],
        plan: &Plan,
        nonce: &str,
        attempt: u32,
        live: &Live,
    ) -> Result<Launch, String> {
        let attempt = attempt_id(nonce, attempt);
        let factory = places::factory(plan, nonce);
        std::fs::create_dir_all(&factory).map_err(|e| format!("{}: {e}", factory.display()))?;
        home::provide_repositories(nonce).map_err(|e| format!("the repositories of {nonce}: {e}"))?;
        let settings = plan.settings(|name| places::repository(plan, nonce, name));
        let context = self.context(plan, nonce, &settings, &factory, &attempt)?;
        let templates = std::rc::Rc::new(Templates::new(context));
        files::provide(self.manifest, plan, &settings, &templates)?;
        let command = plan.command();
        let argv = templates.argv(asked)?;
        let cwd = match self.manifest.kind {
            Kind::Sandbox => self.worktrees(plan, nonce, &templates).await?,
            Kind::Factory => factory.clone(),
        };
        let mut environment = environment::of_user();
        plan.home.iter().for_each(|home| environment::set(&mut environment, "HOME", home));
        plan.agents.iter().for_each(|folder| environment::first_on_path(&mut environment, folder));
        environment.extend(plan.variables.iter().cloned());
        for (name, template) in &self.manifest.env.set {
            environment.push((name.clone(), templates.render(template)?));
        }
        environment.retain(|(name, _)| !self.manifest.env.unset.contains(name));
        let fault = plan.fault.clone().or_else(|| plan.watched.then(|| Fault::Backend(environment::recorder(nonce))));
        self.start(Order {
            argv,
            command,
            cwd,
            environment,
            fault,
            name: &attempt,
            templates,
            factory,
            plan: Some(plan),
            live: Some(live),
        })
        .await
    }

    fn context(
        &self,
        plan: &Plan,
        nonce: &str,
        settings: &Value,
        factory: &Path,
        attempt: &str,
    ) -> Result<Value, String> {
        let mut context = json!({
            "program": self.manifest.program.as_ref().map(|p| format!("{DRIVER_BIN}/{p}")),
            "settings": settings,
            "factory": factory,
            "step": plan.asked,
            "argv": plan.command(),
            "attempt": attempt,
            "home": plan.home.as_deref().unwrap_or(HOME),
            "uid": UID,
            "secret": plan.secret,
            "state": format!("{}/state-{attempt}", factory.display()),
            "allow_hosts": plan.hosts(),
            "allow_read": places::absolute(plan, "allow_read"),
            "allow_write": places::absolute(plan, "allow_write"),
            "repo": plan.repos.first().map(|(name, _)| name),
        });
        // Paths that are made of other paths of the manifest.
        context["attempt_dir"] = json!(Templates::new(context.clone()).render(&self.manifest.observe.attempt_dir)?);
        let templates = Templates::new(context.clone());
        let of = |(repo, _): &crate::plan::Repo| templates.with("repo", repo).render(self.manifest.worktree());
        context["worktree"] = json!(templates.render(self.manifest.worktree())?);
        context["git"] = places::git(plan, nonce);
        context["worktrees"] = json!(plan.repos.iter().map(of).collect::<Result<Vec<_>, _>>()?);
        Ok(context)
    }
}
