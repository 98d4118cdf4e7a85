//! The factory's own git, outside the sandbox: it makes one linked worktree a repo. It must run no hook,
//! no monitor and no program of the repository's choice, ask nothing, and never wait without an end.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::outcome::{Reason, Refusal};
use crate::process::{command, path};

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

/// A worktree, with the branch that was made for it.
#[derive(Debug)]
pub struct Worktree {
    /// Its folder.
    pub at: PathBuf,
    repo: PathBuf,
    branch: String,
}

impl Worktree {
    /// Makes the worktree `at` of the repository `repo`, on the new branch `kusaw/ID/main` at its HEAD: all of it or,
    /// as far as git lets us, nothing.
    pub fn add(repo: &Path, at: &Path, id: &str) -> Result<Worktree, Refusal> {
        let failed = |what: String| Refusal::new(Reason::WorktreeFailed, format!("{}: {what}", repo.display()));
        let _lock = lock(repo).map_err(|e| failed(format!("lock: {e}")))?;
        let made = Worktree { at: at.into(), repo: repo.into(), branch: format!("kusaw/{id}/main") };
        // By itself, so that it is known whose the branch is.
        git(repo, ["branch", "--no-track", &made.branch, "HEAD"]).map_err(failed)?;
        made.fill().map_err(|what| failed(what + &left(made.take_back())))?;
        Ok(made)
    }

    fn fill(&self) -> Result<(), String> {
        let (at, branch) = (self.at.as_os_str(), OsStr::new(&self.branch));
        git(&self.repo, ["worktree", "add", "-q", "--no-checkout"].map(OsStr::new).into_iter().chain([at, branch]))?;
        // Read where they apply: a repository may include a file for one folder or branch only.
        let filters = filters(&self.at)?;
        let off = filters.iter().flat_map(|setting| ["-c", setting]);
        git(&self.at, off.chain(["reset", "-q", "--hard", "--no-recurse-submodules"])).map(drop)
    }

    /// Removes folder and branch; the value says what could not be removed.
    pub fn undo(self) -> String {
        match lock(&self.repo) {
            Ok(_lock) => left(self.take_back()),
            Err(_) => left(vec![self.at.display().to_string(), self.branch]),
        }
    }

    fn take_back(&self) -> Vec<String> {
        let folder = ["worktree", "remove", "--force"].map(OsStr::new).into_iter().chain([self.at.as_os_str()]);
        let _ = git(&self.repo, folder);
        let mut left = Vec::new();
        if self.at.exists() {
            left.push(self.at.display().to_string());
        }
        if git(&self.repo, ["branch", "-q", "-D", &self.branch]).is_err() {
            left.push(format!("branch {} in {}", self.branch, self.repo.display()));
        }
        left
    }
}

fn left(behind: Vec<String>) -> String {
    if behind.is_empty() { String::new() } else { format!("; left behind: {}", behind.join(", ")) }
}

/// Settings that turn every filter of this repository off: smudge would run a program at the checkout.
fn filters(at: &Path) -> Result<Vec<String>, String> {
    let names = match git(at, ["config", "--null", "--name-only", "--get-regexp", r"^filter\."]) {
        Ok(names) => names,
        // There are none.
        Err(said) if said == "exit status: 1" => return Ok(Vec::new()),
        Err(said) => return Err(said),
    };
    let filters: BTreeSet<&str> =
        names.split_terminator('\0').filter_map(|name| name.rsplit_once('.')).map(|(filter, _)| filter).collect();
    let mut settings = Vec::new();
    for filter in filters {
        if filter.contains('=') {
            return Err(format!("{filter:?} cannot be turned off: there is a = in its name"));
        }
        settings.extend(["smudge", "clean", "process"].map(|key| format!("{filter}.{key}=")));
        settings.push(format!("{filter}.required=false"));
    }
    Ok(settings)
}

/// A path as the settings write it: absolute, `~` and below it, or relative to the factory.
pub fn place(written: &str, factory: &Path, home: Option<&Path>) -> PathBuf {
    match (written.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')), home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => factory.join(written),
    }
}

/// One `worktree add` at a time in a repository: git reads the others' half-made entries and fails on them. The lock is
/// one of flock(2) on the repository's folder, held until the descriptor is closed.
fn lock(repo: &Path) -> io::Result<File> {
    // Nothing but a folder is opened: a FIFO would be waited for.
    let folder = File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK).open(repo)?;
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

/// Runs git in `folder` and returns what it says on stdout; the error is the last line of stderr, or how it ended.
fn git<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Result<String, String> {
    let program = path::find("git").ok_or("no program git in any folder of PATH")?;
    let mut git = Command::new(program);
    git.env_clear()
        .env("PATH", path::searched())
        .env("HOME", "/nonexistent")
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1");
    git.args(HARDENED.iter().flat_map(|setting| ["-c", setting]));
    git.arg("-C").arg(folder).args(arguments);
    command::run(&mut git, TIMEOUT).unwrap_or_else(|e| Err(format!("git: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_absolute_or_below_home_or_the_factory() {
        let home = Some(Path::new("/home/dev"));
        assert_eq!(place("/srv/r", "/f".as_ref(), home), Path::new("/srv/r"));
        assert_eq!(place("~/r", "/f".as_ref(), home), Path::new("/home/dev/r"));
        assert_eq!(place("~", "/f".as_ref(), home), Path::new("/home/dev"));
        assert_eq!(place("~//r", "/f".as_ref(), home), Path::new("/home/dev/r"));
        assert_eq!(place("~r", "/f".as_ref(), home), Path::new("/f/~r"));
        assert_eq!(place("r", "/f".as_ref(), home), Path::new("/f/r"));
    }

    #[test]
    fn what_is_no_repository_is_a_refusal() {
        let empty = tempfile::tempdir().unwrap();
        let refusal = Worktree::add(empty.path(), &empty.path().join("w"), "a").unwrap_err();
        assert_eq!(refusal.reason, Reason::WorktreeFailed);
        assert!(refusal.detail.contains("not a git repository"), "{refusal}");
    }
}
