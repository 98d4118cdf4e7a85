//! Given: what a factory has that no step may see.

use std::path::PathBuf;

use cucumber::given;

use super::StepResult;
use crate::lab::protected;
use crate::scene::Scene;

#[given("the factory has a secret store, keys and a signing shim")]
fn filled(scene: &mut Scene) -> StepResult {
    let place = |name: &str| match scene.expand(name)? {
        path if path.starts_with('/') => Ok(PathBuf::from(path)),
        path => Err(format!("observe.protected: {name} is \"{path}\", not an absolute path")),
    };
    protected::fill(&place("{store}")?, &place("{keys}")?, &place("{signing}")?)
        .map_err(|e| format!("the factory's secrets: {e}"))
}
