//! What the user's programs share with each other (IPC), and what a step does to it.

use cucumber::{given, then};

use super::StepResult;
use crate::lab::ipc::{self, Content, Shared};
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[given("the user's programs share memory, semaphores and message queues")]
fn share(scene: &mut Scene) -> StepResult {
    let number = scene.nonce.trim_start_matches('s').parse().map_err(|e| format!("{}: {e}", scene.nonce))?;
    let made = || {
        let shared = Shared::make(number, &scene.nonce)?;
        Ok((shared.content()?, shared))
    };
    let (content, shared) = made().map_err(|e: std::io::Error| format!("what the user's programs share: {e}"))?;
    scene.shared = Some((shared, content));
    Ok(())
}

#[then("what they share is as it was")]
fn as_it_was(scene: &mut Scene) -> StepResult {
    let (before, now) = looked_at(scene)?;
    scene.found_certain(before == now, seen(&before, &now));
    Ok(())
}

#[then("bare, the same probe changes it")]
async fn bare_changes(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let (before, now) = looked_at(scene)?;
    let seen = format!("bare: {}; {}", seen(&before, &now), bare.report.summary());
    scene.control(ControlKind::Bare, before != now && bare.unfinished().is_none(), seen);
    Ok(())
}

#[then(regex = r#"^it does not say "(.+)"$"#)]
fn says_not(scene: &mut Scene, words: String) -> StepResult {
    let words = scene.expand(&words)?;
    let launch = scene.last()?;
    let (says, seen) = (launch.output().contains(&words), launch.report.summary());
    scene.found_certain(!says, format!("says {words}: {says}; {seen}"));
    Ok(())
}

#[then(regex = r#"^bare, the same probe says "(.+)"$"#)]
async fn bare_says(scene: &mut Scene, words: String) -> StepResult {
    let words = scene.expand(&words)?;
    let bare = scene.bare(&scene.command()?).await?;
    let says = bare.output().contains(&words);
    scene.control(ControlKind::Bare, says, format!("bare, says {words}: {says}; {}", bare.report.summary()));
    Ok(())
}

#[then(regex = r#"^the host has no shared memory with the key "(.+)"$"#)]
fn has_none(scene: &mut Scene, key: String) -> StepResult {
    let there = ipc::has_memory(ipc::key(&key)?);
    scene.found_certain(!there, format!("shared memory {key} on the host: {there}"));
    scene.searched = Some(key);
    Ok(())
}

#[then("bare, the same probe makes it there")]
async fn bare_makes(scene: &mut Scene) -> StepResult {
    let key = ipc::key(scene.searched.as_deref().ok_or("no key was searched for")?)?;
    let bare = scene.bare(&scene.command()?).await?;
    let there = ipc::has_memory(key);
    ipc::remove_memory(key);
    scene.control(ControlKind::Bare, there, format!("bare, there: {there}; {}", bare.report.summary()));
    Ok(())
}

fn looked_at(scene: &Scene) -> Result<(Content, Content), String> {
    let (shared, before) = scene.shared.as_ref().ok_or("nothing is shared")?;
    Ok((before.clone(), shared.content().map_err(|e| format!("what is shared: {e}"))?))
}

fn seen(before: &Content, now: &Content) -> String {
    if before == now { "all as it was".to_owned() } else { format!("changed: {}", before.difference(now)) }
}
