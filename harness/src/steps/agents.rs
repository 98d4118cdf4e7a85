//! Given: where the agents lie that a provider starts.

use std::fs;
use std::path::Path;

use cucumber::given;

use super::StepResult;
use crate::lab::home;
use crate::scene::Scene;

#[given(regex = r#"^the agents lie in "([^"]+)", beside notes of the user( and a package\.json)?$"#)]
fn agents_lie_in(scene: &mut Scene, folder: String, package: String) -> StepResult {
    let folder = scene.expand(&folder)?;
    let here = Path::new(&folder);
    let furnish = || {
        home::provide_repositories(&scene.nonce)?; // it may be one of them
        home::agents(here)?;
        home::canary(&here.join("notes.txt"))?;
        if package.is_empty() { Ok(()) } else { fs::write(here.join("package.json"), "{\"name\": \"project\"}\n") }
    };
    furnish().map_err(|e| format!("{folder}: {e}"))?;
    scene.plan.agents = Some(folder);
    Ok(())
}
