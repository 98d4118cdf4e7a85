//! The state of one scenario: its plan, its launches, what was found, and what the controls showed.

mod acting;
mod arriving;
mod killing;
mod modelled;
mod mortal;
mod running;
mod sentinel;
mod serving;
mod words;

pub use acting::{Acting, Done};
pub use arriving::{OwnPort, Seen, addresses};
pub use killing::{Deaths, Work};
pub use modelled::{AGENT, Conversation, tool};
pub use mortal::Mortal;
pub use serving::{Killed, Namespaces, namespaces};

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use nix::sys::signal::Signal;

use crate::driver::Manifest;
use crate::ending::Ending;
use crate::furnished::Furnished;
use crate::lab::Lab;
use crate::lab::agent::Agent;
use crate::lab::bystander::Bystander;
use crate::lab::ipc::{Content, Shared};
use crate::lab::local::Local;
use crate::launch::{Launch, Launcher};
use crate::log_check::LogCheck;
use crate::outside::Outside;
use crate::plan::{Action, Plan};
use crate::steps::canary::Canary;
use crate::tree::Tree;
use crate::verdict::{Control, ControlKind, Course, Finding};

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
    pub state: crate::state::State,
}

/// What one attempt had committed for certain when its launcher was killed.
#[derive(Clone, Debug)]
pub struct Committed {
    /// Its worktree.
    pub worktree: PathBuf,
    /// How often.
    pub times: usize,
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
    /// The session that a step was seen in.
    pub session: Option<i32>,
    /// What became of the processes of attempts whose launcher was ended.
    pub deaths: Option<Deaths>,
    /// The signal that a launcher got, and what its step was at.
    pub signal: Option<(Work, Signal)>,
    /// A process of the user that a step must not touch.
    pub bystander: Option<Bystander>,
    /// What the user's programs share, and what it held at first.
    pub shared: Option<(Shared, Content)>,
    /// How the last launch had to end.
    pub endings: Vec<Ending>,
    /// What the factory said about the settings.
    pub said: Option<Launch>,
    /// What its commands said of this machine, by name.
    pub answers: Vec<(String, Launch)>,
    /// What git outside had to say about the last launch, in order, and of which repo.
    pub outside: Vec<(String, Outside)>,
    /// What the repository's config held at first.
    pub config: Vec<u8>,
    /// What a hostile step did to its repository.
    pub acting: Acting,
    /// What attempts had committed when their launchers were killed.
    pub committed: Vec<Committed>,
    /// Services on the host's localhost.
    pub local: Option<Local>,
    /// A port of its own, at all special addresses.
    pub port: Option<OwnPort>,
    /// What had arrived when so many launches had been judged.
    pub arrived: Option<(usize, Seen)>,
    /// API keys that the factory keeps outside, in order.
    pub keys: Vec<String>,
    /// What a scripted model asked its agent for, and was told.
    pub conversation: Conversation,
    /// Who holds the key that the factory signs with.
    pub agent: Option<Agent>,
    /// The namespaces of the processes that served last.
    pub served_in: Vec<Namespaces>,
    /// A secret that was watched.
    pub canary: Option<Canary>,
    /// How many attempts there were.
    pub attempts: u32,
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
            session: None,
            bystander: None,
            shared: None,
            deaths: None,
            signal: None,
            endings: Vec::new(),
            said: None,
            answers: Vec::new(),
            outside: Vec::new(),
            config: Vec::new(),
            acting: Acting::default(),
            committed: Vec::new(),
            local: None,
            port: None,
            arrived: None,
            keys: Vec::new(),
            conversation: Conversation::default(),
            agent: None,
            served_in: Vec::new(),
            canary: None,
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
            Action::Provider(..) | Action::Uses(_) => Err("the step has no command of its own".to_owned()),
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
