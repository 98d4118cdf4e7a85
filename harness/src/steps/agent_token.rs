//! Then: an agent's home and its login token, where it has no state of the user's.

use cucumber::then;
use serde_json::{Value, json};

use super::environment::detail;
use super::{StepResult, marks};
use crate::lab::HOME;
use crate::launch::Launch;
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

#[then(regex = r#"^the variable "HOME" is another than the user's$"#)]
fn home_is_another(scene: &mut Scene) -> StepResult {
    let (home, own) = homes(scene, scene.last()?);
    scene.found(home.as_ref().is_some_and(|home| *home != own), format!("HOME: {home:?}, the user's: {own}"));
    Ok(())
}

#[then("planted, without the sandbox it is the user's")]
async fn planted_unsandboxed(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(|plan| plan.step_sandbox = Some(json!("off"))).await?;
    let (home, own) = homes(scene, &launch);
    scene.control(ControlKind::Planted, home.as_ref() == Some(&own), format!("planted: HOME: {home:?}"));
    Ok(())
}

fn homes(scene: &Scene, launch: &Launch) -> (Option<String>, String) {
    let vars = detail(launch, "env", "vars");
    let home = vars.get("HOME").and_then(Value::as_str).map(str::to_owned);
    (home, scene.plan.home.clone().unwrap_or_else(|| HOME.to_owned()))
}

#[then(regex = r#"^planted, with the variable "(\w+)" the mark is found$"#)]
async fn planted_variable(scene: &mut Scene, name: String) -> StepResult {
    marks::planted(scene, |plan| drop(plan.env.insert(name, json!("x")))).await
}

#[then("planted, with that variable it does not")]
async fn planted_said(scene: &mut Scene) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.env.insert(scene.words.clone(), json!("x"));
    let said = scene.validate(&plan).await?.output();
    let shown = !said.is_empty() && !said.contains(&scene.words);
    scene.control(ControlKind::Planted, shown, line(said.as_bytes(), 400));
    Ok(())
}
