//! What an attempt's allowlist is made of: the factory's list, the step's own, providers, and what a handshake asks for.

use cucumber::{given, then, when};
use serde_json::{Value, json};

use super::StepResult;
use crate::plan::Plan;
use crate::scene::Scene;
use crate::verdict::ControlKind;
use crate::waiting::WAITS;

#[given(regex = r#"^the host "([^"]+)" is allowed for (?:this|another) step$"#)]
fn allowed_for_step(scene: &mut Scene, host: String) {
    scene.plan.allow_for_step(&host);
}

#[given(regex = r"^provider_hosts is (true|false)$")]
fn provider_hosts(scene: &mut Scene, value: String) {
    scene.plan.egress().insert("provider_hosts".into(), Value::Bool(value == "true"));
}

/// A handshake runs outside and says on its stdout what the step wants.
#[given(regex = r#"^the step's handshake asks for the host "([^"]+)"$"#)]
fn handshake(scene: &mut Scene, host: String) {
    let asks = json!({"egress": [host]}).to_string();
    scene.plan.handshake = vec!["/bin/echo".to_owned(), asks];
    scene.searched = Some("W3".to_owned());
}

/// With what a factory adds to it, more than the 107 bytes of a socket's path (unix(7)).
#[given("the factory's folder has a long name")]
fn long_name(scene: &mut Scene) {
    scene.plan.folder = Some("a-long-name".repeat(14));
}

/// Another step of the factory is the one that may reach the host; this one has no list of its own.
#[when(regex = r#"^while the other step waits and then runs "([^"]+)", the step runs "([^"]+)"$"#)]
async fn while_other(scene: &mut Scene, then: String, own: String) -> StepResult {
    let (other, own) = (scene.shell(&format!("{WAITS}\n{then}; true"))?, scene.shell(&own)?);
    scene.run_while(other, own).await
}

#[when(regex = r#"^after the other step has run the probe "([^"]+)", the step runs it$"#)]
async fn after_other(scene: &mut Scene, words: String) -> StepResult {
    let command = scene.probe(&words)?;
    scene.run_after(command.clone(), command).await
}

#[then(regex = r#"^planted, with "([^"]+)" allowed it does not warn$"#)]
async fn planted_added(scene: &mut Scene, host: String) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.allow(&host);
    let (named, seen) = warning(scene, &plan).await?;
    scene.control(ControlKind::Planted, !named, seen);
    Ok(())
}

#[then("planted, with no host allowed it warns")]
async fn planted_removed(scene: &mut Scene) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.forget_hosts();
    let (named, seen) = warning(scene, &plan).await?;
    scene.control(ControlKind::Planted, named, seen);
    Ok(())
}

/// Whether the factory warns W3 of these settings, and what it says.
async fn warning(scene: &mut Scene, plan: &Plan) -> Result<(bool, String), String> {
    let said = scene.validate(plan).await?;
    let output = said.output();
    let looked = said.exit.is_some_and(|code| code == 0 || code == 1);
    let seen = format!("planted: exit {:?}: {}", said.exit, crate::text::line(output.as_bytes(), 300));
    if looked { Ok((output.contains("W3"), seen)) } else { Err(seen) }
}
