//! A process of the user beside the sandbox: what a step must not see, signal, stop, trace or read. It has a key open and a
//! token in its memory, and answers each line that it is given; it must never outlive its scenario.
#![allow(unsafe_code)] // pre_exec with dup2(2) and prctl(2), with a SAFETY sentence

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::{HOME, home};
use crate::launch::arrange::{heed, open_above};
use crate::launch::environment;

/// The process, until this is dropped.
#[derive(Debug)]
pub struct Bystander {
    child: Child,
    pid: u32,
}

/// The descriptor on which it has the key open.
const KEY: i32 = 9;

/// Who does not answer for so long, although nothing is to be seen, is at fault.
const PATIENCE: Duration = Duration::from_secs(10);

impl Bystander {
    /// Starts it; `mark` stands in its argv.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(mark: &str) -> io::Result<Self> {
        let key = open_above(KEY, &format!("{HOME}/.ssh/id_ed25519"))?;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "while read line; do echo \"$line\"; done", mark])
            .env_clear()
            .envs(environment::of_user())
            .env("LAB_TOKEN", home::token()?);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        // SAFETY: runs between fork and exec and only makes system calls; the file outlives the start.
        unsafe {
            command.pre_exec(move || {
                heed()?;
                // Where Yama lets a process be traced by its parent only (ptrace_scope 1), anybody may trace this one; else
                // the control could show nothing there. Without Yama the call is unknown, and not needed.
                libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0);
                if libc::dup2(key.as_raw_fd(), KEY) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
            });
        }
        let child = command.spawn()?;
        let pid = child.id().ok_or_else(|| io::Error::other("it has ended already"))?;
        Ok(Self { child, pid })
    }

    /// Its number among the processes of the lab.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// What was done to it, if anything: it has ended, or is stopped, or somebody traces it, or it does not answer. A signal
    /// that is on its way is acted on before it can answer.
    pub async fn harm(&mut self) -> Option<String> {
        let answers = {
            let (pid, answer) = (self.pid, self.ask());
            tokio::select! {
                answer = answer => answer.is_ok(),
                () = stopped(pid) => false,
                () = tokio::time::sleep(PATIENCE) => false,
            }
        };
        if let Ok(Some(status)) = self.child.try_wait() {
            return Some(format!("it has ended: {status}"));
        }
        let (state, tracer) = status(self.pid);
        (!answers || tracer != "0").then(|| format!("it answers: {answers}, its state is {state}, its tracer {tracer}"))
    }

    async fn ask(&mut self) -> io::Result<()> {
        let gone = || io::Error::other("it has no pipes");
        self.child.stdin.as_mut().ok_or_else(gone)?.write_all(b"x\n").await?;
        self.child.stdout.as_mut().ok_or_else(gone)?.read_exact(&mut [0; 2]).await.map(drop)
    }
}

/// Waits until it is stopped or has ended.
async fn stopped(pid: u32) {
    while !status(pid).0.starts_with(['T', 't', 'Z', 'X', '?']) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Its state and the process that traces it, proc(5); `?` where it is not there.
fn status(pid: u32) -> (String, String) {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim().to_owned();
    (field("State:"), field("TracerPid:"))
}
