//! The state of one scenario: its plan, its launches, what was found, and what the controls showed.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::driver::{Manifest, Templates};
use crate::furnished::Furnished;
use crate::lab::{Lab, home, keyring};
use crate::launch::{Launch, Launcher, PROBE_IN_WORKTREE};
use crate::log_check::LogCheck;
use crate::plan::{Action, Plan};
use crate::tree::Tree;
use crate::verdict::{Control, ControlKind, Course, Finding, Verdict};
use crate::waiting;

/// What all scenarios of a run share.
#[derive(Debug)]
pub struct Context {
    /// How the implementation is asked.
    pub manifest: Manifest,
    /// Where.
    pub lab: Lab,
}

/// Set once, before the scenarios of a run start.
pub static CONTEXT: OnceLock<Context> = OnceLock::new();

static NEXT: AtomicU32 = AtomicU32::new(1);

/// A judgement of a place that a planted control repeats on another attempt.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The repo whose worktree it is; none = the artifacts.
    pub repo: Option<String>,
    /// The path in it.
    pub path: PathBuf,
    /// What it must be.
    pub state: crate::place::State,
}

/// The host's tree at several moments.
#[derive(Clone, Debug)]
pub struct Looks {
    /// Before the attempt.
    pub before: Tree,
    /// While its step ran.
    pub during: Option<Tree>,
    /// Its worktree at that moment.
    pub inside: Option<Tree>,
    /// After the attempt.
    pub after: Tree,
    /// What was not looked at: the attempt's own.
    pub skip: Vec<PathBuf>,
    /// Its worktree.
    pub worktree: PathBuf,
}

/// What it means that a launch did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing was proven.
    NoAnswer,
    /// An answer, where the driver says by its exit code that it refused; whatever else happened proves nothing.
    Answer,
    /// Whether the step ran is judged by the mark that it leaves.
    Marked,
}

/// One scenario.
#[derive(Debug, cucumber::World)]
#[world(init = Self::new)]
pub struct Scene {
    /// What is asked for.
    pub plan: Plan,
    /// Several values of the factory's mode, where a scenario holds for each.
    pub modes: Vec<Option<String>>,
    /// A word that no other scenario of the run has: it names its folders and attempts.
    pub nonce: String,
    /// The launches under the driver that are judged, in order.
    pub launches: Vec<Launch>,
    /// What the `Then` steps found.
    pub findings: Vec<Finding>,
    /// What the controls showed.
    pub controls: Vec<Control>,
    /// How far it got.
    pub course: Course,
    /// The last judgement of a log.
    pub check: Option<LogCheck>,
    /// The last judgement of a place.
    pub kept: Option<Kept>,
    /// What was seen of the host's tree.
    pub looks: Option<Looks>,
    /// A file of the user that the step must not change.
    pub victim: Option<PathBuf>,
    /// A name that was searched for on the host.
    pub searched: Option<String>,
    /// The last shell command, as the feature writes it.
    pub words: String,
    /// The shell command of another attempt.
    pub other_words: String,
    /// Whether a launch proves something although its probe did not come to its end.
    pub refusal: Refusal,
    /// Different hosts that were asked for.
    pub asked: Vec<String>,
    /// What it put on the user's host.
    pub furnished: Vec<Furnished>,
    /// What the factory said about the settings.
    pub said: Option<Launch>,
    attempts: u32,
}

impl Scene {
    fn new() -> Self {
        Self {
            plan: Plan::default(),
            modes: Vec::new(),
            nonce: format!("s{}", NEXT.fetch_add(1, Ordering::Relaxed)),
            launches: Vec::new(),
            findings: Vec::new(),
            controls: Vec::new(),
            course: Course::Complete,
            check: None,
            kept: None,
            looks: None,
            victim: None,
            searched: None,
            words: String::new(),
            other_words: String::new(),
            refusal: Refusal::NoAnswer,
            asked: Vec::new(),
            furnished: Vec::new(),
            said: None,
            attempts: 0,
        }
    }

    /// What all scenarios share.
    ///
    /// # Errors
    /// When no run was prepared.
    pub fn context() -> Result<&'static Context, String> {
        CONTEXT.get().ok_or_else(|| "no run was prepared".to_owned())
    }

    /// How to launch.
    ///
    /// # Errors
    /// As [`Scene::context`].
    pub fn launcher() -> Result<Launcher<'static>, String> {
        let context = Self::context()?;
        Ok(Launcher { manifest: &context.manifest, lab: &context.lab })
    }

    /// `~` and the placeholders in a word of a feature.
    ///
    /// # Errors
    /// As [`Scene::expand_text`].
    pub fn expand(&self, word: &str) -> Result<String, String> {
        Ok(Lab::expand(&self.expand_text(word)?))
    }

    /// The placeholders in words of a feature: `{nonce}`, `{token}` (how each secret of the home begins), `{session-key}`,
    /// `{user-key}`, and the places of the next attempt: `{factory}`, `{repository}`, `{other}` (a repo beside it), and those
    /// of the manifest ([`Manifest::places`]). `{library}` is a folder of the user for this scenario, `{allowed}`
    /// the path that may be read or written.
    ///
    /// # Errors
    /// When a template of the manifest is wrong.
    pub fn expand_text(&self, words: &str) -> Result<String, String> {
        let allowed =
            || crate::plan::PATH_LISTS.iter().find_map(|list| self.plan.paths(list).pop()).unwrap_or_default();
        let words = &words.replace("{library}", "~/library/{nonce}").replace("{allowed}", &allowed());
        let mut text = words.replace("{nonce}", &self.nonce).replace("{token}", home::TOKEN_OF_HOME);
        text = text.replace("{session-key}", keyring::OF_SESSION).replace("{user-key}", &keyring::OF_USER);
        for (name, repo) in [("{repository}", "demo"), ("{other}", "extra")] {
            text = text.replace(name, &home::repository_of(&self.nonce, repo).display().to_string());
        }
        if text.contains('{') {
            let manifest = &Self::context()?.manifest;
            let templates = self.templates()?;
            for (name, template, repo) in [("{factory}", "{{factory}}", "demo")].into_iter().chain(manifest.places()) {
                if text.contains(name) {
                    text = text.replace(name, &templates.with("repo", repo).render(template)?);
                }
            }
        }
        Ok(text)
    }

    /// The id of the next attempt.
    pub fn next_attempt(&self) -> String {
        crate::launch::attempt_id(&self.nonce, self.attempts + 1)
    }

    /// The factory's folder.
    pub fn factory(&self) -> PathBuf {
        crate::launch::places::factory(&self.plan, &self.nonce)
    }

    /// Where the next attempt's worktree of the first repo will be.
    ///
    /// # Errors
    /// When a template of the manifest is wrong.
    pub fn next_worktree(&self) -> Result<PathBuf, String> {
        self.templates()?.with("repo", "demo").render(Self::context()?.manifest.worktree()).map(PathBuf::from)
    }

    /// The manifest's templates in the context of the next attempt.
    ///
    /// # Errors
    /// When a template of the manifest is wrong.
    pub fn templates(&self) -> Result<Templates, String> {
        Self::launcher()?.templates(&self.plan, &self.nonce, self.attempts + 1)
    }

    /// The argv of a probe from its words.
    ///
    /// # Errors
    /// As [`Scene::expand_text`].
    pub fn probe(&self, words: &str) -> Result<Vec<String>, String> {
        let words = words.split_whitespace().map(|w| self.expand(w));
        std::iter::once(Ok(PROBE_IN_WORKTREE.to_owned())).chain(words).collect()
    }

    /// The argv of a shell command.
    ///
    /// # Errors
    /// As [`Scene::expand_text`].
    pub fn shell(&self, command: &str) -> Result<Vec<String>, String> {
        Ok(crate::launch::shell(&self.expand_text(command)?.replace("~/", &format!("{}/", crate::lab::HOME))))
    }

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
        let beside = self.beside(one, other);
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
    /// When the harness cannot prepare a launch, or the first gives no sign.
    pub async fn run_while(&mut self, waits: Vec<String>, other: Vec<String>) -> Result<(), String> {
        let worktree = self.next_worktree()?;
        let beside = self.beside(waits, other);
        let (launcher, first) = (Self::launcher()?, self.attempts + 1);
        self.attempts += 2;
        let then = async {
            let sign = waiting::first_sign(&worktree).await;
            let launched = launcher.launch(&beside, &self.nonce, first + 1).await;
            sign.and_then(|()| waiting::go(&worktree))?;
            launched
        };
        let (one, other) = futures::future::join(launcher.launch(&self.plan, &self.nonce, first), then).await;
        for launch in [one?, other?] {
            self.keep(launch);
        }
        Ok(())
    }

    /// Makes the plan one of two steps; the plan of the other.
    fn beside(&mut self, one: Vec<String>, other: Vec<String>) -> Plan {
        const OTHER: &str = "other";
        self.plan.action = Action::Run(one);
        let repos: Vec<&String> = self.plan.repos.iter().map(|(name, _)| name).collect();
        self.plan.others.insert(OTHER.to_owned(), serde_json::json!({"repos": repos, "run": other}));
        Plan { asked: OTHER.to_owned(), ..self.plan.clone() }
    }

    fn keep(&mut self, launch: Launch) {
        if launch.timed_out {
            self.course = Course::TimedOut(format!("no end after {:.0?}: {}", launch.took, launch.argv.join(" ")));
        }
        self.launches.push(launch);
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

    /// The same plan with one thing changed: for planted controls.
    ///
    /// # Errors
    /// As [`Scene::again`].
    pub async fn changed(&mut self, change: impl FnOnce(&mut Plan)) -> Result<Launch, String> {
        let mut plan = self.plan.clone();
        change(&mut plan);
        self.again(&plan).await
    }

    /// The last launch.
    ///
    /// # Errors
    /// When nothing was launched.
    pub fn last(&self) -> Result<&Launch, String> {
        self.launches.last().ok_or_else(|| "nothing was launched".to_owned())
    }

    /// The command that the step executes.
    ///
    /// # Errors
    /// When it is not a command.
    pub fn command(&self) -> Result<Vec<String>, String> {
        match &self.plan.action {
            Action::Run(argv) => Ok(argv.clone()),
            Action::Provider(..) => Err("the step is run by a provider: it has no command".to_owned()),
        }
    }

    /// Keeps a judgement.
    pub fn found(&mut self, held: bool, seen: impl Into<String>) {
        self.findings.push(Finding { held, certain: false, seen: seen.into() });
    }

    /// Keeps a judgement whose violation stands even if the probe did not finish.
    pub fn found_certain(&mut self, held: bool, seen: impl Into<String>) {
        self.findings.push(Finding { held, certain: true, seen: seen.into() });
    }

    /// Keeps what a control showed.
    pub fn control(&mut self, kind: ControlKind, shown: bool, seen: impl Into<String>) {
        self.controls.push(Control { kind, shown, seen: seen.into(), moot: None });
    }

    /// Why a launch that was judged proves nothing, if so.
    pub fn unfinished(&self) -> Option<String> {
        let mut launches = self.launches.iter();
        match self.refusal {
            Refusal::NoAnswer => launches.find_map(Launch::unfinished),
            Refusal::Answer => launches.filter(|launch| !is_refused(launch)).find_map(Launch::unfinished),
            Refusal::Marked => None,
        }
    }
}

/// Whether the driver says so by its exit code. One that has no such code can only end with a failure.
fn is_refused(launch: &Launch) -> bool {
    let codes = Scene::context().map(|context| context.manifest.observe.refused_codes.as_slice()).unwrap_or_default();
    launch.exit.is_some_and(|exit| if codes.is_empty() { exit != 0 } else { codes.contains(&exit) })
}
