//! Then: the argv and environment of a step, and whether a sandbox program was started.

use cucumber::{gherkin, given, then};
use serde_json::Value;

use super::StepResult;
use crate::lab::HOME;
use crate::launch::Launch;
use crate::launch::environment::{of_user, starts};
use crate::plan::{Action, Plan};
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[then("its argv is what the settings say")]
fn argv(scene: &mut Scene) -> StepResult {
    let wanted = scene.command()?;
    let seen = detail(scene.last()?, "argv", "argv");
    let held = seen.as_array().is_some_and(|argv| argv.iter().filter_map(Value::as_str).eq(wanted.iter()));
    scene.found(held, format!("argv {seen}"));
    Ok(())
}

#[then("the agent's argv has no sandbox switch")]
fn agent_argv(scene: &mut Scene) -> StepResult {
    let (held, seen) = no_switch(&scene.last()?.output());
    scene.found(held, seen);
    Ok(())
}

#[then("planted, a sandbox switch in the agent's argv is noticed")]
async fn planted_switch(scene: &mut Scene) -> StepResult {
    let agent = format!("{HOME}/.local/bin/claude");
    let argv = [agent.as_str(), "--sandbox", "disabled", "-p", "true"].map(str::to_owned);
    let bare = scene.bare(&argv).await?;
    let (held, seen) = no_switch(&bare.output());
    scene.control(ControlKind::Planted, !held && bare.exit == Some(0), seen);
    Ok(())
}

/// Whether the argv that an agent of the lab printed is there and says nothing of a sandbox.
fn no_switch(output: &str) -> (bool, String) {
    let argv: Vec<&str> = output.lines().filter_map(|l| l.strip_prefix("agent: ")).collect();
    let switch = argv.iter().any(|word| word.to_lowercase().contains("sandbox"));
    (!argv.is_empty() && !switch, format!("the agent's argv: {argv:?}"))
}

#[then("its environment is the caller's")]
fn callers_environment(scene: &mut Scene) -> StepResult {
    let (held, seen) = callers_own(scene.last()?)?;
    scene.found(held, seen);
    Ok(())
}

#[then("planted, a variable too many is noticed")]
async fn planted_more_variables(scene: &mut Scene) -> StepResult {
    let planted = |plan: &mut Plan| {
        plan.env.insert("PLANTED".into(), Value::String("x".to_owned()));
    };
    let launch = scene.changed(planted).await?;
    let (held, seen) = callers_own(&launch)?;
    scene.control(ControlKind::Planted, !held && launch.report.ended, seen);
    Ok(())
}

/// Whether a step saw the environment of the launch, no more and no less.
fn callers_own(launch: &Launch) -> Result<(bool, String), String> {
    let seen = detail(launch, "env", "vars");
    let manifest = &Scene::context()?.manifest;
    let mut wanted = of_user();
    for (name, template) in &manifest.env.set {
        wanted.push((name.clone(), launch.templates.render(template)?));
    }
    wanted.retain(|(name, _)| !manifest.env.unset.contains(name));
    let map = seen.as_object().cloned().unwrap_or_default();
    let same = |(name, value): &(String, String)| map.get(name).and_then(Value::as_str) == Some(value);
    // PWD and _ are set by shells on the way, in any implementation that has one.
    let shells = ["PWD", "OLDPWD", "_", "SHLVL"];
    let own = |name: &&String| !wanted.iter().any(|(n, _)| n == *name) && !shells.contains(&name.as_str());
    let more: Vec<&String> = map.keys().filter(own).collect();
    let lacking: Vec<&str> = wanted.iter().filter(|v| !same(v)).map(|(n, _)| n.as_str()).collect();
    Ok((more.is_empty() && lacking.is_empty(), format!("more: {more:?}, lacking or other: {lacking:?}")))
}

#[then(regex = r#"^no variable holds "(.+)"$"#)]
fn no_variable(scene: &mut Scene, text: String) -> StepResult {
    let seen = detail(scene.last()?, "env", "vars");
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

#[given(regex = r#"^the step has the variable "(\w+)" with "(.*)"$"#)]
fn has_variable(scene: &mut Scene, name: String, value: String) -> StepResult {
    let value = scene.expand_text(&value)?;
    scene.plan.env.insert(name, Value::String(value));
    Ok(())
}

#[then(regex = r#"^the variable "(\w+)" is "(.*)"$"#)]
fn variable_is(scene: &mut Scene, name: String, value: String) -> StepResult {
    let value = scene.expand_text(&value)?;
    let seen = detail(scene.last()?, "env", "vars");
    let held = seen.get(&name).and_then(Value::as_str) == Some(&value);
    scene.found(held, format!("{name}: {:?}", seen.get(&name)));
    Ok(())
}

#[then(regex = r#"^the variable "(\w+)" is not set$"#)]
fn variable_is_not_set(scene: &mut Scene, name: String) -> StepResult {
    let seen = detail(scene.last()?, "env", "vars");
    scene.found(seen.is_object() && seen.get(&name).is_none(), format!("{name}: {:?}", seen.get(&name)));
    Ok(())
}

#[then("it is not set")]
fn not_set(scene: &mut Scene) -> StepResult {
    let seen = detail(scene.last()?, "env", "vars");
    scene.found(seen.as_object().is_some_and(serde_json::Map::is_empty), format!("variables: {seen}"));
    Ok(())
}

#[then("bare, it is set")]
async fn bare_set(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let seen = detail(&bare, "env", "vars");
    let shown = seen.as_object().is_some_and(|vars| !vars.is_empty());
    scene.control(ControlKind::Bare, shown, format!("bare: {seen}"));
    Ok(())
}

#[then("it sees no variable but")]
fn none_but(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    let rows = &step.table.as_ref().ok_or("no variables are written there")?.rows;
    let names = rows.iter().flatten().flat_map(|row| row.split(',')).map(|name| name.trim().to_owned());
    scene.asked = names.collect();
    let others = others(scene.last()?, &scene.asked);
    let seen = format!("others: {others:?}");
    scene.found(others.is_some_and(|others| others.is_empty()), seen);
    Ok(())
}

#[then("bare, it sees others")]
async fn bare_others(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let others = others(&bare, &scene.asked);
    let seen = format!("bare: {others:?}");
    scene.control(ControlKind::Bare, others.is_some_and(|others| !others.is_empty()), seen);
    Ok(())
}

/// The variables that are not on a list, where `NAME*` stands for all that begin so; none if the probe did not tell.
fn others(launch: &Launch, list: &[String]) -> Option<Vec<String>> {
    let is_listed =
        |name: &str| list.iter().any(|one| one.strip_suffix('*').map_or(one == name, |begin| name.starts_with(begin)));
    let seen = detail(launch, "env", "vars");
    Some(seen.as_object()?.keys().filter(|name| !is_listed(name)).cloned().collect())
}

fn started(scene: &Scene) -> usize {
    std::fs::read_to_string(starts(&scene.nonce)).map_or(0, |text| text.lines().count())
}

/// A field of the first action of this name in a launch's report; null if there is none.
pub fn detail(launch: &Launch, action: &str, field: &str) -> Value {
    let line = launch.report.lines.iter().find(|l| l.action == action);
    line.and_then(|l| l.detail.get(field)).cloned().unwrap_or(Value::Null)
}
