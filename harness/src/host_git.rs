//! Git as the user runs it on the host, in a repository or a worktree that a step may have had in its hands.
//!
//! It is the ordinary git of an ordinary user, with all that a repository's config may tell it: what a step left behind
//! must do no harm to that one. It never waits for anybody: no terminal, no input, and it is ended at its bound, because
//! git reads a FIFO in place of an object for ever.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::process::Command;

use crate::caller::Caller;
use crate::lab::Lab;
use crate::launch::arrange::arrange;
use crate::launch::environment;

/// A git that takes longer is ended.
const BOUND: Duration = Duration::from_secs(10);

/// What git said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its exit code; none if it was ended, by a signal or at the bound.
    pub code: Option<i32>,
    /// What it printed.
    pub stdout: String,
    /// Its complaints; those of one that was ended at the bound are lost.
    pub stderr: String,
}

impl Said {
    /// Whether it ended with 0.
    pub fn is_well(&self) -> bool {
        self.code == Some(0)
    }

    /// In one line, for a reader.
    pub fn told(&self) -> String {
        let text = format!("{}{}", self.stdout, self.stderr);
        format!(
            "{}: {}",
            self.code.map_or("ended".to_owned(), |code| code.to_string()),
            crate::text::line(text.as_bytes(), 300)
        )
    }
}

/// Runs git in a folder.
///
/// # Errors
/// When it is not there or cannot be started.
pub async fn git(folder: &Path, arguments: &[&str]) -> Result<Said, String> {
    let failed = |e: std::io::Error| format!("git {} in {}: {e}", arguments.join(" "), folder.display());
    let program = Lab::which("git").ok_or("git is not on PATH; `make setup` installs it")?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear().envs(variables()).kill_on_drop(true).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    arrange(&mut command, &Caller::default()).map_err(failed)?;
    let child = command.spawn().map_err(failed)?;
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    match tokio::time::timeout(BOUND, child.wait_with_output()).await {
        Ok(output) => {
            let output = output.map_err(failed)?;
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            Ok(Said { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) })
        }
        Err(_) => {
            if let Some(group) = group {
                let _ = killpg(Pid::from_raw(group), Signal::SIGKILL); // what has ended meanwhile needs no signal
            }
            let stderr = format!("no end after {BOUND:?}");
            Ok(Said { code: None, stdout: String::new(), stderr })
        }
    }
}

/// A user's; the host's /etc/gitconfig has no part in a verdict.
fn variables() -> Vec<(String, String)> {
    let own = [
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_TERMINAL_PROMPT", "0"),
        ("GIT_AUTHOR_NAME", "Dev"),
        ("GIT_AUTHOR_EMAIL", "dev@devbox.example"),
        ("GIT_COMMITTER_NAME", "Dev"),
        ("GIT_COMMITTER_EMAIL", "dev@devbox.example"),
    ];
    environment::plain().into_iter().chain(own.map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}
