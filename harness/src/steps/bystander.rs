//! A process of the user, and what a step does to it.

use cucumber::{given, then};

use super::StepResult;
use super::environment::detail;
use crate::lab::bystander::Bystander;
use crate::launch::Launch;
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[given("the user has a process")]
fn has_process(scene: &mut Scene) -> StepResult {
    let started = Bystander::start(&format!("bystander-{}", scene.nonce));
    scene.bystander = Some(started.map_err(|e| format!("a process of the user: {e}"))?);
    Ok(())
}

#[then("the user's process is as it was")]
async fn as_it_was(scene: &mut Scene) -> StepResult {
    let harm = harm(scene).await?;
    scene.found_certain(harm.is_none(), harm.unwrap_or_else(|| "it answers as before".to_owned()));
    Ok(())
}

#[then("bare, the same probe does it harm")]
async fn bare_harms(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    control(scene, &bare).await
}

#[then(regex = r#"^bare, the probe "(.+)" sees it$"#)]
async fn bare_probe_sees(scene: &mut Scene, words: String) -> StepResult {
    let bare = scene.bare(&scene.probe(&words)?).await?;
    let (sees, seen) = pids(&bare);
    scene.control(ControlKind::Bare, sees, format!("bare: {seen}"));
    Ok(())
}

#[then(regex = r#"^bare, the probe "(.+)" does it harm$"#)]
async fn bare_probe_harms(scene: &mut Scene, words: String) -> StepResult {
    let bare = scene.bare(&scene.probe(&words)?).await?;
    control(scene, &bare).await
}

async fn control(scene: &mut Scene, bare: &Launch) -> StepResult {
    let harm = harm(scene).await?;
    let seen = format!("bare: {}; {}", harm.as_deref().unwrap_or("no harm"), bare.report.summary());
    scene.control(ControlKind::Bare, harm.is_some(), seen);
    Ok(())
}

#[then("it sees no such process")]
fn sees_none(scene: &mut Scene) -> StepResult {
    let (sees, seen) = pids(scene.last()?);
    scene.found_certain(!sees, seen);
    Ok(())
}

#[then("bare, it sees it")]
async fn bare_sees(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let (sees, seen) = pids(&bare);
    scene.control(ControlKind::Bare, sees, format!("bare: {seen}"));
    Ok(())
}

/// Whether a process with the mark is visible. Where /proc cannot be listed, none is.
fn pids(launch: &Launch) -> (bool, String) {
    let found = detail(launch, "pids", "pids");
    let seen = format!("{} processes, with the mark: {found}", detail(launch, "pids", "count"));
    (found.as_array().is_some_and(|pids| !pids.is_empty()), seen)
}

pub async fn harm(scene: &mut Scene) -> Result<Option<String>, String> {
    match &mut scene.bystander {
        Some(bystander) => Ok(bystander.harm().await),
        None => Err("the user has no process".to_owned()),
    }
}
