//! One linked worktree for each repo of an attempt, on a new branch. Making it must run no filter: smudge is a program.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::command::Git;
use super::lock::Lock;
use crate::outcome::{Reason, Refusal};

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
        let _lock = Lock::take(repo).map_err(|e| failed(format!("lock: {e}")))?;
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
        match Lock::take(&self.repo) {
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

fn git<A: AsRef<OsStr>>(folder: &Path, arguments: impl IntoIterator<Item = A>) -> Result<String, String> {
    Git::within(folder).run(arguments).map(|said| String::from_utf8_lossy(&said).into_owned())
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
