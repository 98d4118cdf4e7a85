//! The block `sandbox` in the object of `validate --json`.

use cucumber::{then, when};
use serde_json::{Value, json};

use super::StepResult;
use crate::launch::Launch;
use crate::plan::Plan;
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

/// What is in it.
const NAMES: [&str; 4] = ["available", "backend", "fix", "reason"];

#[when("the object of validate is asked for")]
async fn asked(scene: &mut Scene) -> StepResult {
    let plan = scene.plan.clone();
    scene.said = Some(scene.says("block", &plan).await?);
    Ok(())
}

#[then("it has the block sandbox with backend, available, reason and fix")]
fn has(scene: &mut Scene) -> StepResult {
    let (block, seen) = block(scene.said.as_ref().ok_or("nothing was asked")?);
    scene.found(block.as_ref().is_some_and(is_whole), seen);
    Ok(())
}

#[then("the block says that the backend is not available")]
fn not_available(scene: &mut Scene) -> StepResult {
    let (block, seen) = block(scene.said.as_ref().ok_or("nothing was asked")?);
    scene.found(block.as_ref().is_some_and(|block| is_whole(block) && block["available"] == false), seen);
    Ok(())
}

#[then("planted, without the fault the block says that the backend is available")]
async fn planted_available(scene: &mut Scene) -> StepResult {
    let plan = Plan { fault: None, ..scene.plan.clone() };
    let (block, seen) = block(&scene.says("block", &plan).await?);
    let shown = block.as_ref().is_some_and(|block| is_whole(block) && block["available"] == true);
    scene.control(ControlKind::Planted, shown, format!("planted: {seen}"));
    Ok(())
}

#[then("it has no block sandbox")]
fn has_none(scene: &mut Scene) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was asked")?;
    let (block, seen) = block(said);
    scene.found(block.is_none() && object(said).is_some(), seen);
    Ok(())
}

#[then(regex = r#"^planted, with the step's sandbox "(off|required)" it has (none|one)$"#)]
async fn planted(scene: &mut Scene, mode: String, what: String) -> StepResult {
    let mut plan = Plan { step_sandbox: Some(json!(mode)), ..scene.plan.clone() };
    plan.others.clear();
    let said = scene.says("block", &plan).await?;
    let (block, seen) = block(&said);
    let shown = object(&said).is_some() && block.as_ref().is_some_and(is_whole) == (what == "one");
    scene.control(ControlKind::Planted, shown, format!("planted: {seen}"));
    Ok(())
}

/// Exactly the documented names; where steps can be sandboxed nothing is the matter, else there are reason and fix.
fn is_whole(block: &Value) -> bool {
    let Some(object) = block.as_object() else { return false };
    let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
    names.sort_unstable();
    let is_text = |name: &str| block[name].as_str().is_some_and(|text| !text.is_empty());
    let matter = match block["available"].as_bool() {
        Some(true) => block["reason"].is_null() && block["fix"].is_null(),
        Some(false) => is_text("reason") && is_text("fix"),
        None => false,
    };
    names == NAMES && is_text("backend") && matter
}

fn object(said: &Launch) -> Option<Value> {
    serde_json::from_slice::<Value>(&said.stdout).ok().filter(Value::is_object)
}

fn block(said: &Launch) -> (Option<Value>, String) {
    let block = object(said).and_then(|object| object.get("sandbox").cloned());
    (block, format!("exit {:?}: {}", said.exit, line(said.output().as_bytes(), 400)))
}
