//! The factory's own git, outside the sandbox: it makes one linked worktree a repo. It must run no hook,
//! no monitor and no program of the repository's choice, ask nothing, and never wait without an end.

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::outcome::{Reason, Refusal};

/// Longest time for one git command.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Settings that beat those of the repository.
const HARDENED: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=/bin/false",
    "credential.helper=",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.pager=cat",
    "diff.external=",
];

/// Makes the worktree `at` of the repository `repo`, on the new branch `kusaw/ID/main` at its HEAD.
pub fn add(repo: &Path, at: &Path, id: &str) -> Result<(), Refusal> {
    let branch = format!("kusaw/{id}/main");
    let mut git = Command::new("git");
    git.env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1");
    git.args(HARDENED.iter().flat_map(|setting| ["-c", setting]));
    git.arg("-C").arg(repo).args(["worktree", "add", "-q", "-b", &branch]).arg(at).arg("HEAD");
    let failed = |what: String| Refusal::new(Reason::WorktreeFailed, format!("{}: {what}", repo.display()));
    let (status, said) = finish(&mut git).map_err(|e| failed(format!("git: {e}")))?;
    match status {
        Some(status) if status.success() => Ok(()),
        Some(_) => Err(failed(said.lines().last().unwrap_or("git worktree add failed").to_string())),
        None => Err(failed(format!("git worktree add took longer than {} s", TIMEOUT.as_secs()))),
    }
}

/// A repo's path as the settings write it: absolute, `~/..`, or relative to the factory.
pub fn place(written: &str, factory: &Path, home: Option<&Path>) -> PathBuf {
    match (written.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => factory.join(written),
    }
}

/// Status and stderr; `None` when it had to be killed.
fn finish(git: &mut Command) -> std::io::Result<(Option<ExitStatus>, String)> {
    let mut said = tempfile::tempfile()?;
    let mut child = git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said.try_clone()?).spawn()?;
    let deadline = Instant::now() + TIMEOUT;
    let mut pause = Duration::from_millis(1);
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            break None;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    };
    let mut text = Vec::new();
    said.rewind()?;
    said.take(64 << 10).read_to_end(&mut text)?;
    Ok((status, String::from_utf8_lossy(&text).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_absolute_or_below_home_or_the_factory() {
        let home = Some(Path::new("/home/dev"));
        assert_eq!(place("/srv/r", "/f".as_ref(), home), Path::new("/srv/r"));
        assert_eq!(place("~/r", "/f".as_ref(), home), Path::new("/home/dev/r"));
        assert_eq!(place("r", "/f".as_ref(), home), Path::new("/f/r"));
    }

    #[test]
    fn what_is_no_repository_is_a_refusal() {
        let empty = tempfile::tempdir().unwrap();
        let refusal = add(empty.path(), &empty.path().join("w"), "a").unwrap_err();
        assert_eq!(refusal.reason, Reason::WorktreeFailed);
    }
}
