//! The mark a step leaves when it is executed: one in its worktree, one outside. It is looked for on the host.

use std::path::{Path, PathBuf};

use cucumber::{given, then};

use super::StepResult;
use crate::lab::{HOME, home};
use crate::launch::Launch;
use crate::observe;
use crate::plan::Action;
use crate::scene::{Refusal, Scene};
use crate::verdict::ControlKind;

#[given("the step leaves a mark")]
fn leaves(scene: &mut Scene) -> StepResult {
    scene.plan.action = Action::Run(scene.probe(&words(scene))?);
    scene.refusal = Refusal::Marked;
    Ok(())
}

#[given(regex = r#"^the step is run by the provider "([\w-]+)" with a prompt that leaves a mark$"#)]
fn provider_leaves(scene: &mut Scene, provider: String) {
    let prompt = format!("tools/probe {}", words(scene));
    scene.plan.action = Action::Provider(provider, prompt);
}

/// What a probe does to leave the mark.
pub fn words(scene: &Scene) -> String {
    format!("write mark x + write {} x", outside(&scene.nonce).display())
}

#[then("the attempt is refused")]
fn refused(scene: &mut Scene) -> StepResult {
    let observe = &Scene::context()?.manifest.observe;
    let launch = scene.last()?;
    let by_code = launch.exit.is_some_and(|code| observe.refused_codes.contains(&code));
    // Where an outcome was written, it says the same; wrong settings may leave none.
    let told = match &observe.outcome {
        Some(o) if observe::path(o, launch)?.exists() => Some(observe::refusal(o, launch)?),
        _ => None,
    };
    let held = by_code && !matches!(told, Some(None));
    let seen = format!("exit {:?}, outcome {told:?}: {}", launch.exit, crate::text::line(&launch.stderr, 200));
    scene.found(held, seen);
    Ok(())
}

#[then(regex = r#"^the attempt is refused with the reason "([\w-]+)"$"#)]
fn refused_because(scene: &mut Scene, reason: String) -> StepResult {
    refused(scene)?;
    let reported = match &Scene::context()?.manifest.observe.outcome {
        Some(observation) => observe::refusal(observation, scene.last()?)?,
        None => None,
    };
    let held = reported.as_deref() == Some(&reason);
    scene.found(held, format!("reason {}", reported.as_deref().unwrap_or("not told")));
    Ok(())
}

#[then("no mark is found")]
fn no_mark(scene: &mut Scene) -> StepResult {
    let found = marks(scene.last()?, &scene.nonce);
    scene.found_certain(found.is_empty(), told(&found));
    Ok(())
}

#[then("the mark is found")]
fn mark(scene: &mut Scene) -> StepResult {
    let found = marks(scene.last()?, &scene.nonce);
    scene.found(!found.is_empty(), told(&found));
    Ok(())
}

#[then("no mark is found outside")]
fn no_mark_outside(scene: &mut Scene) {
    let found = outside(&scene.nonce).exists();
    scene.found_certain(!found, if found { "a mark outside" } else { "no mark outside" });
}

#[then(regex = r"^it ran (free|confined), by its mark$")]
fn ran_by_mark(scene: &mut Scene, how: String) -> StepResult {
    let found = marks(scene.last()?, &scene.nonce);
    let is_outside = found.contains(&outside(&scene.nonce));
    let seen = told(&found);
    scene.found(!found.is_empty() && is_outside == (how == "free"), seen);
    Ok(())
}

#[then("planted, without the fault the mark is found")]
async fn planted_without_fault(scene: &mut Scene) -> StepResult {
    planted(scene, |plan| plan.fault = None).await
}

#[then("planted, with the repository mended the mark is found")]
async fn planted_mended(scene: &mut Scene) -> StepResult {
    let head = home::repository_of(&scene.nonce, "demo").join(".git/HEAD");
    std::fs::write(&head, "ref: refs/heads/main\n").map_err(|e| format!("{}: {e}", head.display()))?;
    planted(scene, |_| {}).await
}

#[then("planted, with right settings the mark is found")]
async fn planted_right_settings(scene: &mut Scene) -> StepResult {
    planted(scene, |plan| {
        (plan.sandbox_text, plan.step_sandbox_text, plan.spoilt) = (None, None, None);
        plan.asked = crate::plan::STEP.to_owned();
    })
    .await
}

#[then("planted, with mode required alone the mark is found")]
async fn planted_required(scene: &mut Scene) -> StepResult {
    planted(scene, |plan| {
        plan.sandbox = Some(serde_json::json!({"mode": "required"}));
        plan.step_keys.clear();
    })
    .await
}

#[then("planted, with network allowlist the mark is found")]
async fn planted_allowlist(scene: &mut Scene) -> StepResult {
    planted(scene, |plan| {
        plan.sandbox = Some(serde_json::json!({"mode": "required", "network": "allowlist"}));
        plan.step_sandbox = None;
    })
    .await
}

#[then("planted, without the setting the mark is found")]
async fn planted_without_setting(scene: &mut Scene) -> StepResult {
    planted(scene, crate::plan::Plan::forget_paths).await
}

#[then("planted, without the sandbox the mark is found outside")]
async fn planted_unsandboxed(scene: &mut Scene) -> StepResult {
    let launch = scene
        .changed(|plan| {
            plan.fault = None;
            plan.step_sandbox = Some(serde_json::json!("off"));
        })
        .await?;
    let found = outside(&scene.nonce).exists();
    scene.control(ControlKind::Planted, found, format!("exit {:?}, mark outside: {found}", launch.exit));
    Ok(())
}

/// Whether the step, with one thing changed, leaves the mark.
pub async fn planted(scene: &mut Scene, change: impl FnOnce(&mut crate::plan::Plan)) -> StepResult {
    let launch = scene.changed(change).await?;
    let found = marks(&launch, &scene.nonce);
    let seen = format!("exit {:?}: {}", launch.exit, told(&found));
    scene.control(ControlKind::Planted, !found.is_empty(), seen);
    Ok(())
}

/// Where the mark outside lies.
fn outside(nonce: &str) -> PathBuf {
    Path::new(HOME).join("factories").join(format!("mark-of-{nonce}"))
}

/// All marks of a launch that the host shows.
fn marks(launch: &Launch, nonce: &str) -> Vec<PathBuf> {
    let worktree = launch.templates.render("{{worktree}}").unwrap_or_default();
    let places = [
        Path::new(&worktree).join("mark"),
        outside(nonce),
        launch.factory.join("mark"),
        home::repository_of(nonce, "demo").join("mark"),
    ];
    places.into_iter().filter(|p| p.is_absolute() && p.exists()).collect()
}

fn told(found: &[PathBuf]) -> String {
    if found.is_empty() {
        return "no mark".to_owned();
    }
    let places: Vec<String> = found.iter().map(|p| p.display().to_string()).collect();
    format!("marks: {}", places.join(", "))
}
