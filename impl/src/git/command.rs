//! The factory's own git: the one place that starts it in a repository outside a sandbox. It must run no hook, no monitor, no filter and no
//! program of the repository's choice, ask nothing, and never wait without an end; it must never be started on a folder that
//! a step could write.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::command::{self, Bounds};
use crate::process::path;

/// For one git command; 200,000 refs with names of 100 bytes are 30 MB.
const BOUNDS: Bounds = Bounds { time: Duration::from_secs(120), said: 256 << 20 };

/// Settings that beat those of the repository: see git-config(1) for each.
pub const SETTINGS: &[&str] = &[
    // Programs that it would run.
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=/bin/false",
    "core.pager=cat",
    "core.alternateRefsCommand=true",
    "credential.helper=",
    "diff.external=",
    "commit.gpgSign=false",
    // Other repositories and the network.
    "protocol.allow=never",
    "submodule.recurse=false",
    "safe.bareRepository=explicit",
    // What other systems take for .git, and work that the user's own git will do.
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "gc.auto=0",
    "maintenance.auto=false",
    // Memory: what is larger is read in parts.
    "core.bigFileThreshold=16m",
    "pack.threads=1",
];

/// The whole environment, besides PATH.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("HOME", "/nonexistent"),
    ("LC_ALL", "C"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
];

/// git at one place.
#[derive(Debug, Clone)]
pub struct Git {
    at: PathBuf,
    explicit: bool,
    variables: Vec<(&'static str, PathBuf)>,
}

impl Git {
    /// Finds the repository that `folder` is, or lies in, as `git -C` does.
    pub fn within(folder: &Path) -> Git {
        Git { at: folder.into(), explicit: false, variables: Vec::new() }
    }

    /// In this git folder: nothing is searched for. Commands that look at files need a worktree as well.
    pub fn of(git_folder: &Path) -> Git {
        Git { at: git_folder.into(), explicit: true, variables: Vec::new() }
    }

    /// With one of git's own variables: git(1), ENVIRONMENT VARIABLES.
    pub fn with(mut self, variable: &'static str, value: impl Into<PathBuf>) -> Git {
        self.variables.push((variable, value.into()));
        self
    }

    /// Ready to be started: with stdin, stdout and stderr of its own, or of the caller's choice.
    ///
    /// # Errors
    /// When there is no git.
    pub fn command<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<Command, String> {
        let mut git = Command::new(path::find("git").ok_or("no program git in any folder of PATH")?);
        git.env_clear().env("PATH", path::searched()).envs(ENVIRONMENT.iter().copied());
        git.envs(self.variables.iter().map(|(name, value)| (name, value)));
        git.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        match self.explicit {
            true => git.arg("--git-dir").arg(&self.at),
            false => git.arg("-C").arg(&self.at),
        };
        // What ends kusaw's own process group must not leave half of git's work: it is short, and ends by itself.
        git.args(arguments).process_group(0);
        Ok(git)
    }

    /// Its stdout; the error is the last line of stderr, or how it ended.
    ///
    /// # Errors
    /// See above, and when it takes or says too much.
    pub fn run<A: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = A>) -> Result<Vec<u8>, String> {
        self.bounded(arguments, None)
    }

    /// The same for a command that reads its stdin.
    ///
    /// # Errors
    /// See [`Git::run`].
    pub fn run_with<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: &[u8],
    ) -> Result<Vec<u8>, String> {
        let file = || -> io::Result<File> {
            let mut file = tempfile::tempfile()?;
            file.write_all(input)?;
            file.rewind()?;
            Ok(file)
        };
        self.bounded(arguments, Some(file().map_err(|e| format!("git: {e}"))?))
    }

    fn bounded<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
        input: Option<File>,
    ) -> Result<Vec<u8>, String> {
        command::run(&mut self.command(arguments)?, input, BOUNDS).unwrap_or_else(|e| Err(format!("git: {e}")))
    }
}
