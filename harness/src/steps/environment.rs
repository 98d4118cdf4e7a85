//! Then: the argv and environment of a step, and whether a sandbox program was started.

use cucumber::then;
use serde_json::Value;

use super::StepResult;
use crate::launch::{environment, starts};
use crate::plan::Action;
use crate::probe::Line;
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[then("its argv is what the settings say")]
fn argv(scene: &mut Scene) -> StepResult {
    let wanted = scene.command()?;
    let seen = detail(scene, "argv", "argv")?;
    let held = seen.as_array().is_some_and(|argv| argv.iter().filter_map(Value::as_str).eq(wanted.iter()));
    scene.found(held, format!("argv {seen}"));
    Ok(())
}

#[then("the agent's argv has no sandbox switch")]
fn agent_argv(scene: &mut Scene) -> StepResult {
    let text = scene.last()?.output();
    let argv: Vec<&str> = text.lines().filter_map(|l| l.strip_prefix("agent: ")).collect();
    let held = !argv.is_empty() && !argv.iter().any(|word| word.to_lowercase().contains("sandbox"));
    let seen = format!("the agent's argv: {argv:?}");
    scene.found(held, seen);
    Ok(())
}

#[then("its environment is the caller's")]
fn callers_environment(scene: &mut Scene) -> StepResult {
    let seen = detail(scene, "env", "vars")?;
    let mut wanted = environment();
    for (name, value) in &Scene::context()?.manifest.env.set {
        wanted.push((name.clone(), value.clone()));
    }
    let map = seen.as_object().cloned().unwrap_or_default();
    let same = |(name, value): &(String, String)| map.get(name).and_then(Value::as_str) == Some(value);
    // PWD and _ are set by shells on the way, in any implementation that has one.
    let more: Vec<&String> = map
        .keys()
        .filter(|k| !wanted.iter().any(|(n, _)| n == *k) && !["PWD", "OLDPWD", "_", "SHLVL"].contains(&k.as_str()))
        .collect();
    let lacking: Vec<&str> = wanted.iter().filter(|v| !same(v)).map(|(n, _)| n.as_str()).collect();
    scene.found(more.is_empty() && lacking.is_empty(), format!("more: {more:?}, lacking or other: {lacking:?}"));
    Ok(())
}

#[then(regex = r#"^no variable holds "(.+)"$"#)]
fn no_variable(scene: &mut Scene, text: String) -> StepResult {
    let seen = detail(scene, "env", "vars")?;
    let held = seen.is_object() && !seen.to_string().contains(&text);
    scene.found(held, format!("{} variables", seen.as_object().map_or(0, serde_json::Map::len)));
    Ok(())
}

#[then(regex = r#"^planted, a variable that holds "(.+)" is noticed$"#)]
async fn planted_variable(scene: &mut Scene, text: String) -> StepResult {
    let launch = scene
        .changed(|plan| {
            plan.env.insert("PLANTED".into(), Value::String(text.clone()));
        })
        .await?;
    let shown = launch.report.lines.iter().any(|l| l.detail.to_string().contains(&text));
    scene.control(ControlKind::Planted, shown, format!("planted: exit {:?}, seen: {shown}", launch.exit));
    Ok(())
}

#[then("no sandbox program is started")]
fn not_started(scene: &mut Scene) {
    let started = started(scene);
    scene.found(started == 0, format!("the sandbox program was started {started} times"));
}

#[then("planted, with sandbox required a sandbox program is seen to start")]
async fn planted_start(scene: &mut Scene) -> StepResult {
    let before = started(scene);
    let launch = scene
        .changed(|plan| {
            plan.block().insert("mode".into(), Value::String("required".to_owned()));
            if let Action::Provider(..) = plan.action {
                plan.action = Action::Run(vec!["/bin/true".to_owned()]);
            }
        })
        .await?;
    let more = started(scene) - before;
    scene.control(ControlKind::Planted, more > 0, format!("exit {:?}; started {more} times", launch.exit));
    Ok(())
}

fn started(scene: &Scene) -> usize {
    std::fs::read_to_string(starts(&scene.case)).map_or(0, |text| text.lines().count())
}

/// A field of the first action of this name in the last report; null if there is none.
fn detail(scene: &Scene, action: &str, field: &str) -> Result<Value, String> {
    let lines = &scene.last()?.report.lines;
    let line: Option<&Line> = lines.iter().find(|l| l.action == action);
    Ok(line.and_then(|l| l.detail.get(field)).cloned().unwrap_or(Value::Null))
}
