//! The factory's own git, outside the sandbox: it makes one linked worktree a repo. It must run no hook,
//! no monitor and no program of the repository's choice, ask nothing, and never wait without an end.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::pidfd;
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
    let _lock = lock(repo).map_err(|e| failed(format!("lock: {e}")))?;
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

/// One `worktree add` at a time in a repository: git reads the others' half-made entries and fails on them. The lock is
/// one of flock(2) on the repository's folder, held until the descriptor is closed.
fn lock(repo: &Path) -> io::Result<File> {
    let folder = File::open(repo)?;
    let deadline = Instant::now() + TIMEOUT;
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(folder),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
            Err(TryLockError::Error(e)) => return Err(e),
        }
    }
}

/// Status and stderr; `None` when it had to be killed.
fn finish(git: &mut Command) -> io::Result<(Option<ExitStatus>, String)> {
    let mut said = tempfile::tempfile()?;
    let mut child = git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said.try_clone()?).spawn()?;
    let ended = pidfd::open(child.id() as i32)?;
    let timeout = PollTimeout::try_from(TIMEOUT).unwrap_or(PollTimeout::MAX);
    let in_time = poll(&mut [PollFd::new(ended.as_fd(), PollFlags::POLLIN)], timeout).is_ok_and(|n| n > 0);
    if !in_time {
        child.kill()?;
    }
    let status = child.wait()?;
    let mut text = Vec::new();
    said.rewind()?;
    said.take(64 << 10).read_to_end(&mut text)?;
    Ok((in_time.then_some(status), String::from_utf8_lossy(&text).into_owned()))
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
