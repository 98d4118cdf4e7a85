//! Given: where the agents lie that a provider starts. Then: what the factory says of that.

use std::fs;
use std::path::Path;

use cucumber::{given, then};

use super::StepResult;
use crate::lab::home;
use crate::plan::Plan;
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

#[given(regex = r#"^the agents lie in "([^"]+)", beside notes of the user( and a package\.json)?$"#)]
fn agents_lie_in(scene: &mut Scene, folder: String, package: String) -> StepResult {
    let folder = scene.expand(&folder)?;
    let here = Path::new(&folder);
    let furnish = || {
        home::provide_repositories(&scene.nonce)?; // it may be one of them
        home::agents(here)?;
        home::canary(&here.join("notes.txt"))?;
        if package.is_empty() { Ok(()) } else { fs::write(here.join("package.json"), "{\"name\": \"project\"}\n") }
    };
    furnish().map_err(|e| format!("{folder}: {e}"))?;
    scene.plan.agents = Some(folder);
    Ok(())
}

#[given(regex = r#"^the agent's program is "([^"]+)"(?:, a script for "(.+)")?$"#)]
fn program_is(scene: &mut Scene, path: String, interpreter: String) -> StepResult {
    let path = scene.expand(&path)?;
    let script = if interpreter.is_empty() { String::new() } else { format!("#!/usr/bin/{interpreter}\n") };
    home::agent(Path::new(&path), &script).map_err(|e| format!("{path}: {e}"))
}

/// It takes a script of the shell, as that is what the lab's agents are.
#[given(regex = r#"^its interpreter is "(.+)"$"#)]
fn interpreter_is(scene: &mut Scene, path: String) -> StepResult {
    let path = scene.expand(&path)?;
    home::program(Path::new(&path), "#!/bin/sh\nexec /bin/sh \"$@\"\n").map_err(|e| format!("{path}: {e}"))
}

#[given(regex = r#"^its caller finds programs in the folder of "(.+)" first$"#)]
fn on_path(scene: &mut Scene, program: String) -> StepResult {
    let program = scene.expand(&program)?;
    let folder = Path::new(&program).parent().ok_or("a program without a folder")?;
    scene.plan.agents = Some(folder.display().to_string());
    Ok(())
}

#[then(regex = r#"^they say "(.+)"$"#)]
fn they_say(scene: &mut Scene, words: String) -> StepResult {
    let words = scene.expand(&words)?;
    let said = scene.said.as_ref().ok_or("nothing was asked")?.output();
    scene.found(said.contains(&words), line(said.as_bytes(), 400));
    scene.words = words;
    Ok(())
}

#[then("planted, with the usual agents they do not")]
async fn planted_usual(scene: &mut Scene) -> StepResult {
    let plan = Plan { agents: None, ..scene.plan.clone() };
    let argv = scene.said.as_ref().map(|said| said.argv.clone()).unwrap_or_default();
    let name = if argv.iter().any(|word| word == "doctor") { "doctor" } else { "providers" };
    let said = scene.says(name, &plan).await?.output();
    let shown = said.contains("/.local/bin/claude") && !said.contains(&scene.words);
    scene.control(ControlKind::Planted, shown, line(said.as_bytes(), 400));
    Ok(())
}
