//! One secret from the moment it is kept to the end of the step that has it, searched for in all that others can see of it.

use std::path::Path;

use cucumber::{then, when};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{StepResult, kept};
use crate::lab::{self, home};
use crate::launch::Launch;
use crate::plan::{Action, Plan};
use crate::scene::Scene;
use crate::search::{self, Sightings, Watch};
use crate::text::line;
use crate::verdict::ControlKind;

/// The variable that it is.
const VARIABLE: &str = "CANARY";

/// The step says that it has it, and not what it is; long enough that a look falls into it.
const STEP: &str = "printf %s \"$CANARY\" | sha256sum; tools/probe sleep 100";

/// What a factory can be asked that is not an attempt, by the manifest's names; those that it has are.
const ASKED: [&str; 8] = ["validate", "check", "providers", "doctor", "secrets", "profile", "status", "outcomes"];

/// Folders in which a user's programs write.
const SHARED: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Canary {
    seen: Sightings,
    /// What was asked, and what was answered.
    said: Vec<(&'static str, Launch)>,
}

#[when("a secret is kept for the step, the step has it, and the factory is asked all it can be")]
async fn watched(scene: &mut Scene) -> StepResult {
    let value = home::random(kept::BEGINS).map_err(|e| e.to_string())?;
    scene.plan.action = Action::Run(scene.shell(STEP)?);
    let watch = Watch::begin(&value);
    scene.keep_key(&kept::name(VARIABLE), &value).await?;
    scene.run().await?;
    let mut said = Vec::new();
    for name in ASKED {
        if Scene::context()?.manifest.commands.named(name).is_some() {
            let plan = scene.plan.clone();
            said.push((name, scene.says(name, &plan).await?));
        }
    }
    scene.canary = Some(Canary { seen: watch.end()?, said });
    Ok(())
}

#[then("the step had it, by its digest")]
fn had(scene: &mut Scene) -> StepResult {
    let digest: String = Sha256::digest(value(scene)?).iter().map(|byte| format!("{byte:02x}")).collect();
    let launch = scene.last()?;
    let held = launch.output().contains(&digest);
    scene.found(held, format!("exit {:?}: {}", launch.exit, line(launch.output().as_bytes(), 300)));
    Ok(())
}

#[then("it was in no argv, and in no environment outside the step")]
fn in_no_process(scene: &mut Scene) -> StepResult {
    let program = Scene::context()?.manifest.program.clone().unwrap_or_default();
    let seen = canary(scene)?.seen.clone();
    scene.found_certain(seen.places.is_empty(), format!("seen in {:?}", seen.places));
    // Looks that never saw the factory's own program say nothing.
    let looked = seen.looked_at.iter().any(|name| name.ends_with(&program));
    scene.found(looked, format!("{program} was looked at: {looked}, of {} programs", seen.looked_at.len()));
    Ok(())
}

#[then("planted, as an argument and a variable of a process it is seen")]
async fn planted_process(scene: &mut Scene) -> StepResult {
    let value = value(scene)?.to_owned();
    let watch = Watch::begin(&value);
    let set = format!("PLANTED={value}");
    let command = ["/usr/bin/env", &set, "/bin/sh", "-c", "sleep 0.2; :", "sh", &value].map(str::to_owned);
    scene.bare(&command).await?;
    let seen = watch.end()?;
    let shown = ["argv", "environment"].iter().all(|what| seen.places.iter().any(|place| place.starts_with(what)));
    scene.control(ControlKind::Planted, shown, format!("planted: seen in {:?}", seen.places));
    Ok(())
}

#[then("nobody printed it")]
fn nobody_printed(scene: &mut Scene) -> StepResult {
    let (value, canary) = (value(scene)?, canary(scene)?);
    let printed = |launch: &&Launch| launch.output().contains(value);
    let all = scene.launches.iter().chain(canary.said.iter().map(|(_, launch)| launch));
    let printers: Vec<String> = all.filter(printed).map(|launch| launch.argv.join(" ")).collect();
    let asked: Vec<&str> = canary.said.iter().map(|(name, _)| *name).collect();
    // One that was ended or broken off has said nothing of what it would say.
    let whole = canary.said.iter().all(|(_, launch)| launch.exit.is_some() && !launch.output().is_empty());
    scene.found_certain(printers.is_empty(), format!("printed by {printers:?}; asked: {asked:?}"));
    scene.found(whole, format!("{asked:?} answered: {whole}"));
    Ok(())
}

#[then("planted, a step that prints it is seen to")]
async fn planted_printed(scene: &mut Scene) -> StepResult {
    let command = scene.shell("printf '%s\\n' \"$CANARY\"; tools/probe sleep 0")?;
    let launch = scene.changed(|plan| plan.action = Action::Run(command)).await?;
    let shown = launch.output().contains(value(scene)?);
    scene.control(ControlKind::Planted, shown, format!("planted: exit {:?}, printed: {shown}", launch.exit));
    Ok(())
}

#[then("no file of the user's holds it")]
fn in_no_file(scene: &mut Scene) -> StepResult {
    let (files, found) = searched(scene)?;
    scene.found_certain(found.is_empty(), format!("{files} files, in {found:?}"));
    scene.found(files > 100, format!("{files} files were searched"));
    Ok(())
}

/// Where people put it who know no better.
#[then("planted, in the settings it is found")]
async fn planted_settings(scene: &mut Scene) -> StepResult {
    let value = value(scene)?.to_owned();
    let change = |plan: &mut Plan| drop(plan.env.insert("PLANTED".to_owned(), json!(value)));
    scene.changed(change).await?;
    let (files, found) = searched(scene)?;
    scene.control(ControlKind::Planted, !found.is_empty(), format!("planted: {files} files, in {found:?}"));
    Ok(())
}

fn searched(scene: &Scene) -> Result<(usize, Vec<std::path::PathBuf>), String> {
    let roots = lab::OWN_FOLDERS.iter().chain(&SHARED).map(Path::new);
    Ok(search::files(roots, value(scene)?.as_bytes()))
}

fn value(scene: &Scene) -> Result<&str, String> {
    scene.keys.first().map(String::as_str).ok_or_else(|| "no secret was kept".to_owned())
}

fn canary(scene: &Scene) -> Result<&Canary, String> {
    scene.canary.as_ref().ok_or_else(|| "nothing was watched".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::commands::Commands;

    /// One that no manifest can have would be passed over without a word.
    #[test]
    fn what_is_asked_are_commands_of_manifests() {
        for name in ASKED {
            let commands: Commands = serde_json::from_value(json!({name: ["x"]})).unwrap();
            assert!(commands.named(name).is_some(), "{name}");
        }
    }
}
