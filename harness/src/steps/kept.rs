//! Secrets that a command keeps for a step: who has them, what is refused. None is in the settings.

use cucumber::{given, then, when};
use serde_json::{Value, json};

use super::environment::detail;
use super::{StepResult, marks};
use crate::lab::home;
use crate::launch::Launch;
use crate::plan::{Action, OTHER, Plan, STEP};
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

/// How each begins: a search for the secrets of the home must not find one.
pub(super) const BEGINS: &str = "lab-login-";

#[given(regex = r#"^(?:a|another) secret is kept for the step's variable "(\w+)"$"#)]
pub(super) async fn kept(scene: &mut Scene, variable: String) -> StepResult {
    let value = home::random(BEGINS).map_err(|e| e.to_string())?;
    scene.keep_key(&name(&variable), &value).await
}

/// As `config` knows the variable.
pub(super) fn name(variable: &str) -> String {
    format!("steps.{STEP}.env.{variable}")
}

#[when(regex = r#"^the step beside it runs the probe "(.+)"$"#)]
async fn beside(scene: &mut Scene, words: String) -> StepResult {
    let command = scene.probe(&words)?;
    let [_, beside] = scene.two(command.clone(), command);
    scene.plan = beside;
    scene.run().await
}

#[when(regex = r#"^the same step of another factory runs the probe "(.+)"$"#)]
async fn elsewhere(scene: &mut Scene, words: String) -> StepResult {
    scene.plan.action = Action::Run(scene.probe(&words)?);
    scene.plan.folder = Some("other".to_owned());
    scene.run().await
}

#[then(regex = r#"^the variable "(\w+)" has the( other)? secret$"#)]
fn has(scene: &mut Scene, variable: String, other: String) -> StepResult {
    let secret = scene.keys.get(usize::from(!other.is_empty())).ok_or("no secret was kept")?;
    let vars = detail(scene.last()?, "env", "vars");
    let value = vars.get(&variable).and_then(Value::as_str);
    let seen = format!("{variable} = {value:?}, exit {:?}: {}", scene.last()?.exit, said(scene.last()?));
    scene.found(value == Some(secret), seen);
    Ok(())
}

/// In a factory for which nobody kept any.
#[then("planted, where none is kept it has not")]
async fn planted_none(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(|plan| plan.folder = Some("other".to_owned())).await?;
    let vars = detail(&launch, "env", "vars");
    let shown = vars.as_object().is_some_and(serde_json::Map::is_empty) && launch.unfinished().is_none();
    scene.control(ControlKind::Planted, shown, format!("planted: {vars}"));
    Ok(())
}

#[then("the secret does not arrive")]
fn does_not_arrive(scene: &mut Scene) -> StepResult {
    let launch = scene.last()?;
    let found = scene.keys.iter().any(|key| launch.output().contains(key));
    scene.found_certain(!found, format!("the secret was printed: {found}; {}", launch.report.summary()));
    Ok(())
}

#[then("planted, as a variable of the settings it does")]
async fn planted_variable(scene: &mut Scene) -> StepResult {
    let key = scene.keys.first().cloned().ok_or("no secret was kept")?;
    let command = scene.probe("env PLANTED")?;
    let change = |plan: &mut Plan| match plan.others.get_mut(OTHER) {
        Some(other) => (other["env"], other["run"]) = (json!({"PLANTED": key}), json!(command)),
        None => {
            plan.env.insert("PLANTED".to_owned(), json!(key));
            plan.action = Action::Run(command);
        }
    };
    let launch = scene.changed(change).await?;
    let shown = launch.output().contains(&key);
    scene.control(ControlKind::Planted, shown, format!("planted: exit {:?}: {}", launch.exit, said(&launch)));
    Ok(())
}

#[when(regex = r#"^a secret is to be kept as "(.+)"$"#)]
async fn to_be_kept(scene: &mut Scene, key: String) -> StepResult {
    let value = home::random(BEGINS).map_err(|e| e.to_string())?;
    scene.keys.push(value.clone());
    scene.said = Some(keep_as(scene, &key, &value).await?);
    Ok(())
}

#[then(regex = r#"^it is refused with the word "(.+)"$"#)]
fn refused_with(scene: &mut Scene, word: String) -> StepResult {
    let launch = scene.said.as_ref().ok_or("nothing was asked")?;
    let held = launch.exit.is_some_and(|exit| exit != 0) && launch.output().contains(&word);
    let seen = format!("exit {:?}: {}", launch.exit, said(launch));
    scene.found(held, seen);
    Ok(())
}

#[then(regex = r#"^planted, as "(.+)" it is taken$"#)]
async fn planted_taken(scene: &mut Scene, key: String) -> StepResult {
    let value = scene.keys.first().cloned().ok_or("there is no secret")?;
    let launch = keep_as(scene, &key, &value).await?;
    scene.control(ControlKind::Planted, launch.exit == Some(0), format!("exit {:?}: {}", launch.exit, said(&launch)));
    Ok(())
}

#[then("planted, without that variable in the settings the mark is found")]
async fn planted_without(scene: &mut Scene) -> StepResult {
    marks::planted(scene, |plan| plan.env.clear()).await
}

async fn keep_as(scene: &mut Scene, key: &str, value: &str) -> Result<Launch, String> {
    let plan = Plan { secret: key.to_owned(), stdin: value.as_bytes().to_vec(), ..scene.plan.clone() };
    scene.says("secret", &plan).await
}

fn said(launch: &Launch) -> String {
    line(&launch.stderr, 300)
}
