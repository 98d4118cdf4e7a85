//! Then: the same sandbox with exactly one guard less lets it through. Made by the saboteur, in place of the sandbox
//! program of this one launch, so it works for whoever starts that program.

use cucumber::then;

use super::{StepResult, secrets, writes};
use crate::lab::fault::Fault;
use crate::lab::{SABOTEUR, SUITE};
use crate::launch::Launch;
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[then(
    regex = r#"^weakened, (without|with|with the host's) "([^"]+)"( mounted| writable)?, the same probe gets the secret$"#
)]
async fn gets_the_secret(scene: &mut Scene, how: String, what: String, state: String) -> StepResult {
    let launch = weakened(scene, &how, &what, &state).await?;
    let found = secrets::secret(&launch);
    control(scene, found.is_some(), &launch, found.unwrap_or_else(|| secrets::told(&launch)));
    Ok(())
}

#[then(regex = r#"^weakened, (without|with|with the host's) "([^"]+)"( mounted| writable)?, the same probe succeeds$"#)]
async fn succeeds(scene: &mut Scene, how: String, what: String, state: String) -> StepResult {
    let launch = weakened(scene, &how, &what, &state).await?;
    let shown = !launch.report.lines.is_empty() && launch.report.lines.iter().all(|l| l.ok);
    control(scene, shown, &launch, secrets::told(&launch));
    Ok(())
}

#[then(
    regex = r#"^weakened, (without|with|with the host's) "([^"]+)"( mounted| writable)?, the same probe leaves it there$"#
)]
async fn leaves(scene: &mut Scene, how: String, what: String, state: String) -> StepResult {
    let launch = weakened(scene, &how, &what, &state).await?;
    let (there, seen) = writes::searched(scene)?;
    control(scene, there, &launch, seen);
    Ok(())
}

#[then(
    regex = r#"^weakened, (without|with|with the host's) "([^"]+)"( mounted| writable)?, the same probe writes "([^"]+)"$"#
)]
async fn is_written(scene: &mut Scene, how: String, what: String, state: String, path: String) -> StepResult {
    let launch = weakened(scene, &how, &what, &state).await?;
    let path = scene.expand(&path)?;
    let there = std::fs::symlink_metadata(&path).is_ok();
    control(scene, there, &launch, format!("{path} is {}", if there { "there" } else { "not there" }));
    Ok(())
}

#[then(
    regex = r#"^weakened, (without|with|with the host's) "([^"]+)"( mounted| writable)?, the same probe changes the user's file$"#
)]
async fn changes(scene: &mut Scene, how: String, what: String, state: String) -> StepResult {
    let launch = weakened(scene, &how, &what, &state).await?;
    let (kept, seen) = writes::victim_as_it_was(scene)?;
    control(scene, !kept, &launch, seen);
    Ok(())
}

/// The same plan, with the sandbox program started with one guard less: without an option, with the host's own mounted over
/// a path, or with a read-only mount writable.
async fn weakened(scene: &mut Scene, how: &str, what: &str, state: &str) -> Result<Launch, String> {
    let how = match (how, state.trim()) {
        ("without", "") => "without",
        ("with the host's", "mounted") => "mounted",
        ("with", "writable") => "writable",
        _ => return Err(format!("nobody knows how to weaken {how} \"{what}\"{state}")),
    };
    let fault = fault(scene, how, what)?;
    scene.changed(|plan| plan.fault = Some(fault)).await
}

/// The saboteur in place of the sandbox program; `how` is its own word.
pub fn fault(scene: &Scene, how: &str, what: &str) -> Result<Fault, String> {
    let what = scene.expand(what)?.replace('\'', "'\\''");
    Ok(Fault::Backend(format!("exec {SABOTEUR} {SUITE}/backend {how} '{what}' -- \"$@\"")))
}

fn control(scene: &mut Scene, shown: bool, launch: &Launch, seen: String) {
    let finished = launch.unfinished();
    let seen = finished.as_ref().map_or(format!("weakened: {seen}"), |why| format!("weakened: {why}; {seen}"));
    scene.control(ControlKind::Weakened, shown && finished.is_none(), seen);
}
