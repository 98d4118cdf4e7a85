//! Given: another home. Then: what an agent has left in it, looked for on the host.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cucumber::{given, then, when};
use serde_json::{Value, json};

use super::{StepResult, allowed, marks, secrets};
use crate::furnished::Furnished;
use crate::launch::Launch;
use crate::plan::{Action, OTHER, Plan};
use crate::scene::Scene;
use crate::verdict::ControlKind;
use crate::waiting::WAITS;

#[given(regex = r#"^the user's home is "(.+)"$"#)]
fn home_is(scene: &mut Scene, path: String) -> StepResult {
    let home = scene.expand(&path)?;
    std::fs::create_dir_all(&home).map_err(|e| format!("{home}: {e}"))?;
    scene.plan.home = Some(home);
    Ok(())
}

#[given(regex = r#"^on the user's host, "(.+)" holds '(.*)'$"#)]
fn holds(scene: &mut Scene, path: String, text: String) -> StepResult {
    let file = Furnished::File(scene.expand(&path)?.into(), scene.expand_text(&text)?);
    allowed::furnish(scene, file)
}

#[when(regex = r#"^while an agent that has done "(.+)" waits and then does "(.+)", another does "(.+)"$"#)]
async fn two_agents(scene: &mut Scene, first: String, then: String, other: String) -> StepResult {
    let probe = "tools/probe argv end";
    let waits = format!("{first} && {WAITS}; {then} && {probe}");
    let mut step = json!({"provider": "claude-code", "prompt": format!("{other} && {probe}")});
    step["repos"] = json!(scene.plan.repos.iter().map(|(name, _)| name).collect::<Vec<_>>());
    scene.plan.others.insert(OTHER.to_owned(), step);
    scene.plan.action = Action::Provider("claude-code".to_owned(), waits);
    let plans = [scene.plan.clone(), Plan { asked: OTHER.to_owned(), ..scene.plan.clone() }];
    scene.run_plans_while(plans).await
}

#[then(regex = r#"^on the host, the keys of "(.+)" are exactly "(.*)"$"#)]
fn keys_are(scene: &mut Scene, path: String, keys: String) -> StepResult {
    let (held, seen) = has_keys(Path::new(&scene.expand(&path)?), &keys);
    scene.found(held, seen);
    (scene.words, scene.other_words) = (path, keys);
    Ok(())
}

#[then(regex = r#"^planted, after an agent that notes (nothing|something else) they are not$"#)]
async fn planted_keys(scene: &mut Scene, what: String) -> StepResult {
    let (path, keys) = (PathBuf::from(scene.expand(&scene.words.clone())?), scene.other_words.clone());
    allowed::restore(scene, &path)?;
    let notes = if what == "nothing" { "" } else { "remember something; " };
    let launch = scene.changed(|plan| plan.action = agent(&format!("{notes}tools/probe argv end"))).await?;
    let (held, seen) = has_keys(&path, &keys);
    control(scene, !held, &launch, &seen);
    Ok(())
}

/// Whether a file is one JSON object with these keys and no other.
fn has_keys(path: &Path, keys: &str) -> (bool, String) {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let there = serde_json::from_str::<Value>(&text).ok();
    let there: Option<BTreeSet<String>> =
        there.as_ref().and_then(Value::as_object).map(|object| object.keys().cloned().collect());
    let wanted = keys.split_whitespace().map(str::to_owned).collect();
    (there.as_ref() == Some(&wanted), format!("{}: {text}", path.display()))
}

#[then(regex = r#"^the folder "(.+)" holds nothing but "(.+)"$"#)]
fn holds_nothing_but(scene: &mut Scene, folder: String, names: String) -> StepResult {
    let folder = PathBuf::from(scene.expand(&folder)?);
    let (more, seen) = names_beside(scene, &folder, &names)?;
    scene.found_certain(!more, seen);
    scene.searched = Some(format!("{}\n{names}", folder.display()));
    Ok(())
}

#[then("planted, a name too many is noticed")]
fn planted_name(scene: &mut Scene) -> StepResult {
    let judged = scene.searched.clone().ok_or("no folder was judged")?;
    let (folder, names) = judged.split_once('\n').ok_or("no folder was judged")?;
    let folder = PathBuf::from(folder);
    let planted = folder.join("planted");
    std::fs::write(&planted, "").map_err(|e| format!("{}: {e}", planted.display()))?;
    let (more, seen) = names_beside(scene, &folder, names)?;
    scene.control(ControlKind::Planted, more, seen);
    Ok(())
}

/// Whether a folder has other names than these, but for what the factory makes once and keeps.
fn names_beside(scene: &Scene, folder: &Path, names: &str) -> Result<(bool, String), String> {
    let templates = scene.templates()?;
    let kept = &Scene::context()?.manifest.observe.kept;
    let kept = kept.iter().map(|kept| templates.render(kept).map(PathBuf::from)).collect::<Result<Vec<_>, _>>()?;
    let list = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let own: Vec<&str> = names.split_whitespace().collect();
    let mut more: Vec<String> = Vec::new();
    for entry in list.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !own.contains(&name.as_str()) && !kept.iter().any(|kept| kept.starts_with(entry.path())) {
            more.push(name);
        }
    }
    Ok((!more.is_empty(), format!("{}: beside {names}: {more:?}", folder.display())))
}

#[then("planted, for a step that runs a program of its own none does")]
async fn planted_own_program(scene: &mut Scene) -> StepResult {
    let launch = own_program(scene).await?;
    let found = secrets::secret(&launch);
    control(scene, found.is_none(), &launch, &format!("{found:?}"));
    Ok(())
}

#[then("planted, after a step that runs a program of its own it is not so")]
async fn planted_own_program_writes(scene: &mut Scene) -> StepResult {
    let kept = scene.kept.clone().ok_or("no place was judged")?;
    allowed::restore(scene, &kept.path)?;
    let launch = own_program(scene).await?;
    let (held, seen) = kept.state.judge(&kept.path);
    control(scene, !held, &launch, &seen);
    Ok(())
}

/// The same, done by a step without an agent.
async fn own_program(scene: &mut Scene) -> Result<Launch, String> {
    let Action::Provider(_, prompt) = scene.plan.action.clone() else {
        return Err("no agent runs the step".to_owned());
    };
    let words = prompt.strip_prefix("tools/probe ").ok_or("the prompt is no probe")?;
    let command = scene.probe(words)?;
    scene.changed(|plan| plan.action = Action::Run(command)).await
}

#[then("planted, without that link the mark is found")]
async fn planted_without_link(scene: &mut Scene) -> StepResult {
    for what in scene.furnished.clone() {
        if let Furnished::Link(path, _) = what {
            std::fs::remove_file(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    marks::planted(scene, |_| {}).await
}

fn agent(prompt: &str) -> Action {
    Action::Provider("claude-code".to_owned(), prompt.to_owned())
}

fn control(scene: &mut Scene, shown: bool, launch: &Launch, seen: &str) {
    let unfinished = launch.unfinished();
    let seen = format!("planted: {seen} {}", unfinished.as_deref().unwrap_or_default());
    scene.control(ControlKind::Planted, shown && unfinished.is_none(), seen);
}
