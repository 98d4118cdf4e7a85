//! What a factory says of itself when one of its commands is asked.

use cucumber::{then, when};
use regex::Regex;

use super::environment::detail;
use super::{StepResult, weakened};
use crate::launch::Launch;
use crate::plan::{Plan, STEP};
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

#[when(regex = r"^its (providers|doctor) (?:are|is) asked for$")]
async fn asked(scene: &mut Scene, name: String) -> StepResult {
    let plan = scene.plan.clone();
    scene.said = Some(scene.says(&name, &plan).await?);
    Ok(())
}

#[then(regex = r#"^it says of the capability "(\w+)" that it is "(\w+)"$"#)]
fn capability(scene: &mut Scene, name: String, state: String) -> StepResult {
    let (said, seen) = state_of(scene.said.as_ref().ok_or("nothing was asked")?, &name)?;
    scene.found(said.as_deref() == Some(&state), seen);
    Ok(())
}

#[then(regex = r#"^planted, with network (\w+) it says of the capability "(\w+)" that it is "(\w+)"$"#)]
async fn planted_capability(scene: &mut Scene, network: String, name: String, state: String) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.block().insert("network".into(), network.into());
    let (said, seen) = state_of(&scene.says("providers", &plan).await?, &name)?;
    scene.control(ControlKind::Planted, said.as_deref() == Some(&state), format!("planted: {seen}"));
    Ok(())
}

/// The word that stands behind each mention of a capability, if it is the same everywhere.
fn state_of(said: &Launch, name: &str) -> Result<(Option<String>, String), String> {
    let output = said.output();
    let pattern = Regex::new(&format!(r"\b{name}\W+((?:not_)?supported)\b")).map_err(|e| e.to_string())?;
    let mut words: Vec<&str> = pattern.captures_iter(&output).filter_map(|c| c.get(1)).map(|m| m.as_str()).collect();
    words.dedup();
    let one = (words.len() == 1).then(|| words[0].to_owned());
    Ok((one, format!("exit {:?}: {}", said.exit, line(output.as_bytes(), 400))))
}

#[then(regex = r#"^the doctor says that "(P\d)" holds$"#)]
fn probe_holds(scene: &mut Scene, id: String) -> StepResult {
    let (ok, seen) = probe(scene.said.as_ref().ok_or("nothing was asked")?, &id);
    scene.found(ok == Some(true), seen);
    Ok(())
}

#[then(regex = r#"^planted, with the host "(.+)" alone allowed the doctor says that "(P\d)" does not hold$"#)]
async fn planted_alone(scene: &mut Scene, host: String, id: String) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.egress().insert("allow".into(), serde_json::json!([host]));
    does_not_hold(scene, &plan, &id, ControlKind::Planted).await
}

/// Which host that is, the doctor says: a factory may ask for any.
#[then(regex = r#"^planted, with the host that (P\d) asks for allowed the doctor says that "P\d" does not hold$"#)]
async fn planted_allowed(scene: &mut Scene, id: String) -> StepResult {
    let (_, seen) = probe(scene.said.as_ref().ok_or("nothing was asked")?, &id);
    let name = Regex::new(r"\b[a-z][a-z0-9-]*(?:\.[a-z][a-z0-9-]*)+\b").map_err(|e| e.to_string())?;
    let Some(host) = name.find(&seen) else {
        scene.control(ControlKind::Planted, false, format!("planted: no host is named: {seen}"));
        return Ok(());
    };
    let mut plan = scene.plan.clone();
    plan.allow(host.as_str());
    does_not_hold(scene, &plan, &id, ControlKind::Planted).await
}

#[then(regex = r#"^weakened, without "([^"]+)", the doctor says that "(P\d)" does not hold$"#)]
async fn weakened_probe(scene: &mut Scene, guard: String, id: String) -> StepResult {
    let fault = weakened::fault(scene, "without", &guard)?;
    let plan = Plan { fault: Some(fault), ..scene.plan.clone() };
    does_not_hold(scene, &plan, &id, ControlKind::Weakened).await
}

async fn does_not_hold(scene: &mut Scene, plan: &Plan, id: &str, kind: ControlKind) -> StepResult {
    let (ok, seen) = probe(&scene.says("doctor", plan).await?, id);
    scene.control(kind, ok == Some(false), format!("with another factory: {seen}"));
    Ok(())
}

/// What a line that begins with the probe's id says: `ok`, or anything else; none where there is no such line, or where the
/// doctor says that it has not tried.
fn probe(said: &Launch, id: &str) -> (Option<bool>, String) {
    let output = said.output();
    let row = output.lines().find(|line| line.split_whitespace().next() == Some(id));
    let word = row.and_then(|row| row.split_whitespace().nth(1)).map(|word| word.trim_end_matches(':'));
    let ok = word.filter(|word| *word != "not").map(|word| word == "ok");
    (ok, format!("exit {:?}: {}", said.exit, row.unwrap_or("no such line")))
}

#[then(regex = r#"^the doctor says "(.+)" in the line of the step$"#)]
fn line_of_step(scene: &mut Scene, word: String) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was asked")?;
    let (held, seen) = (says_of_step(said, &word), told(said));
    scene.found(held, seen);
    scene.words = word;
    Ok(())
}

#[then(regex = r#"^planted, with mode (\w+) it says "(.+)" there instead$"#)]
async fn planted_mode(scene: &mut Scene, mode: String, word: String) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.block().insert("mode".into(), mode.into());
    let said = scene.says("doctor", &plan).await?;
    let shown = says_of_step(&said, &word) && !says_of_step(&said, &scene.words);
    scene.control(ControlKind::Planted, shown, format!("planted: {}", told(&said)));
    Ok(())
}

#[then(regex = r#"^the doctor says "(.+)" in one line with "(.+)"$"#)]
fn line_with(scene: &mut Scene, one: String, other: String) -> StepResult {
    let one = scene.expand_text(&one)?;
    let said = scene.said.as_ref().ok_or("nothing was asked")?;
    let (held, seen) = (has_both(said, &one, &other), told(said));
    scene.found(held, seen);
    scene.words = one;
    Ok(())
}

#[then(regex = r#"^planted, "(.+)", which heeds them, it does not list with "(.+)"$"#)]
fn planted_unlisted(scene: &mut Scene, one: String, other: String) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was asked")?;
    let shown = said.output().contains(&other) && !has_both(said, &one, &other);
    let seen = told(said);
    scene.control(ControlKind::Planted, shown, format!("planted: {seen}"));
    Ok(())
}

#[then("planted, without that entry it is not said")]
async fn planted_without(scene: &mut Scene) -> StepResult {
    let (mut plan, entry) = (scene.plan.clone(), scene.words.clone());
    if !plan.forget_host(&entry) {
        return Err(format!("{entry} is on no list"));
    }
    unsaid(scene, &plan).await
}

#[then("planted, with mode required alone the doctor does not say it")]
async fn planted_required(scene: &mut Scene) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.sandbox = Some(serde_json::json!({"mode": "required"}));
    plan.step_keys.clear();
    unsaid(scene, &plan).await
}

#[then("planted, with provider_hosts false it is not said")]
async fn planted_no_provider(scene: &mut Scene) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.egress().insert("provider_hosts".into(), false.into());
    unsaid(scene, &plan).await
}

/// The step's own line shows that the doctor came to say what it has to say.
pub(super) async fn unsaid(scene: &mut Scene, plan: &Plan) -> StepResult {
    let said = scene.says("doctor", plan).await?;
    let shown = says_of_step(&said, "required") && !said.output().contains(&scene.words);
    scene.control(ControlKind::Planted, shown, format!("planted: {}", told(&said)));
    Ok(())
}

#[then(regex = r#"^the doctor says in one line with "(.+)" what the step has as "(\w+)"$"#)]
fn line_with_variable(scene: &mut Scene, one: String, name: String) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was asked")?;
    let value = variable(scene.last()?, &name);
    let held = value.as_ref().is_some_and(|value| has_both(said, &one, value));
    let seen = format!("{name}={value:?}; {}", told(said));
    scene.found(held, seen);
    scene.words = name;
    Ok(())
}

#[then(regex = r"^planted, with network (\w+) the step has nothing there that the doctor says$")]
async fn planted_network(scene: &mut Scene, network: String) -> StepResult {
    let launch = scene.changed(|plan| drop(plan.block().insert("network".into(), network.into()))).await?;
    let said = scene.said.as_ref().ok_or("nothing was asked")?;
    let value = variable(&launch, &scene.words);
    let shown = launch.unfinished().is_none() && !value.as_ref().is_some_and(|value| said.output().contains(value));
    scene.control(ControlKind::Planted, shown, format!("planted: {}={value:?}", scene.words));
    Ok(())
}

/// A variable that the probe has reported.
fn variable(launch: &Launch, name: &str) -> Option<String> {
    let vars = detail(launch, "env", "vars");
    vars.get(name).and_then(serde_json::Value::as_str).filter(|value| !value.is_empty()).map(str::to_owned)
}

/// The line that begins with the step's name.
/// Whether the step's own line gives this mode: the first of the two words, because behind it may stand why, in the
/// settings' words.
fn says_of_step(said: &Launch, word: &str) -> bool {
    let output = said.output();
    let own = output.lines().find_map(|line| line.trim_start().strip_prefix(STEP)?.strip_prefix(':'));
    let mode = |own: &str| own.split(|c: char| !c.is_alphanumeric()).find(|other| MODES.contains(other)) == Some(word);
    own.is_some_and(mode)
}

/// The modes, as settings have them.
const MODES: [&str; 2] = ["off", "required"];

fn has_both(said: &Launch, one: &str, other: &str) -> bool {
    said.output().lines().any(|line| line.contains(one) && line.contains(other))
}

fn told(said: &Launch) -> String {
    format!("exit {:?}: {}", said.exit, line(said.output().as_bytes(), 800))
}
