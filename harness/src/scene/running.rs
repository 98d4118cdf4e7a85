//! Carrying out a scenario's plan: once, for several modes, beside another step, or changed for a control.

use serde_json::Value;

use super::Scene;
use crate::driver::Network;
use crate::launch::Launch;
use crate::plan::{Action, OTHER, Plan};
use crate::verdict::{Course, Verdict};
use crate::waiting;

impl Scene {
    /// Carries out the plan, once for each mode that is asked for, and keeps what came of it.
    ///
    /// # Errors
    /// When the harness cannot prepare a launch.
    pub async fn run(&mut self) -> Result<(), String> {
        if !self.can_be_asked()? {
            return Ok(());
        }
        let modes = if self.modes.is_empty() { vec![None] } else { std::mem::take(&mut self.modes) };
        let several = modes.len() > 1;
        for mode in modes {
            let mut plan = self.plan.clone();
            if several {
                match mode {
                    Some(mode) => plan.block().insert("mode".into(), Value::String(mode)),
                    None => plan.block().remove("mode"),
                };
            }
            let launch = self.again(&plan).await?;
            self.keep(launch);
        }
        if self.plan.network() == Network::Allowlist {
            self.seen().await?; // before any control
        }
        Ok(())
    }

    /// Whether the driver offers the network; if not, the scenario is not asked, which it keeps.
    ///
    /// # Errors
    /// As [`Scene::context`].
    pub fn can_be_asked(&mut self) -> Result<bool, String> {
        let network = self.plan.network();
        let offered = Self::launcher()?.offered(network).is_some();
        if !offered {
            self.course = Course::NotAsked(Verdict::NotClaimed, format!("it does not offer the network {network:?}"));
        }
        Ok(offered)
    }

    /// Runs two commands at the same time, as two steps of one factory, and keeps what came of them.
    ///
    /// # Errors
    /// When the harness cannot prepare a launch.
    pub async fn run_beside(&mut self, one: Vec<String>, other: Vec<String>) -> Result<(), String> {
        if !self.can_be_asked()? {
            return Ok(());
        }
        let [_, beside] = self.two(one, other);
        let (launcher, first) = (Self::launcher()?, self.attempts + 1);
        self.attempts += 2;
        let launches = futures::future::join(
            launcher.launch(&self.plan, &self.nonce, first),
            launcher.launch(&beside, &self.nonce, first + 1),
        );
        let (one, other) = launches.await;
        for launch in [one?, other?] {
            self.keep(launch);
        }
        Ok(())
    }

    /// Runs a command that waits in its worktree ([`crate::waiting`]), and while it does, another one, as two steps of one
    /// factory; keeps what came of them.
    ///
    /// # Errors
    /// When the harness cannot prepare a launch.
    pub async fn run_while(&mut self, waits: Vec<String>, other: Vec<String>) -> Result<(), String> {
        let plans = self.two(waits, other);
        self.run_plans_while(plans).await
    }

    /// The same with two plans, of which the first waits.
    ///
    /// # Errors
    /// As [`Scene::run_while`].
    pub async fn run_plans_while(&mut self, [waits, beside]: [Plan; 2]) -> Result<(), String> {
        if !self.can_be_asked()? {
            return Ok(());
        }
        let worktree = self.next_worktree()?;
        let (launcher, first) = (Self::launcher()?, self.attempts + 1);
        self.attempts += 2;
        let then = async {
            let sign = waiting::first_sign(&worktree).await;
            let launched = launcher.launch(&beside, &self.nonce, first + 1).await;
            // Without a sign the first has ended already, or is ended at its bound: then it proves nothing.
            if sign.is_ok() {
                waiting::go(&worktree)?;
            }
            launched
        };
        let (one, other) = futures::future::join(launcher.launch(&waits, &self.nonce, first), then).await;
        for launch in [one?, other?] {
            self.keep(launch);
        }
        Ok(())
    }

    /// Runs two commands one after the other, as two steps of one factory, and keeps what came of them.
    ///
    /// # Errors
    /// When the harness cannot prepare a launch.
    pub async fn run_after(&mut self, one: Vec<String>, other: Vec<String>) -> Result<(), String> {
        if self.can_be_asked()? {
            for plan in self.two(one, other) {
                let launch = self.again(&plan).await?;
                self.keep(launch);
            }
        }
        Ok(())
    }

    /// Makes the plan one of two steps of a factory; the plans of both.
    pub fn two(&mut self, one: Vec<String>, other: Vec<String>) -> [Plan; 2] {
        self.plan.action = Action::Run(one);
        let repos: Vec<&String> = self.plan.repos.iter().map(|(name, _)| name).collect();
        let mut step = serde_json::json!({"repos": repos, "run": other});
        if let Some(sandbox) = self.plan.others.get(OTHER).and_then(|given| given.get("sandbox")) {
            step["sandbox"] = sandbox.clone();
        }
        self.plan.others.insert(OTHER.to_owned(), step);
        [self.plan.clone(), Plan { asked: OTHER.to_owned(), ..self.plan.clone() }]
    }

    pub(super) fn keep(&mut self, launch: Launch) {
        if launch.timed_out {
            self.course = Course::TimedOut(format!("no end after {:.0?}: {}", launch.took, launch.argv.join(" ")));
        }
        self.launches.push(launch);
    }

    /// Runs a command without any sandbox, for the plan's caller: for controls.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn bare(&self, command: &[String]) -> Result<Launch, String> {
        Self::launcher()?.bare_with(command, &format!("{}-bare", self.nonce), &self.plan).await
    }

    /// Carries out a plan without keeping it: for controls.
    ///
    /// # Errors
    /// When the harness cannot prepare the launch.
    pub async fn again(&mut self, plan: &Plan) -> Result<Launch, String> {
        self.attempts += 1;
        Self::launcher()?.launch(plan, &self.nonce, self.attempts).await
    }

    /// Has the factory look at the settings of a plan.
    ///
    /// # Errors
    /// As [`Scene::again`].
    pub async fn validate(&mut self, plan: &Plan) -> Result<Launch, String> {
        self.attempts += 1;
        Self::launcher()?.validate(plan, &self.nonce, self.attempts).await
    }

    /// Has the factory say what its sandbox can do, and cannot.
    ///
    /// # Errors
    /// As [`Scene::again`].
    pub async fn check(&mut self, verbose: bool) -> Result<Launch, String> {
        self.attempts += 1;
        Self::launcher()?.check(&self.plan, verbose, &self.nonce, self.attempts).await
    }

    /// Has the factory carry out one of its commands.
    ///
    /// # Errors
    /// As [`Scene::again`].
    pub async fn says(&mut self, name: &str, plan: &Plan) -> Result<Launch, String> {
        self.attempts += 1;
        Self::launcher()?.command(name, plan, &self.nonce, self.attempts).await
    }

    /// The same plan with one thing changed: for planted controls.
    ///
    /// # Errors
    /// As [`Scene::again`].
    pub async fn changed(&mut self, change: impl FnOnce(&mut Plan)) -> Result<Launch, String> {
        let mut plan = self.plan.clone();
        change(&mut plan);
        self.again(&plan).await
    }
}
