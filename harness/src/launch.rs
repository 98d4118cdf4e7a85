//! Carrying out a plan: one launch of the driver, or the same command bare, and what came of it.
//!
//! Every launch is bounded, in a process group of its own, with an environment that is known. What is printed is kept
//! whole; nothing is judged here.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::driver::{Kind, Manifest, Network, Templates};
use crate::lab::fault::Fault;
use crate::lab::{DRIVER_BIN, HOME, Lab, SUITE, UID, USER, home};
use crate::plan::{Action, Plan, Spoilt};
use crate::probe::Report;

/// A launch that takes longer is ended; its verdict is `timeout`.
const BOUND: Duration = Duration::from_secs(30);

/// One launch and what came of it.
#[derive(Clone, Debug)]
pub struct Launch {
    /// What was started.
    pub argv: Vec<String>,
    /// Names of the environment.
    pub env: Vec<String>,
    /// The command inside, if it was a command.
    pub command: Vec<String>,
    /// Exit code; 128+n for a signal.
    pub exit: Option<i32>,
    /// Whether it was ended at its bound.
    pub timed_out: bool,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained.
    pub stderr: Vec<u8>,
    /// What the probe in it reported.
    pub report: Report,
    /// Templates in the context of this launch: where to look.
    pub templates: std::rc::Rc<Templates>,
    /// The factory's folder.
    pub factory: PathBuf,
    /// How long it took.
    pub took: Duration,
}

impl Launch {
    /// Why nothing is proven by what did not happen in it, if so.
    pub fn unfinished(&self) -> Option<String> {
        let by_exit = self.exit == Some(crate::probe::RAN_TO_END);
        let is_probe = self.command.first().is_some_and(|c| c == PROBE_IN_WORKTREE);
        let why = if is_probe || !(by_exit || self.report.ended) {
            self.report.unfinished(self.exit)?
        } else {
            return None;
        };
        Some(format!("{why}; stderr: {}", crate::text::line(&self.stderr, 300)))
    }

    /// Everything it printed.
    pub fn output(&self) -> String {
        let mut text = String::from_utf8_lossy(&self.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&self.stderr));
        text
    }
}

/// The probe as a step names it: the worktree holds it.
pub const PROBE_IN_WORKTREE: &str = "tools/probe";

/// What is launched, and where its files go.
#[derive(Clone, Copy, Debug)]
pub struct Launcher<'a> {
    /// How the implementation is asked.
    pub manifest: &'a Manifest,
    /// Where.
    pub lab: &'a Lab,
}

impl Launcher<'_> {
    /// Launches the plan under the driver. `case` is unique in the run, `attempt` within the case.
    ///
    /// # Errors
    /// When the harness cannot prepare the launch: a template, a file, a fault.
    pub async fn launch(&self, plan: &Plan, case: &str, attempt: u32) -> Result<Launch, String> {
        let attempt = format!("{case}-a{attempt}");
        let factory = PathBuf::from(HOME).join("factories").join(case);
        std::fs::create_dir_all(&factory).map_err(|e| format!("{}: {e}", factory.display()))?;
        home::provide_repositories(case).map_err(|e| format!("the repositories of {case}: {e}"))?;
        let worktree = match self.manifest.kind {
            Kind::Sandbox => self.worktree(case, &factory, &attempt).await?,
            Kind::Factory => String::new(),
        };
        let settings = plan.settings(|name| home::repository_of(case, name).display().to_string());
        let context = self.context(plan, &settings, &factory, &attempt, &worktree);
        let templates = std::rc::Rc::new(Templates::new(context));
        self.write_files(plan, &settings, &templates)?;
        let command = match &plan.action {
            Action::Run(argv) => argv.clone(),
            Action::Provider(..) => Vec::new(),
        };
        let argv = match self.manifest.kind {
            Kind::Factory => templates.argv(&self.manifest.commands.run, &command)?,
            Kind::Sandbox => {
                let offered = match plan.network() {
                    Network::Closed => &self.manifest.launch.closed,
                    Network::Allowlist => &self.manifest.launch.allowlist,
                    Network::Open => &self.manifest.launch.open,
                };
                templates.argv(offered.as_ref().ok_or("the driver does not offer this network mode")?, &command)?
            }
        };
        let cwd = if worktree.is_empty() { factory.clone() } else { PathBuf::from(&worktree) };
        let mut environment = environment();
        for (name, template) in &self.manifest.env.set {
            environment.push((name.clone(), templates.render(template)?));
        }
        environment.retain(|(name, _)| !self.manifest.env.unset.contains(name));
        let fault = plan.fault.clone().or_else(|| plan.watched.then(|| Fault::Backend(recorder(case))));
        self.start(Start { argv, command, cwd, environment, fault, case: &attempt, templates, factory }).await
    }

    /// Runs the same command without any sandbox, as the same user, in the repository itself.
    ///
    /// # Errors
    /// When it cannot be started.
    pub async fn bare(&self, command: &[String], case: &str) -> Result<Launch, String> {
        let cwd = PathBuf::from(home::REPOSITORIES).join("demo");
        let templates = std::rc::Rc::new(Templates::new(json!({})));
        let (argv, command) = (command.to_vec(), command.to_vec());
        let factory = cwd.clone();
        self.start(Start { argv, command, cwd, environment: environment(), fault: None, case, templates, factory })
            .await
    }

    async fn start(&self, start: Start<'_>) -> Result<Launch, String> {
        let Some((program, arguments)) = start.argv.split_first() else {
            return Err("an empty argv".to_owned());
        };
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&start.cwd).env_clear().envs(start.environment.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        if let Some(fault) = &start.fault {
            let backend = self.manifest.backend.as_deref().unwrap_or_default();
            let prepared =
                fault.prepare(self.lab.backend.as_deref(), start.case).map_err(|e| format!("{fault:?}: {e}"))?;
            prepared.arrange(&mut command, backend);
        }
        let began = Instant::now();
        let child = spawn(&mut command).await.map_err(|e| format!("{program}: {e}"))?;
        let group = child.id().and_then(|id| i32::try_from(id).ok());
        let waited = tokio::time::timeout(BOUND, child.wait_with_output()).await;
        if let (Err(_), Some(group)) = (&waited, group) {
            // The group may be gone already; what is left of the attempt ends with the lab.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let timed_out = waited.is_err();
        let output = waited.ok().transpose().map_err(|e| format!("{program}: {e}"))?;
        let (exit, stdout, stderr) = output.map_or((None, Vec::new(), Vec::new()), |o| {
            use std::os::unix::process::ExitStatusExt;
            (o.status.code().or_else(|| o.status.signal().map(|n| 128 + n)), o.stdout, o.stderr)
        });
        Ok(Launch {
            report: Report::find(&stdout),
            argv: start.argv,
            env: start.environment.into_iter().map(|(name, _)| name).collect(),
            command: start.command,
            exit,
            timed_out,
            stdout,
            stderr,
            templates: start.templates,
            factory: start.factory,
            took: began.elapsed(),
        })
    }

    fn context(&self, plan: &Plan, settings: &Value, factory: &Path, attempt: &str, worktree: &str) -> Value {
        let mut context = json!({
            "program": self.manifest.program.as_ref().map(|p| format!("{DRIVER_BIN}/{p}")),
            "settings": settings,
            "factory": factory,
            "step": plan.asked,
            "attempt": attempt,
            "home": HOME,
            "uid": UID,
            "worktree": worktree,
            "state": format!("{}/state-{attempt}", factory.display()),
            "allow_hosts": plan.hosts(),
            "repo": plan.repos.first().map(|(name, _)| name),
        });
        // Paths that are made of other paths of the manifest.
        let observe = &self.manifest.observe;
        for (key, template) in
            [("attempt_dir", &observe.attempt_dir), ("worktree", &observe.worktree), ("artifacts", &observe.artifacts)]
        {
            if let (false, Ok(path)) = (template.is_empty(), Templates::new(context.clone()).render(template)) {
                context[key] = json!(path);
            }
        }
        context
    }

    fn write_files(&self, plan: &Plan, settings: &Value, templates: &Templates) -> Result<(), String> {
        for (path, content) in &self.manifest.files {
            write(Path::new(&templates.render(path)?), templates.render(content)?.as_bytes())?;
        }
        let raw = plan.raw(settings);
        if raw.is_none() && plan.spoilt.is_none() {
            return Ok(());
        }
        let file = self.manifest.settings_file.as_ref().ok_or("the driver does not read the documentation's YAML")?;
        let file = PathBuf::from(templates.render(file)?);
        let spoil = || -> io::Result<()> {
            match &plan.spoilt {
                Some(Spoilt::Missing) => std::fs::remove_file(&file),
                Some(Spoilt::Folder) => std::fs::remove_file(&file).and_then(|()| std::fs::create_dir(&file)),
                Some(Spoilt::Unreadable) => {
                    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o000))
                }
                _ => std::fs::write(&file, raw.as_deref().unwrap_or_default()),
            }
        };
        spoil().map_err(|e| format!("{}: {e}", file.display()))
    }

    /// A worktree of the repository for a sandbox, which makes none itself.
    async fn worktree(&self, case: &str, factory: &Path, attempt: &str) -> Result<String, String> {
        let path = factory.join(attempt).display().to_string();
        let repository = home::repository_of(case, "demo").display().to_string();
        let argv = ["git", "-C", &repository, "worktree", "add", "-q", "--detach", &path];
        let made = self.bare(&argv.map(str::to_owned), attempt).await?;
        if made.exit == Some(0) { Ok(path) } else { Err(format!("git worktree add: {}", made.output())) }
    }
}

struct Start<'a> {
    argv: Vec<String>,
    command: Vec<String>,
    cwd: PathBuf,
    environment: Vec<(String, String)>,
    fault: Option<Fault>,
    case: &'a str,
    templates: std::rc::Rc<Templates>,
    factory: PathBuf,
}

/// Starts a process. A script that was written a moment ago may still be open for writing in a child that another
/// scenario has forked and not yet executed: then the kernel says ETXTBSY, until that child has executed.
async fn spawn(command: &mut Command) -> io::Result<tokio::process::Child> {
    for _ in 0..50 {
        match command.spawn() {
            Err(e) if e.raw_os_error() == Some(libc::ETXTBSY) => tokio::time::sleep(Duration::from_millis(2)).await,
            other => return other,
        }
    }
    command.spawn()
}

/// The environment of every launch: a user's, with the pointers to agents that must not arrive inside.
pub fn environment() -> Vec<(String, String)> {
    let runtime = format!("/run/user/{UID}");
    [
        ("PATH", Lab::search_path()),
        ("HOME", HOME.to_owned()),
        ("USER", USER.to_owned()),
        ("LOGNAME", USER.to_owned()),
        ("SHELL", "/bin/sh".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("TERM", "dumb".to_owned()),
        ("XDG_RUNTIME_DIR", runtime.clone()),
        ("SSH_AUTH_SOCK", format!("{runtime}/ssh-agent")),
        ("CALLERS_OWN", "kept".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

/// Where the starts of the backend in a case are recorded.
pub fn starts(case: &str) -> PathBuf {
    Path::new(SUITE).join(format!("starts-{case}"))
}

fn recorder(case: &str) -> String {
    format!("echo started >>{}\nexec {SUITE}/backend \"$@\"", starts(case).display())
}

/// Writes a file of a launch in place of whatever an earlier launch of the case left there.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let replace = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        match std::fs::symlink_metadata(path) {
            Ok(there) if there.is_dir() => std::fs::remove_dir(path)?,
            Ok(_) => std::fs::remove_file(path)?,
            Err(_) => {}
        }
        std::fs::write(path, bytes)
    };
    replace().map_err(|e| format!("{}: {e}", path.display()))
}
