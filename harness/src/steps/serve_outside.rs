//! When and Then: where the process runs that hosts the one proxy, looked at from outside.

use cucumber::{then, when};

use super::StepResult;
use crate::plan::Action;
use crate::scene::{Scene, namespaces};

#[when(regex = r#"^the step runs the probe "(.*)" while a serve hosts its proxy$"#)]
async fn on_serve(scene: &mut Scene, words: String) -> StepResult {
    scene.plan.action = Action::Run(scene.probe(&words)?);
    scene.served_in = scene.run_on_serve().await?;
    Ok(())
}

#[then("the serve is in the host's namespaces")]
fn in_the_hosts(scene: &mut Scene) -> StepResult {
    if scene.launches.is_empty() {
        return Ok(()); // it was not asked
    }
    let own = i32::try_from(std::process::id()).map_err(|e| e.to_string())?;
    let host = namespaces(own)?;
    let seen = format!("the serve: {:?}; the host: {host:?}", scene.served_in);
    scene.found(!scene.served_in.is_empty() && scene.served_in.iter().all(|own| *own == host), seen);
    Ok(())
}
