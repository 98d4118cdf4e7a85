//! Then: what other processes show of themselves in /proc.

use cucumber::then;
use serde_json::Value;

use super::StepResult;
use crate::launch::Launch;
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[then("no process shows it")]
fn none_shows(scene: &mut Scene) -> StepResult {
    let (hits, seen) = hits(scene.last()?);
    scene.found_certain(hits != Some(true), &seen);
    scene.found(hits.is_some(), seen);
    Ok(())
}

#[then("bare, a process shows it")]
async fn bare_shows(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let (hits, seen) = hits(&bare);
    scene.control(ControlKind::Bare, hits == Some(true), format!("bare: {seen}"));
    Ok(())
}

/// Whether what was searched for stands in /proc of a process; none if the probe did not tell.
fn hits(launch: &Launch) -> (Option<bool>, String) {
    let line = launch.report.lines.iter().find(|l| l.action == "processes" && l.ok);
    let detail = |field: &str| line.map_or(&Value::Null, |l| &l.detail[field]);
    let found = detail("hits").as_array().map(|hits| !hits.is_empty());
    (found, format!("{} processes, hits {}", detail("count"), detail("hits")))
}
