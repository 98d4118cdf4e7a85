//! Given and Then: a step whose prompt its user writes, at a terminal, in an editor of his own.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use cucumber::{given, then};

use super::StepResult;
use crate::lab::HOME;
use crate::plan::Action;
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[given(regex = r#"^the step is run by the provider "([\w-]+)" without a prompt$"#)]
fn without_prompt(scene: &mut Scene, provider: String) {
    scene.plan.action = Action::Provider(provider, String::new());
}

/// A script of the user's, which is given a file as its last argument, as editors are. What it does stands in `$1` or writes there.
#[given(regex = r#"(?s)^the user's editor does "(.*)"$"#)]
fn editor(scene: &mut Scene, words: String) -> StepResult {
    let place = format!("{HOME}/library/{}", scene.nonce);
    let path = format!("{place}/editor");
    let text = scene.expand_text(&words)?.replace("~/", &format!("{HOME}/"));
    let write = || {
        fs::create_dir_all(&place)?;
        fs::write(&path, format!("#!/bin/sh\n{text}\n"))?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))
    };
    write().map_err(|e| format!("{path}: {e}"))?;
    scene.plan.variables.push(("EDITOR".to_owned(), path));
    Ok(())
}

/// The editor itself as the step's command: what it did was possible outside alone.
#[then("planted, as the step's own command the editor leaves none there")]
async fn editor_inside(scene: &mut Scene) -> StepResult {
    let path = format!("{HOME}/library/{}/editor", scene.nonce);
    let text = fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
    let argv = [crate::launch::SHELL, "-c", &text, "editor", "prompt"].map(str::to_owned);
    super::setup::runs_inside(scene, argv.to_vec()).await
}

#[then("nothing of an attempt is made")]
fn nothing_made(scene: &mut Scene) -> StepResult {
    let made = folder_of_attempt(scene)?;
    scene.found(made.is_none(), made.unwrap_or_else(|| "no folder of an attempt".to_owned()));
    Ok(())
}

#[then("planted, with a prompt in the settings something is")]
async fn planted_made(scene: &mut Scene) -> StepResult {
    let launch = scene
        .changed(|plan| {
            if let Action::Provider(_, prompt) = &mut plan.action {
                "true".clone_into(prompt);
            }
        })
        .await?;
    let made = launch.templates.render(&Scene::context()?.manifest.observe.attempt_dir)?;
    let there = std::path::Path::new(&made).is_dir();
    scene.control(ControlKind::Planted, there, format!("planted: exit {:?}, {made} is there: {there}", launch.exit));
    Ok(())
}

fn folder_of_attempt(scene: &Scene) -> Result<Option<String>, String> {
    let Ok(launch) = scene.last() else { return Ok(None) }; // it was not asked
    let folder = launch.templates.render(&Scene::context()?.manifest.observe.attempt_dir)?;
    Ok(std::path::Path::new(&folder).exists().then_some(folder))
}

#[then(regex = r#"^the step is given no "(.*)"$"#)]
fn given_no(scene: &mut Scene, words: String) -> StepResult {
    let Ok(launch) = scene.last() else { return Ok(()) }; // it was not asked
    let output = launch.output();
    let (held, seen) = (!output.contains(&words), crate::text::line(output.as_bytes(), 300));
    scene.found(held, seen);
    Ok(())
}

#[then("planted, of another prompt the agent is given that")]
async fn planted_other(scene: &mut Scene) -> StepResult {
    let prompt = format!("echo other-{}", scene.nonce);
    let other = prompt.clone();
    let launch = scene
        .changed(|plan| {
            if let Action::Provider(_, prompt) = &mut plan.action {
                *prompt = other;
            }
        })
        .await?;
    let shown = launch.output().contains(&format!("agent: {prompt}"));
    let seen = format!("planted: exit {:?}; {}", launch.exit, crate::text::line(launch.output().as_bytes(), 300));
    scene.control(ControlKind::Planted, shown, seen);
    Ok(())
}
