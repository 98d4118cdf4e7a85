//! What kind of step executes a command: an agent, a built-in step, or a program of the user's own. The command lies in
//! the repository, as `tools/act`, so that each kind executes the same.

use std::path::Path;

use cucumber::{given, then};

use super::secrets::{secret, told};
use super::{StepResult, marks};
use crate::lab::{HOME, home};
use crate::plan::{Action, Plan};
use crate::scene::{Refusal, Scene};
use crate::verdict::ControlKind;

/// `custom command`, `built-in step test`, `agent NAME`; the command is shell text.
#[given(regex = r#"(?s)^an? (custom command|built-in step|agent) ?([\w-]*) that does "(.*)"$"#)]
fn executed_by(scene: &mut Scene, kind: String, name: String, command: String) -> StepResult {
    let text = scene.expand_text(&command)?.replace("~/", &format!("{}/", HOME));
    commit(scene, "tools/act", &text)?;
    scene.plan.action = match kind.as_str() {
        "agent" => Action::Provider(name, "sh tools/act".to_owned()),
        "built-in step" => {
            commit(scene, "Makefile", "test:\n\t@sh tools/act\n")?;
            Action::Uses(name)
        }
        _ => Action::Run(scene.shell("sh tools/act")?),
    };
    Ok(())
}

/// What the built-in step goes by is a Makefile.
#[given(regex = r"^the built-in step test leaves a mark, but its file is (not there|a link that leads out|a folder)$")]
fn without_file(scene: &mut Scene, what: String) -> StepResult {
    let outside = Path::new(HOME).join("factories").join(format!("makefile-of-{}", scene.nonce));
    let file = home::repository_of(&scene.nonce, "demo").join("Makefile");
    let spoil = || match what.as_str() {
        "a folder" => home::commit(&scene.nonce, "demo", "Makefile/test", ""),
        "not there" => Ok(()),
        _ => {
            home::provide_repositories(&scene.nonce)?;
            std::fs::write(&outside, makefile(scene))?;
            std::os::unix::fs::symlink(&outside, &file)?;
            home::commit(&scene.nonce, "demo", "other", "")
        }
    };
    spoil().map_err(|e| format!("{}: {e}", file.display()))?;
    scene.plan.action = Action::Uses("test".to_owned());
    scene.refusal = Refusal::Marked;
    Ok(())
}

#[then("planted, with the file as it should be the mark is found")]
async fn planted_file(scene: &mut Scene) -> StepResult {
    let file = home::repository_of(&scene.nonce, "demo").join("Makefile");
    // A link, a folder, or nothing.
    let _ = std::fs::remove_file(&file).or_else(|_| std::fs::remove_dir_all(&file));
    commit(scene, "Makefile", &makefile(scene))?;
    marks::planted(scene, |_| {}).await
}

fn makefile(scene: &Scene) -> String {
    format!("test:\n\t@tools/probe {}; :\n", marks::words(scene))
}

#[given(regex = r#"^it is the built-in step "(\w+)"$"#)]
fn built_in(scene: &mut Scene, name: String) {
    scene.plan.action = Action::Uses(name);
}

#[then("planted, as a command of its own it leaves the mark")]
async fn planted_command(scene: &mut Scene) -> StepResult {
    let command = scene.probe(&marks::words(scene))?;
    marks::planted(scene, |plan| plan.action = Action::Run(command)).await
}

#[then("planted, with mode off the same step reaches an origin")]
async fn planted_off_reaches(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(off).await?;
    let reached = launch.report.lines.iter().any(|line| line.ok);
    scene.control(ControlKind::Planted, reached, format!("with mode off: {}", told(&launch)));
    Ok(())
}

fn commit(scene: &Scene, file: &str, text: &str) -> StepResult {
    home::commit(&scene.nonce, "demo", file, text).map_err(|e| format!("{file}: {e}"))
}

#[then("planted, with mode off the same step gets the secret")]
async fn planted_off(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(off).await?;
    let found = secret(&launch);
    let shown = found.is_some() && launch.unfinished().is_none();
    scene.control(ControlKind::Planted, shown, format!("with mode off: {}", found.unwrap_or_else(|| told(&launch))));
    Ok(())
}

#[then(regex = r#"^planted, with mode off "(.+)" is there afterwards$"#)]
async fn planted_off_writes(scene: &mut Scene, path: String) -> StepResult {
    let path = scene.expand(&path)?;
    let launch = scene.changed(off).await?;
    let there = std::fs::symlink_metadata(&path).is_ok();
    scene.control(ControlKind::Planted, there, format!("with mode off: {path} is there: {there}; {}", told(&launch)));
    Ok(())
}

/// Whatever the settings say besides.
fn off(plan: &mut Plan) {
    plan.step_sandbox = Some("off".into());
}
