//! One linked worktree for each repo of an attempt, on a new branch. Making it must run no filter: smudge is a program.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::command::Git;
use super::config::{self, Setting};
use super::folders::{self, Folders};
use super::lock::Lock;
use crate::outcome::{Reason, Refusal};
use crate::process::path;

/// A worktree, with the branch that was made for it.
#[derive(Debug)]
pub struct Worktree {
    /// The repo's name in the settings.
    pub repo: String,
    /// Its folder.
    pub at: PathBuf,
    /// The repository's common git folder.
    pub common: PathBuf,
    /// The worktree's own folder in there.
    pub admin: PathBuf,
    /// `kusaw/ID/main`.
    pub branch: String,
    /// The repository's settings as they are for this worktree, includes resolved.
    pub settings: Vec<Setting>,
    /// The public key whose owner signs what is imported.
    pub sign: Option<PathBuf>,
}

/// What a place lacks to be a repository for a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Lacks {
    /// There is no such folder.
    #[error("there is no such folder")]
    Folder,
    /// It is in no repository.
    #[error("not a git repository")]
    Repository,
    /// There is nothing to begin at.
    #[error("the repository has no commit yet")]
    Commit,
}

impl Lacks {
    /// What to do about it, for the repo of this name.
    pub fn fix(self, repo: &str, place: &Path) -> String {
        let (place, key) = (place.display(), format!("repos.{repo}.path"));
        match self {
            Lacks::Folder => format!("name one of your git repositories at {key}, or clone one there"),
            Lacks::Repository => format!("git init {place}, or name another folder at {key}"),
            Lacks::Commit => format!("commit something there: git -C {place} commit --allow-empty -m First"),
        }
    }

    fn refusal(self, repo: &str, place: &Path) -> Refusal {
        let refusal = Refusal::new(Reason::WorktreeFailed, format!("{}: {self}", place.display()));
        Refusal { fix: Some(self.fix(repo, place)), ..refusal }
    }
}

/// What a place lacks to be a repository for a step, if anything.
pub fn is_ready(place: &Path) -> Result<(), Lacks> {
    has_commit(&lacks(place)?.own).then_some(()).ok_or(Lacks::Commit)
}

fn lacks(place: &Path) -> Result<Folders, Lacks> {
    folders::of(place).ok_or(if place.is_dir() { Lacks::Repository } else { Lacks::Folder })
}

/// Where there is no git, nobody knows: then that is what is told.
fn has_commit(own: &Path) -> bool {
    path::find("git").is_none() || Git::of(own).run(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).is_ok()
}

impl Worktree {
    /// Makes the worktree `at` of the repository that `place` is or lies in, on the new branch `kusaw/ID/main` at its HEAD: all of
    /// it or, as far as git lets us, nothing.
    pub fn add(repo: &str, place: &Path, at: &Path, id: &str) -> Result<Worktree, Refusal> {
        let failed = |what: String| Refusal::new(Reason::WorktreeFailed, format!("{}: {what}", place.display()));
        let refused = |lacks: Lacks| lacks.refusal(repo, place);
        let Folders { own, common } = lacks(place).map_err(refused)?;
        let _lock = Lock::take(&common).map_err(|e| failed(format!("lock: {e}")))?;
        let branch = format!("kusaw/{id}/main");
        // By itself, so that it is known whose the branch is.
        Git::of(&own).run(["branch", "--no-track", &branch, "HEAD"]).map_err(|said| match has_commit(&own) {
            true => failed(said),
            false => refused(Lacks::Commit),
        })?;
        let (repo, at, admin, settings) = (repo.into(), at.into(), PathBuf::new(), Vec::new());
        let mut made = Worktree { repo, at, common, admin, branch, settings, sign: None };
        made.fill().map_err(|what| failed(what + &left(made.take_back())))?;
        Ok(made)
    }

    /// As [`Worktree::add`] would make it; its settings are not read.
    pub fn planned(repo: &str, place: &Path, at: &Path, id: &str) -> Result<Worktree, Refusal> {
        let refused = |lacks: Lacks| lacks.refusal(repo, place);
        let Folders { own, common } = lacks(place).map_err(refused)?;
        has_commit(&own).then_some(()).ok_or(Lacks::Commit).map_err(refused)?;
        // The folder's own name, or with a number behind it where that is taken: as git-worktree(1) does it.
        let name = at.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names = std::iter::once(name.clone()).chain((1..).map(|n| format!("{name}{n}")));
        let mut places = names.map(|name| common.join("worktrees").join(name));
        let admin = places.find(|admin| !admin.exists()).unwrap_or_default();
        let branch = format!("kusaw/{id}/main");
        Ok(Worktree { repo: repo.into(), at: at.into(), common, admin, branch, settings: Vec::new(), sign: None })
    }

    fn fill(&mut self) -> Result<(), String> {
        let (at, branch) = (self.at.as_os_str(), OsStr::new(&self.branch));
        let add = ["worktree", "add", "-q", "--no-checkout"].map(OsStr::new).into_iter().chain([at, branch]);
        Git::of(&self.common).run(add)?;
        self.admin = folders::of(&self.at).ok_or("git made a worktree without a git folder")?.own;
        let git = Git::of(&self.admin).with("GIT_WORK_TREE", &self.at);
        // Read where they apply: a repository may include a file for one folder or branch only.
        self.settings = config::parse(&git.run(["config", "--list", "--null", "--show-scope", "--includes"])?);
        let filters = filters(&self.settings)?;
        let off = filters.iter().flat_map(|setting| ["-c", setting]);
        git.run(off.chain(["reset", "-q", "--hard", "--no-recurse-submodules"])).map(drop)
    }

    /// Removes folder and branch; the value says what could not be removed.
    pub fn undo(self) -> String {
        match Lock::take(&self.common) {
            Ok(_lock) => left(self.take_back()),
            Err(_) => left(vec![self.at.display().to_string(), self.branch]),
        }
    }

    fn take_back(&self) -> Vec<String> {
        let git = Git::of(&self.common);
        let folder = ["worktree", "remove", "--force"].map(OsStr::new).into_iter().chain([self.at.as_os_str()]);
        let _ = git.run(folder);
        let mut left = Vec::new();
        if self.at.exists() {
            left.push(self.at.display().to_string());
        }
        if git.run(["branch", "-q", "-D", &self.branch]).is_err() {
            left.push(format!("branch {} in {}", self.branch, self.common.display()));
        }
        left
    }
}

fn left(behind: Vec<String>) -> String {
    if behind.is_empty() { String::new() } else { format!("; left behind: {}", behind.join(", ")) }
}

/// Settings that turn every filter of this repository off: smudge would run a program at the checkout.
fn filters(settings: &[Setting]) -> Result<Vec<String>, String> {
    let names = settings.iter().map(|setting| String::from_utf8_lossy(&setting.key));
    let names = names.filter(|key| key.starts_with("filter."));
    let filters: BTreeSet<String> =
        names.filter_map(|key| key.rsplit_once('.').map(|(filter, _)| filter.to_string())).collect();
    let mut off = Vec::new();
    for filter in filters {
        if filter.contains('=') {
            return Err(format!("{filter:?} cannot be turned off: there is a = in its name"));
        }
        off.extend(["smudge", "clean", "process"].map(|key| format!("{filter}.{key}=")));
        off.push(format!("{filter}.required=false"));
    }
    Ok(off)
}

/// What to do where a path begins with `~` and no home is known.
pub const SET_HOME: &str =
    "set HOME to your home folder (export HOME=/home/NAME), or write the whole path in place of ~";

/// A path as the settings write it: absolute, `~` and below it, or relative to the factory.
pub fn place(written: &str, factory: &Path, home: Option<&Path>) -> PathBuf {
    match (written.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')), home) {
        (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
        _ => factory.join(written),
    }
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
    fn every_filter_is_turned_off() {
        let setting = |key: &str| Setting { key: key.into(), value: Some("p".into()) };
        let off =
            filters(&[setting("filter.a.b.smudge"), setting("core.bare"), setting("filter.a.b.required")]).unwrap();
        let names = ["filter.a.b.smudge=", "filter.a.b.clean=", "filter.a.b.process=", "filter.a.b.required=false"];
        assert_eq!(off, names);
        assert!(filters(&[setting("filter.a=b.clean")]).is_err());
    }

    #[test]
    fn what_is_no_repository_is_a_refusal() {
        let empty = tempfile::tempdir().unwrap();
        let refusal = Worktree::add("r", empty.path(), &empty.path().join("w"), "a").unwrap_err();
        assert_eq!(refusal.reason, Reason::WorktreeFailed);
        assert!(refusal.detail.contains("not a git repository"), "{refusal}");
    }
}
