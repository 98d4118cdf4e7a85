//! Given and Then: setup commands of a step, and the files outside that tell where something ran: a sandboxed step can neither
//! read what stands in them nor write them.

use std::fs;
use std::path::PathBuf;

use cucumber::{given, then};
use serde_json::{Value, json};

use super::StepResult;
use super::secrets::token;
use crate::lab::HOME;
use crate::launch::SHELL;
use crate::living;
use crate::plan::{Action, Plan};
use crate::scene::{Refusal, Scene};
use crate::text::line;
use crate::verdict::ControlKind;

/// The key of the settings.
const SETUP: &str = "setup";

#[given(regex = r#"^the step has the setup command "(.*)"$"#)]
fn command(scene: &mut Scene, words: String) -> StepResult {
    let text = scene.expand_text(&words)?.replace("~/", &format!("{HOME}/"));
    add(scene, &[SHELL, "-c", &text]);
    Ok(())
}

#[given(regex = r#"^the step has the setup program "(.*)"$"#)]
fn program(scene: &mut Scene, words: String) -> StepResult {
    let words = scene.expand_text(&words)?;
    add(scene, &words.split(' ').collect::<Vec<_>>());
    Ok(())
}

fn add(scene: &mut Scene, argv: &[&str]) {
    if let Value::Array(all) = scene.plan.step_keys.entry(SETUP).or_insert_with(|| json!([])) {
        all.push(json!(argv));
    }
}

#[then(regex = r#"^on the host, a secret stands in "(.+)"$"#)]
fn stands(scene: &mut Scene, path: String) -> StepResult {
    let (found, seen) = secret_in(&scene.expand(&path)?.into());
    scene.found(found, seen);
    scene.searched = Some(path);
    Ok(())
}

/// The same words in the same place, but inside: what they did was possible outside alone.
#[then("planted, as the step's own command the last of them leaves none there")]
async fn as_own_command(scene: &mut Scene) -> StepResult {
    let last = scene.plan.step_keys.get(SETUP).and_then(|all| all.as_array()?.last().cloned());
    let argv: Vec<String> =
        last.and_then(|argv| serde_json::from_value(argv).ok()).ok_or("there is no setup command")?;
    runs_inside(scene, argv).await
}

/// Has the step itself run something that has left a secret in a file outside.
pub(super) async fn runs_inside(scene: &mut Scene, argv: Vec<String>) -> StepResult {
    let path = place(scene)?;
    let _ = fs::remove_file(&path); // what was not there has been judged already
    let launch = scene
        .changed(|plan| {
            plan.step_keys.remove(SETUP);
            plan.action = Action::Run(argv);
        })
        .await?;
    let (found, seen) = secret_in(&path);
    let codes = &Scene::context()?.manifest.observe.refused_codes;
    let ran = launch.exit.is_some_and(|code| !codes.contains(&code));
    scene.control(ControlKind::Planted, ran && !found, format!("planted: exit {:?}; {seen}", launch.exit));
    Ok(())
}

#[then("planted, without the setup commands it is not there")]
async fn without(scene: &mut Scene) -> StepResult {
    let kept = scene.kept.clone().ok_or("no place was judged")?;
    let _ = fs::remove_file(&kept.path); // an attempt that is refused may have left none
    let launch = scene.changed(no_setup).await?;
    let (held, seen) = kept.state.judge(&kept.path);
    let shown = !held && launch.unfinished().is_none();
    scene.control(ControlKind::Planted, shown, format!("planted: {seen}; {}", launch.report.summary()));
    Ok(())
}

#[then("planted, without the setup commands the probe finds nothing there")]
async fn without_finds_nothing(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(no_setup).await?;
    let lines = &launch.report.lines;
    let shown = !lines.is_empty() && lines.iter().all(|line| !line.ok);
    scene.control(ControlKind::Planted, shown, format!("planted: {}", launch.report.summary()));
    Ok(())
}

#[then("planted, without the setup commands the mark is found")]
async fn without_mark(scene: &mut Scene) -> StepResult {
    super::marks::planted(scene, no_setup).await
}

fn no_setup(plan: &mut Plan) {
    plan.step_keys.remove(SETUP);
}

#[then(regex = r#"^the step (?:is given|reads) "(.*)"$"#)]
fn is_given(scene: &mut Scene, words: String) -> StepResult {
    let words = scene.expand_text(&words)?.replace("~/", &format!("{HOME}/"));
    let Ok(launch) = scene.last() else { return Ok(()) }; // it was not asked
    let found = launch.output().contains(&words);
    let seen = format!("exit {:?}: {}", launch.exit, line(launch.output().as_bytes(), 300));
    scene.found(found, seen);
    Ok(())
}

/// What is said and made is judged, not what a probe reports.
#[given("the step runs no probe")]
fn no_probe(scene: &mut Scene) {
    scene.refusal = Refusal::Marked;
}

fn place(scene: &Scene) -> Result<PathBuf, String> {
    let path = scene.searched.as_ref().ok_or("no secret was looked for in a file")?;
    scene.expand(path).map(PathBuf::from)
}

fn secret_in(path: &PathBuf) -> (bool, String) {
    match fs::read(path) {
        Err(e) => (false, format!("{}: {e}", path.display())),
        Ok(bytes) => {
            let found = token(&String::from_utf8_lossy(&bytes));
            let seen = found.clone().unwrap_or_else(|| format!("no secret: {}", line(&bytes, 200)));
            (found.is_some(), format!("{}: {seen}", path.display()))
        }
    }
}

#[then(regex = r#"^no process with "(.+)" in its argv is alive$"#)]
fn none_alive(scene: &mut Scene, mark: String) -> StepResult {
    let alive = living::marked(&scene.expand_text(&mark)?);
    living::end(&alive);
    scene.found_certain(alive.is_empty(), format!("{} are alive: {}", alive.len(), living::told(&alive)));
    Ok(())
}
