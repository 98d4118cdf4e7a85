//! Where the factory, the repositories and the allowed paths of a scenario lie.

use std::path::PathBuf;

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
