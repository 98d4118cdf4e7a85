//! Attempts whose proxy is hosted by one process for the whole factory, and what becomes of them when it is killed.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Refusal, Scene};
use crate::driver::Network;
use crate::launch::{Launch, Live, shell};
use crate::living;
use crate::plan::{Action, Plan};
use crate::waiting::{self, WAITS};

/// For the host of the proxy to be ready.
const READY: Duration = Duration::from_secs(10);

/// Between two looks at it.
const LOOK: Duration = Duration::from_millis(10);

/// Who is killed while a step runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Killed {
    /// The host of the proxy.
    Serve,
    /// The attempt's launcher.
    Launcher,
    /// Both, and neither can do anything about the other's end.
    Both,
}

impl Scene {
    /// A step that may reach one host waits on a served factory; meanwhile, with other settings, one that may reach another host
    /// asks for both; then the first does. Both are kept. Where `anew`, the first serve is killed before, and the other is
    /// asked on a new one.
    ///
    /// # Errors
    /// When the harness cannot prepare a launch, or nobody is ready.
    pub async fn run_served(&mut self, hosts: [&str; 2], anew: bool) -> Result<(), String> {
        self.refusal = Refusal::Marked; // that each asked is seen in its log
        let asks = hosts.map(|host| format!("connect --proxy connect {host}:443")).join(" + ");
        let waits = shell(&format!("{WAITS}; tools/probe {asks}"));
        let asks = self.probe(&asks)?;
        let plan = |command: Vec<String>, host: &str| {
            let mut plan = self.plan.clone();
            plan.action = Action::Run(command);
            plan.allow(host);
            plan
        };
        let plans = [plan(waits, hosts[0]), plan(asks, hosts[1])];
        self.on_one_serve(plans, anew).await
    }

    /// The first of two attempts waits on a served factory; meanwhile the other runs to its end, then the first does. Both are
    /// kept. Where `anew`, the first serve is killed before, and the other is asked on a new one.
    ///
    /// # Errors
    /// As [`Scene::run_served`].
    pub async fn on_one_serve(&mut self, [first, second]: [Plan; 2], anew: bool) -> Result<(), String> {
        if !self.can_be_asked()? {
            return Ok(());
        }
        let (worktree, nonce, numbers) = (self.next_worktree()?, self.nonce.clone(), self.attempts + 1);
        self.attempts += 4;
        let launcher = Self::launcher()?;
        let (serve, again) = (Live::default(), Live::default());
        let beside = async {
            waiting::first_sign(&worktree).await?;
            if anew {
                end(&serve, Signal::SIGKILL);
                self.is_gone(&first).await?;
                let second = async {
                    self.is_ready(&second, &again).await?;
                    let launch = launcher.launch(&second, &nonce, numbers + 1).await;
                    end(&again, Signal::SIGTERM);
                    launch
                };
                let served = launcher.serve(&self.plan, &nonce, numbers + 3, &again);
                return futures::future::join(second, served).await.0;
            }
            let launch = launcher.launch(&second, &nonce, numbers + 1).await;
            waiting::go(&worktree)?;
            launch
        };
        let attempts = async {
            self.is_ready(&first, &serve).await?;
            let both = futures::future::join(launcher.launch(&first, &nonce, numbers), beside).await;
            end(&serve, Signal::SIGTERM);
            Ok::<_, String>([both.0?, both.1?])
        };
        let served = launcher.serve(&self.plan, &nonce, numbers + 2, &serve);
        let (attempts, _) = futures::future::join(attempts, served).await;
        attempts?.into_iter().for_each(|launch| self.keep(launch));
        Ok(())
    }

    /// A step asks for a host and waits; then somebody is killed by SIGKILL, and another attempt runs to its end. The first is
    /// kept.
    ///
    /// # Errors
    /// As [`Scene::run_served`].
    pub async fn kill_served(&mut self, host: &str, killed: Killed) -> Result<(), String> {
        self.refusal = Refusal::Marked;
        let mut plan = self.plan.clone();
        plan.action = Action::Run(shell(&format!("tools/probe connect --proxy connect {host}:443; {WAITS}")));
        let (worktree, nonce, numbers) = (self.next_worktree()?, self.nonce.clone(), self.attempts + 1);
        self.attempts += 2;
        let launcher = Self::launcher()?;
        let (serve, attempt) = (Live::default(), Live::default());
        let deed = async {
            waiting::first_sign(&worktree).await?;
            match killed {
                Killed::Serve => end(&serve, Signal::SIGKILL),
                Killed::Launcher => end(&attempt, Signal::SIGKILL),
                Killed::Both => {
                    end(&serve, Signal::SIGSTOP);
                    end(&attempt, Signal::SIGKILL);
                }
            }
            Ok::<_, String>(())
        };
        let launched = async {
            self.is_ready(&plan, &serve).await?;
            let (launch, done) =
                futures::future::join(launcher.launch_live(&plan, &nonce, numbers, &attempt), deed).await;
            if killed == Killed::Both {
                end(&serve, Signal::SIGKILL);
            }
            done.and(launch)
        };
        let after = async {
            let launch = launched.await?;
            let other = Plan { action: Action::Run(shell("true")), ..self.plan.clone() };
            // Whoever still has the attempt is left the time to end it.
            while killed == Killed::Launcher && self.is_unsettled(&launch)? {
                tokio::time::sleep(LOOK).await;
            }
            let next = launcher.launch(&other, &nonce, numbers + 2).await;
            end(&serve, Signal::SIGTERM);
            Ok::<_, String>((launch, next?))
        };
        let served = launcher.serve(&self.plan, &nonce, numbers + 1, &serve);
        let (both, _) = futures::future::join(after, served).await;
        let (launch, next) = both?;
        self.attempts += 1;
        self.found(next.exit == Some(0), format!("another attempt: exit {:?}", next.exit));
        self.launches.push(launch);
        Ok(())
    }

    /// Carries out the plan on a served factory and keeps what came of it; the value is in what namespaces each process of the serve is.
    ///
    /// # Errors
    /// As [`Scene::run_served`].
    pub async fn run_on_serve(&mut self) -> Result<Vec<Namespaces>, String> {
        if !self.can_be_asked()? {
            return Ok(Vec::new());
        }
        let (nonce, number) = (self.nonce.clone(), self.attempts + 1);
        self.attempts += 2;
        let (launcher, serve) = (Self::launcher()?, Live::default());
        let attempt = async {
            self.is_ready(&self.plan, &serve).await?;
            let launch = launcher.launch(&self.plan, &nonce, number).await;
            // What only passes it on is none: all below it are looked at.
            let all = serve.launcher().map(|head| living::family(head, NO_MARK)).unwrap_or_default();
            let of: Vec<Namespaces> = all.iter().map(|process| namespaces(process.pid).unwrap_or_default()).collect();
            end(&serve, Signal::SIGTERM);
            Ok::<_, String>((launch?, of))
        };
        let served = launcher.serve(&self.plan, &nonce, number + 1, &serve);
        let (launch, of) = futures::future::join(attempt, served).await.0?;
        self.keep(launch);
        if self.plan.network() == Network::Allowlist {
            self.seen().await?; // before any control
        }
        Ok(of)
    }

    /// Whether an attempt has no event yet that is its last; told when there is none for too long.
    fn is_unsettled(&self, launch: &Launch) -> Result<bool, String> {
        let Some(events) = &Self::context()?.manifest.observe.events else { return Ok(false) };
        let path = crate::observe::path(events, launch)?;
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let age = path.metadata().and_then(|meta| meta.modified()).ok().and_then(|at| at.elapsed().ok());
        Ok(!text.contains(crate::log_check::SUMMARY) && age.is_some_and(|age| age < READY))
    }

    /// Until nobody answers any more where the killed one did: a new one would be refused for its sake.
    async fn is_gone(&self, plan: &Plan) -> Result<(), String> {
        let (ready, began) = (self.place_of_serve(plan)?, Instant::now());
        while is_socket(&ready) && answers(&ready) {
            if began.elapsed() > READY {
                return Err(format!("a serve that was killed answers at {}", ready.display()));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }

    /// What is there as soon as attempts find a serve.
    fn place_of_serve(&self, plan: &Plan) -> Result<PathBuf, String> {
        let serve = Self::context()?.manifest.commands.serve.as_ref().ok_or("the driver has no commands.serve")?;
        let templates = Self::launcher()?.templates(plan, &self.nonce, self.attempts)?;
        templates.render(&serve.ready).map(PathBuf::from)
    }

    async fn is_ready(&self, plan: &Plan, live: &Live) -> Result<(), String> {
        let (ready, began) = (self.place_of_serve(plan)?, Instant::now());
        // One that was killed may have left something there.
        while live.launcher().is_none() || !answers(&ready) {
            if began.elapsed() > READY {
                end(live, Signal::SIGKILL);
                return Err(format!("{} is not there after {READY:?}", ready.display()));
            }
            tokio::time::sleep(LOOK).await;
        }
        Ok(())
    }
}

/// Nobody has a line feed and nothing else in its argv.
const NO_MARK: &str = "\n\n\n";

/// Kinds and numbers of a process's namespaces.
pub type Namespaces = Vec<(String, u64)>;

/// The kinds that a sandbox has of its own, namespaces(7).
const KINDS: [&str; 6] = ["ipc", "mnt", "net", "pid", "user", "uts"];

/// Those of a process.
///
/// # Errors
/// When they cannot be seen.
pub fn namespaces(process: i32) -> Result<Namespaces, String> {
    let number = |kind: &str| {
        let path = format!("/proc/{process}/ns/{kind}");
        let link = std::fs::read_link(&path).map_err(|e| format!("{path}: {e}"))?;
        let number = link.to_string_lossy().trim_end_matches(']').rsplit('[').next().and_then(|n| n.parse().ok());
        number.map(|number| (kind.to_owned(), number)).ok_or_else(|| format!("{path} is {}", link.display()))
    };
    KINDS.iter().map(|kind| number(kind)).collect()
}

/// Whether it is there, and, if it is a socket, somebody listens.
fn answers(ready: &Path) -> bool {
    ready.exists() && (!is_socket(ready) || std::os::unix::net::UnixStream::connect(ready).is_ok())
}

fn is_socket(ready: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    ready.metadata().is_ok_and(|meta| meta.file_type().is_socket())
}

fn end(live: &Live, signal: Signal) {
    if let Some(process) = live.launcher() {
        let _ = kill(Pid::from_raw(process), signal); // it may have ended by itself
    }
}
