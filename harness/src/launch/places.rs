//! Where the factory, the repositories and the allowed paths of a scenario lie.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::lab::{HOME, Lab, home};
use crate::plan::Plan;

/// Where the factory of a scenario lies.
pub fn factory(plan: &Plan, nonce: &str) -> PathBuf {
    let own = PathBuf::from(HOME).join("factories").join(nonce);
    plan.folder.iter().fold(own, |folder, name| folder.join(name))
}

/// Where a repository of a scenario lies.
pub fn repository(plan: &Plan, nonce: &str, name: &str) -> String {
    let moved = plan.repository.clone().filter(|_| name == home::REPOSITORY_NAMES[0]);
    moved.unwrap_or_else(|| home::repository_of(nonce, name).display().to_string())
}

/// The paths of a list for a sandbox that reads no settings; a factory reads them as written.
pub fn absolute(plan: &Plan, list: &str) -> Vec<String> {
    plan.paths(list).iter().map(|path| Lab::expand(path)).collect()
}

/// The git folders that the worktrees need, what they lie in, and what in them is nobody's to write, for a sandbox that is told
/// them.
pub fn git(plan: &Plan, nonce: &str) -> Value {
    let folder = |(name, _): &crate::plan::Repo| git_folder(&PathBuf::from(repository(plan, nonce, name)));
    let folders: Vec<PathBuf> = plan.repos.iter().map(folder).collect();
    let control = |folder: &PathBuf| ["config", "hooks"].map(|name| folder.join(name));
    let there: Vec<PathBuf> = folders.iter().flat_map(control).filter(|path| path.exists()).collect();
    let around: Vec<&Path> = folders.iter().filter_map(|folder| folder.parent()).collect();
    json!({"rw": folders, "ro": there, "around": around})
}

/// The git folder of a repository, as its worktrees name it: gitrepository-layout(5). A bare one is its own.
fn git_folder(repository: &Path) -> PathBuf {
    let own = repository.join(".git");
    let named = std::fs::read_to_string(&own).ok();
    let folder = match named.as_deref().and_then(|text| text.trim_end().strip_prefix("gitdir: ")) {
        Some(elsewhere) => repository.join(elsewhere),
        None if own.is_dir() => own,
        None => repository.to_owned(),
    };
    folder.canonicalize().unwrap_or(folder)
}
