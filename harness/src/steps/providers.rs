//! Given: a step without a provider. Then: which agent has run it, and what the factory says of agents.

use std::path::Path;

use cucumber::{given, then};
use serde_json::json;

use super::{StepResult, marks};
use crate::launch::Launch;
use crate::plan::{Action, Plan};
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

#[given(regex = r#"^the step has the prompt "(.+)" and no provider$"#)]
fn prompt_only(scene: &mut Scene, prompt: String) {
    scene.plan.action = Action::Provider(String::new(), prompt);
}

#[then(regex = r#"^it is run by the program "(.+)"$"#)]
fn run_by(scene: &mut Scene, name: String) -> StepResult {
    let program = program(scene.last()?);
    scene.found(program.as_ref() == Some(&name), format!("run by {program:?}"));
    scene.words = name;
    Ok(())
}

#[then(regex = r#"^planted, with the provider "(.+)" it is not$"#)]
async fn planted_other(scene: &mut Scene, provider: String) -> StepResult {
    let launch = scene.changed(|plan| with_provider(plan, &provider)).await?;
    let other = program(&launch);
    let shown = other.as_ref().is_some_and(|other| *other != scene.words) && launch.unfinished().is_none();
    scene.control(ControlKind::Planted, shown, format!("planted: run by {other:?}"));
    Ok(())
}

#[then(regex = r#"^planted, with the provider "(.+)" the mark is found$"#)]
async fn planted_mark(scene: &mut Scene, provider: String) -> StepResult {
    marks::planted(scene, |plan| with_provider(plan, &provider)).await
}

fn with_provider(plan: &mut Plan, name: &str) {
    if let Action::Provider(provider, _) = &mut plan.action {
        name.clone_into(provider);
    }
}

/// The name of the agent that told its argv.
fn program(launch: &Launch) -> Option<String> {
    let output = launch.output();
    let path = output.lines().find_map(|line| line.strip_prefix("agent program: "))?;
    Some(Path::new(path).file_name()?.to_string_lossy().into_owned())
}

#[then(regex = r#"^validate says "(.+)"$"#)]
fn validate_says(scene: &mut Scene, word: String) -> StepResult {
    says(scene, &word)?;
    scene.words = word;
    Ok(())
}

#[then("planted, with network allowlist it does not")]
async fn planted_allowlist(scene: &mut Scene) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.block().insert("network".into(), json!("allowlist"));
    let said = scene.validate(&plan).await?;
    does_not(scene, &said);
    Ok(())
}

#[then("planted, without the step's variables they do not")]
async fn planted_without_variables(scene: &mut Scene) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.env.clear();
    let said = scene.says("providers", &plan).await?;
    does_not(scene, &said);
    Ok(())
}

#[then("planted, with a file in it they do not")]
async fn planted_state(scene: &mut Scene) -> StepResult {
    let place = scene.words.trim_start_matches("state: ").trim_end_matches(", which is not there").to_owned();
    let made = std::fs::create_dir_all(&place).and_then(|()| std::fs::write(Path::new(&place).join("x"), ""));
    made.map_err(|e| format!("{place}: {e}"))?;
    let said = scene.says("providers", &scene.plan.clone()).await?;
    does_not(scene, &said);
    Ok(())
}

fn says(scene: &mut Scene, word: &str) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was asked")?.output();
    scene.found(said.contains(word), line(said.as_bytes(), 400));
    Ok(())
}

fn does_not(scene: &mut Scene, said: &Launch) {
    let output = said.output();
    let shown = !output.contains(&scene.words) && !output.is_empty() && !said.timed_out;
    scene.control(ControlKind::Planted, shown, line(output.as_bytes(), 400));
}
