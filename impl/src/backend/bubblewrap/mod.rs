//! Launching with bubblewrap: plan, spawn, conversation with the stage, verdict. The step's argv,
//! environment and stdio go to the stage over a socketpair and are never seen by bubblewrap.

mod conversation;
mod diagnosis;
mod etc;
mod host;
mod places;
mod plan;
mod spawn;

use std::env;
use std::ffi::{CStr, CString, OsString};
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use kusaw_enter::Job;
use kusaw_enter::channel::Until;
use kusaw_enter::job::mount_namespace;
use kusaw_enter::place::Place;

use super::Launch;
use crate::outcome::{End, Reason, Refusal};
use crate::process::command::{self, Bounds};
use crate::process::grace::Grace;
use crate::process::path;
use crate::reach::{Connect, Reach};
use conversation::Conversation;
pub use host::hidden;
pub use spawn::Waiting;

/// The name in records and reports.
pub const NAME: &str = "bubblewrap";

/// From telling bubblewrap what to make to the stage's first message, unless KUSAW_START_TIMEOUT says otherwise.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// Starts bubblewrap, which takes its time, and waits for what `launch` tells it. The kernel kills it when the calling thread
/// ends.
pub fn start(connect: &Connect) -> Result<Waiting, Refusal> {
    spawn::spawn(&find()?, stage_name(connect), &spawn::open_stage()?)
}

fn stage_name(connect: &Connect) -> &'static CStr {
    if *connect == Connect::Anywhere { c"__enter" } else { c"__egress-bridge" }
}

/// What a launch with this reach would execute, and what it would tell it: the same plan, with nothing made or started.
pub struct Planned {
    /// bubblewrap.
    pub program: PathBuf,
    /// Its argv.
    pub argv: Vec<String>,
    /// What comes in the descriptor of its `--args`.
    pub arguments: Vec<OsString>,
}

/// See [`Planned`].
pub fn planned(reach: &Reach) -> Result<Planned, Refusal> {
    let host = host::facts(reach, &etc::planned(reach))?;
    Ok(Planned {
        program: find()?,
        argv: spawn::argv(stage_name(&reach.connect)).map(|word| word.to_string_lossy().into_owned()).into(),
        arguments: plan::arguments(reach, &host),
    })
}

/// Runs one step in its sandbox and returns how it ended. Blocks the calling thread, which is the one that started
/// bubblewrap, until that is reaped.
pub fn launch(waiting: Waiting, launch: Launch) -> Result<End, Refusal> {
    let job = job(&launch)?;
    let (host, _etc) = host::read(launch.reach)?;
    let deadline = Instant::now() + start_timeout();
    let until = Until { deadline: Some(deadline), interrupt: Some(launch.signals.asking()) };
    let given = waiting.give(&plan::arguments(launch.reach, &host), until);
    let sandbox = given.map_err(|e| match (launch.signals.asked(), e.kind()) {
        (Ok(Some(signal)), _) => Refusal::interrupted(signal.number),
        (_, ErrorKind::TimedOut) => Refusal::new(Reason::BwrapTimeout, "it did not take its arguments"),
        _ => Refusal::new(Reason::SetupFailed, format!("arguments: {e}")),
    })?;
    let (stdio, mut pumps) = launch.stdio.split();
    let mut conversation = Conversation::new(sandbox, launch.signals, &mut pumps, deadline, Grace::of(launch.most));
    let end = (launch.meanwhile)().and_then(|()| conversation.run(&job, stdio, launch.ready));
    conversation.finish();
    pumps.drain(launch.signals);
    end
}

/// Whether both programs are there; nothing is started.
pub fn installed() -> Result<(), Refusal> {
    find()?;
    spawn::open_stage().map(drop)
}

/// bwrap on PATH.
pub fn find() -> Result<PathBuf, Refusal> {
    path::find("bwrap").ok_or_else(|| Refusal::new(Reason::NoBwrap, "no program bwrap in any folder of PATH"))
}

/// The version bwrap says it has, for the report only: no decision hangs on it.
pub fn version() -> Option<String> {
    const BOUNDS: Bounds = Bounds { time: Duration::from_secs(2), said: 1000 };
    let text = command::run(Command::new(find().ok()?).arg("--version").env_clear(), None, BOUNDS).ok()?.ok()?;
    String::from_utf8_lossy(&text).split_whitespace().last().map(str::to_string)
}

fn start_timeout() -> Duration {
    let seconds = env::var("KUSAW_START_TIMEOUT").ok().and_then(|s| s.trim().parse::<f64>().ok());
    seconds.filter(|s| *s > 0.0 && *s <= 86_400.0).map_or(START_TIMEOUT, Duration::from_secs_f64)
}

fn job(launch: &Launch) -> Result<Job, Refusal> {
    let nul = |what: &str| Refusal::new(Reason::SetupFailed, format!("{what} holds a NUL byte"));
    let text = |s: &OsString, what: &str| CString::new(s.as_bytes()).map_err(|_| nul(what));
    let argv = launch.argv.iter().map(|a| text(a, "an argument")).collect::<Result<_, _>>()?;
    let is_secret = |name: &OsString| launch.secrets.iter().any(|(secret, _)| name == secret.as_str());
    let plain = launch.reach.env.iter().filter(|(name, _)| !is_secret(name)).map(|(n, v)| (n.as_bytes(), v.as_bytes()));
    let secret = launch.secrets.iter().map(|(name, value)| (name.as_bytes(), value.expose()));
    let env = plain.chain(secret).map(|(name, value)| CString::new([name, b"=", value].concat()));
    let outside =
        mount_namespace().map_err(|e| Refusal::new(Reason::SetupFailed, format!("/proc/self/ns/mnt: {e}")))?;
    let places =
        launch.reach.identities.iter().map(|(path, is)| Ok(Place { path: text(&path.into(), "a path")?, is: *is }));
    let job = Job {
        argv,
        env: env.collect::<Result<_, _>>().map_err(|_| nul("a variable"))?,
        cwd: text(&launch.cwd.as_os_str().to_os_string(), "the working folder")?,
        ports: launch.reach.ports(),
        outside,
        places: places.collect::<Result<_, Refusal>>()?,
        terminal: launch.stdio.terminal(),
    };
    match job.encode().len() {
        0..=kusaw_enter::job::MAX => Ok(job),
        _ => Err(Refusal::new(Reason::CannotExecute, "arguments and environment are larger than 8 MiB")),
    }
}
