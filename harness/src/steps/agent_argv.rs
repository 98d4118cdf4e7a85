//! Given: an agent's arguments. Then: what it was started with, as the lab's agents tell it.

use cucumber::{gherkin, given, then};
use serde_json::{Value, json};

use super::environment::detail;
use super::{StepResult, marks};
use crate::launch::Launch;
use crate::plan::{Action, Plan};
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[given("the step's arguments are")]
fn arguments(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    let row = step.table.as_ref().and_then(|table| table.rows.first()).ok_or("no arguments are written there")?;
    let args = row.iter().map(|word| scene.expand_text(word)).collect::<Result<Vec<_>, _>>()?;
    scene.plan.step_keys.insert(ARGS.to_owned(), json!(args));
    Ok(())
}

const ARGS: &str = "args";

#[then("the agent's own sandbox is off, by one word")]
fn is_off(scene: &mut Scene) -> StepResult {
    let (held, seen) = (values(scene, scene.last()?)?.off, told(scene.last()?));
    scene.found(held, seen);
    Ok(())
}

#[then("planted, without the sandbox it is not off")]
async fn planted_not_off(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(|plan| plan.step_sandbox = Some(json!("off"))).await?;
    let off = values(scene, &launch)?.off;
    control(scene, !off, &launch);
    Ok(())
}

/// What says something of the own sandbox aside, as it is no matter where that stands.
#[then("all else in the agent's argv is as written")]
fn all_else(scene: &mut Scene) -> StepResult {
    let launch = scene.last()?;
    let (own, written) = (values(scene, launch)?.others, split(scene, &as_written(scene)?)?.others);
    let (held, seen) = (own == written, told(launch));
    scene.found(held, seen);
    Ok(())
}

#[then("the agent's argv is as written")]
fn argv_as_written(scene: &mut Scene) -> StepResult {
    let (held, seen) = (argv(scene.last()?) == as_written(scene)?, told(scene.last()?));
    scene.found(held, seen);
    Ok(())
}

#[then("planted, with the sandbox it is not")]
async fn planted_with_sandbox(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(|plan| plan.step_sandbox = Some(json!("required"))).await?;
    let same = argv(&launch) == as_written(scene)?;
    control(scene, !same, &launch);
    Ok(())
}

#[then(regex = r#"^the agent's settings hold '(.+)'$"#)]
fn settings_hold(scene: &mut Scene, wanted: String) -> StepResult {
    let (held, seen) = (holds(scene, scene.last()?, &wanted)?, told(scene.last()?));
    scene.found(held, seen);
    scene.words = wanted;
    Ok(())
}

#[then("planted, without arguments they do not")]
async fn planted_without_arguments(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(forget).await?;
    let held = holds(scene, &launch, &scene.words.clone())?;
    control(scene, !held, &launch);
    Ok(())
}

#[then("planted, without arguments the mark is found")]
async fn planted_mark(scene: &mut Scene) -> StepResult {
    marks::planted(scene, forget).await
}

fn forget(plan: &mut Plan) {
    plan.step_keys.remove(ARGS);
}

#[then("planted, with another value it is not")]
async fn planted_other_value(scene: &mut Scene) -> StepResult {
    let before = detail(scene.last()?, "env", "vars");
    let launch = scene.changed(|plan| plan.env.values_mut().for_each(|value| *value = json!("other"))).await?;
    let after = detail(&launch, "env", "vars");
    let changed = scene.plan.env.keys().all(|name| after.get(name) == Some(&json!("other")) && before != after);
    control(scene, changed, &launch);
    Ok(())
}

/// What an agent was started with: its own words, each with a line of its own.
fn argv(launch: &Launch) -> Vec<String> {
    launch.output().lines().filter_map(|line| line.strip_prefix("agent: ")).map(str::to_owned).collect()
}

/// The arguments of the settings, and the prompt.
fn as_written(scene: &Scene) -> Result<Vec<String>, String> {
    let Action::Provider(_, prompt) = &scene.plan.action else { return Err("no agent runs the step".to_owned()) };
    let args = scene.plan.step_keys.get(ARGS).and_then(Value::as_array);
    let args = args.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    Ok(args.chain(["-p".to_owned(), prompt.clone()]).collect())
}

/// An argv taken apart.
struct Parts {
    /// The own sandbox is off, and nothing else says anything of it.
    off: bool,
    /// The settings that the agent heeds.
    settings: Value,
    others: Vec<String>,
}

fn values(scene: &Scene, launch: &Launch) -> Result<Parts, String> {
    split(scene, &argv(launch))
}

fn split(scene: &Scene, argv: &[String]) -> Result<Parts, String> {
    let Action::Provider(provider, _) = &scene.plan.action else { return Err("no agent runs the step".to_owned()) };
    let option = if provider == "cursor" { "--sandbox" } else { "--settings" };
    let (mut values, mut others) = (Vec::new(), Vec::new());
    let mut ahead = argv.iter();
    while let Some(word) = ahead.next() {
        match word.strip_prefix(option) {
            Some("") => values.extend(ahead.next().cloned()),
            Some(rest) if rest.starts_with('=') => values.push(rest[1..].to_owned()),
            _ => others.push(word.clone()),
        }
    }
    let settings: Value = values.last().and_then(|last| serde_json::from_str(last).ok()).unwrap_or_default();
    let off = match values.as_slice() {
        [value] if provider == "cursor" => value == "disabled",
        [_] => settings["sandbox"]["enabled"] == json!(false),
        _ => false,
    };
    Ok(Parts { off, settings, others })
}

fn holds(scene: &Scene, launch: &Launch, wanted: &str) -> Result<bool, String> {
    let wanted: Value = serde_json::from_str(wanted).map_err(|e| format!("{wanted}: {e}"))?;
    Ok(is_part(&wanted, &values(scene, launch)?.settings))
}

fn is_part(part: &Value, whole: &Value) -> bool {
    match part {
        Value::Object(part) => part.iter().all(|(key, value)| whole.get(key).is_some_and(|own| is_part(value, own))),
        other => other == whole,
    }
}

fn told(launch: &Launch) -> String {
    format!("exit {:?}, the agent's argv: {:?}", launch.exit, argv(launch))
}

fn control(scene: &mut Scene, shown: bool, launch: &Launch) {
    let unfinished = launch.unfinished();
    let seen = format!("planted: {} {}", told(launch), unfinished.as_deref().unwrap_or_default());
    scene.control(ControlKind::Planted, shown && unfinished.is_none(), seen);
}
