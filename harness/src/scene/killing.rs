//! Ending the launcher of attempts: once while a step runs, or again and again at random moments.

use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::mortal::Mortal;
use super::{Refusal, Scene};
use crate::launch::{Live, SHELL};
use crate::living::{self, Census, Process};
use crate::moments::{Moments, Phase};
use crate::plan::Action;
use crate::waiting::{self, WAITS};

/// What became of the processes of attempts.
#[derive(Clone, Debug, Default)]
pub struct Deaths {
    /// How many of a step's processes were seen at work before.
    pub before: usize,
    /// Those of the attempts that lived on.
    pub left: Vec<Process>,
    /// The moments, where they were drawn.
    pub moments: Option<Moments>,
}

/// A step with children of every kind. Each has the mark in its argv and makes a file when it is at work.
const FAMILY: &str = r#"
child='touch "at-work-$1"; sleep 300; :'
sh -c "$child" "$0" plain &
setsid sh -c "$child" "$0" setsid &
(setsid sh -c "$child" "$0" double </dev/null >/dev/null 2>&1 &)
nohup sh -c "$child" "$0" nohup </dev/null >/dev/null 2>&1 &
sh -c "trap '' HUP INT QUIT TERM; $child" "$0" deaf &
for name in plain setsid double nohup deaf; do
  until [ -e "at-work-$name" ]; do sleep 0.01; done
done
"#;

/// What a step is at when its launcher gets a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It has children of every kind.
    Family,
    /// It ignores all signals that ask it to end.
    Deaf,
}

impl Work {
    fn script(self) -> &'static str {
        match self {
            Self::Family => FAMILY,
            Self::Deaf => "trap '' HUP INT QUIT TERM",
        }
    }

    /// How many processes it is, with the step itself.
    pub fn members(self) -> usize {
        match self {
            Self::Family => 6,
            Self::Deaf => 1,
        }
    }
}

/// How many attempts run at the same time.
const AT_ONCE: usize = 8;

/// So many processes with the mark do not belong to those: attempts live on, and more of them would only burden the host.
const TOO_MANY: usize = 10 * AT_ONCE;

/// Between two looks at an attempt.
const LOOK: Duration = Duration::from_millis(1);

/// How long a step goes on after the thread that started its launcher has ended.
const GOES_ON: Duration = Duration::from_millis(300);

impl Scene {
    /// Runs a step that waits; when it is at work, its launcher gets a signal. Keeps which processes are left at the bound, and
    /// ends them.
    ///
    /// # Errors
    /// When the harness cannot prepare the launch, or the step does not get so far.
    pub async fn run_and_signal(&mut self, work: Work, signal: Signal, bound: Duration) -> Result<(), String> {
        self.signal_script(work.script(), signal, bound).await
    }

    /// The same with SIGKILL for a step that is at a command.
    ///
    /// # Errors
    /// As [`Scene::run_and_signal`].
    pub async fn kill_at(&mut self, command: &str, bound: Duration) -> Result<(), String> {
        self.signal_script(command, Signal::SIGKILL, bound).await
    }

    async fn signal_script(&mut self, script: &str, signal: Signal, bound: Duration) -> Result<(), String> {
        if !self.can_be_asked()? {
            return Ok(());
        }
        self.refusal = Refusal::Marked;
        self.plan.action = Action::Run(self.work(script, "."));
        let (worktree, mark) = (self.next_worktree()?, self.mark());
        self.attempts += 1;
        let (live, ended) = (Live::default(), Cell::new(false));
        let deed = signal_at_work(&live, &ended, &worktree, &mark, signal, bound);
        let launch = async {
            let launch = Self::launcher()?.launch_live(&self.plan, &self.nonce, self.attempts, &live).await;
            ended.set(true);
            launch
        };
        let (launch, deaths) = futures::future::join(launch, deed).await;
        self.launches.push(launch?);
        self.deaths = deaths.map_err(|e| self.last().map_or(e.clone(), |l| format!("{e}: {}", l.output())))?;
        if self.deaths.is_none() {
            self.refusal = Refusal::NoAnswer; // it was to run until the signal
            self.found(false, "the step ended before it was at work".to_owned());
        }
        Ok(())
    }

    /// The same without a sandbox, where the step is its own launcher: which processes are left a moment later.
    ///
    /// # Errors
    /// As [`Scene::run_and_signal`].
    pub async fn bare_and_signal(&mut self, work: Work, signal: Signal) -> Result<Deaths, String> {
        const MOMENT: Duration = Duration::from_millis(100);
        let (folder, mark) = (self.factory().join("bare"), self.mark());
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let (live, lives) = (Live::default(), Cell::new(false));
        let deed = signal_at_work(&live, &lives, &folder, &mark, signal, MOMENT);
        let (command, nonce) =
            (self.work(work.script(), &folder.display().to_string()), format!("{}-bare", self.nonce));
        let launcher = Self::launcher()?;
        let bare = launcher.bare_live(&command, &nonce, &self.plan, &live);
        let (launch, deaths) = futures::future::join(bare, deed).await;
        launch.and(deaths)?.ok_or_else(|| "without a sandbox the step ended before it was at work".to_owned())
    }

    /// Has attempts run and kills their launchers by SIGKILL at random moments, until each phase was hit so often. Keeps which
    /// processes are left at the bound after the last kill, and ends them.
    ///
    /// # Errors
    /// When the harness cannot prepare a launch.
    pub async fn kill_at_random(&mut self, work: Mortal, hits: usize, bound: Duration) -> Result<(), String> {
        if !self.can_be_asked()? {
            return Ok(());
        }
        self.refusal = Refusal::Marked;
        self.plan.action = Action::Run([SHELL, "-c", work.script(), &self.mark()].map(str::to_owned).to_vec());
        self.plan.caller.mute = true; // a survivor would keep the other ends of pipes open
        let mut moments = Moments::new(work.phases(), hits, seed()?);
        if let Some(works) = work.works() {
            moments.measured(Phase::Step, works);
            let import = self.let_live(works).await?;
            moments.measured(Phase::Import, import);
        }
        let census = Census::now();
        let (moments, next) = (RefCell::new(moments), Cell::new(self.attempts));
        let workers: Vec<_> = (0..AT_ONCE).map(|_| self.kill_again_and_again(&moments, &next)).collect();
        futures::future::try_join_all(workers).await?;
        self.attempts = next.get();
        self.plan.caller.mute = false;
        let left = living::gone(|| census.newcomers(), bound).await;
        living::end(&left);
        self.deaths = Some(Deaths { left, moments: Some(moments.into_inner()), ..Deaths::default() });
        Ok(())
    }

    /// One attempt that nobody kills, and how long its launcher lives on when its step is gone.
    async fn let_live(&mut self, works: Duration) -> Result<Duration, String> {
        self.attempts += 1;
        let (worktree, mark) = (self.worktree_of(self.attempts)?, self.mark());
        let (live, ended) = (Live::default(), Cell::new(None));
        let run = async {
            let launch = Self::launcher()?.launch_live(&self.plan, &self.nonce, self.attempts, &live).await;
            ended.set(Some(Instant::now()));
            launch
        };
        let look = async {
            while phase_of(&worktree) < Phase::Step && ended.get().is_none() {
                tokio::time::sleep(LOOK).await;
            }
            tokio::time::sleep(works).await;
            let_go(&worktree.join("go"), &ended).await;
            while !is_import(&worktree, &live, &mark) && ended.get().is_none() {
                tokio::time::sleep(LOOK).await;
            }
            Instant::now()
        };
        let (launch, since) = futures::future::join(run, look).await;
        match (launch?.exit, ended.get()) {
            (Some(0), Some(ended)) if since < ended => Ok(ended - since),
            (Some(0), _) => {
                Err("an attempt's launcher ended with its step: there is nothing to kill after it".to_owned())
            }
            (exit, _) => Err(format!("an attempt that nobody killed ended with {exit:?}")),
        }
    }

    async fn kill_again_and_again(&self, moments: &RefCell<Moments>, next: &Cell<u32>) -> Result<(), String> {
        loop {
            let Some(aimed) = moments.borrow_mut().aim() else { return Ok(()) };
            if living::marked(&self.mark()).len() > TOO_MANY {
                return Ok(());
            }
            next.set(next.get() + 1);
            let hit = self.kill_one(next.get(), aimed, moments).await?;
            moments.borrow_mut().done(aimed, hit);
        }
    }

    /// One attempt, whose launcher is killed in the phase that is aimed at, or in the one before or after. Which one it was,
    /// if it was killed.
    async fn kill_one(&self, attempt: u32, aimed: Phase, moments: &RefCell<Moments>) -> Result<Option<Phase>, String> {
        let worktree = self.worktree_of(attempt)?;
        let (live, ended) = (Live::default(), Cell::new(None));
        let run = async {
            let launch = Self::launcher()?.launch_live(&self.plan, &self.nonce, attempt, &live).await;
            ended.set(Some(Instant::now()));
            launch
        };
        let reached = async |phase: Phase| {
            let there = || match phase {
                Phase::Launch => live.launcher().is_some(),
                Phase::Import => is_import(&worktree, &live, &self.mark()),
                _ => phase_of(&worktree) >= phase,
            };
            while !there() && ended.get().is_none() {
                // The end may last less than a tick of the timer.
                if phase >= Phase::End { tokio::task::yield_now().await } else { tokio::time::sleep(LOOK).await }
            }
            Instant::now()
        };
        let deed = async {
            let began = reached(Phase::Launch).await;
            let mut since = began;
            if aimed > Phase::Launch {
                since = reached(Phase::Step).await;
                moments.borrow_mut().lasted(Phase::Launch, since - began);
            }
            if aimed > Phase::Step {
                let_go(&worktree.join("go"), &ended).await;
                since = reached(aimed).await;
            }
            let moment = since + moments.borrow_mut().moment(aimed);
            while Instant::now() < moment {
                if moment - Instant::now() > 2 * LOOK {
                    tokio::time::sleep(LOOK).await
                } else {
                    tokio::task::yield_now().await
                }
            }
            let at = match phase_of(&worktree) {
                Phase::End if moments.borrow().has(Phase::Import) && is_import(&worktree, &live, &self.mark()) => {
                    Phase::Import
                }
                at => at,
            };
            if let (None, Some(launcher)) = (ended.get(), live.launcher()) {
                let _ = kill(Pid::from_raw(launcher), Signal::SIGKILL); // one that has ended meanwhile tells so by its status
            }
            Ok::<_, String>((at, since))
        };
        let (launch, killed) = futures::future::join(run, deed).await;
        let (launch, (at, since)) = (launch?, killed?);
        if launch.signal == Some(libc::SIGKILL) {
            return Ok(Some(at));
        }
        if let (Phase::End | Phase::Import, Some(ended)) = (aimed, ended.get()) {
            moments.borrow_mut().lasted(aimed, ended.saturating_duration_since(since));
        }
        Ok(None)
    }

    /// What stands in the argv of this scenario's processes, and of nobody else's.
    pub fn mark(&self) -> String {
        format!("alive-{}-", self.nonce)
    }

    /// The step in a folder, with the mark in its argv.
    fn work(&self, script: &str, folder: &str) -> Vec<String> {
        let text = format!("cd {folder} || exit\n{script}\n{WAITS}");
        [SHELL, "-c", &text, &self.mark()].map(str::to_owned).to_vec()
    }
}

/// Where an attempt is, by the signs in its worktree.
fn phase_of(worktree: &Path) -> Phase {
    let there = |sign: &str| std::fs::metadata(worktree.join(sign)).is_ok();
    match () {
        () if there("last") => Phase::End,
        () if there("first") => Phase::Step,
        () => Phase::Launch,
    }
}

/// Whether a step has told its last act, and nothing of it is below the launcher any more.
fn is_import(worktree: &Path, live: &Live, mark: &str) -> bool {
    phase_of(worktree) == Phase::End && live.launcher().is_some_and(|launcher| living::below(launcher, mark).is_empty())
}

/// Opens the pipe that a step waits for, as soon as it does.
async fn let_go(pipe: &Path, ended: &Cell<Option<Instant>>) {
    let open = || OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(pipe);
    while open().is_err() && ended.get().is_none() {
        tokio::time::sleep(LOOK).await;
    }
}

/// Waits until a family is at work, and on if the thread ends that started its launcher; then gives the launcher a signal,
/// unless it has died with the thread. None where the launch has ended before.
async fn signal_at_work(
    live: &Live,
    ended: &Cell<bool>,
    folder: &Path,
    mark: &str,
    signal: Signal,
    bound: Duration,
) -> Result<Option<Deaths>, String> {
    if !waiting::first_sign_unless(folder, || ended.get()).await? {
        return Ok(None);
    }
    let went_on = !live.end_thread() || waiting::goes_on(folder, GOES_ON).await;
    let (before, launcher) = (living::marked(mark).len(), live.launcher());
    let family = living::family(launcher.unwrap_or_default(), mark);
    if went_on {
        let launcher = launcher.ok_or("the launcher is not among the processes")?;
        kill(Pid::from_raw(launcher), signal).map_err(|e| format!("kill: {e}"))?;
    }
    let left = living::gone(|| living::still(&family), bound).await;
    living::end(&left);
    Ok(Some(Deaths { before, left, moments: None }))
}

fn seed() -> Result<u64, String> {
    let mut bytes = [0; 8];
    let mut random = std::fs::File::open("/dev/urandom").map_err(|e| format!("/dev/urandom: {e}"))?;
    std::io::Read::read_exact(&mut random, &mut bytes).map_err(|e| format!("/dev/urandom: {e}"))?;
    Ok(u64::from_ne_bytes(bytes))
}
