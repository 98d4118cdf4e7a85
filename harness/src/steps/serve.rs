//! When and Then: attempts on one serve, each with its own allowlist; what is left when somebody is killed.

use cucumber::{then, when};

use super::{StepResult, writes};
use crate::scene::{Killed, Scene};
use crate::waiting::MARKS;

const ORIGIN: &str = "kusaw-origin:";

#[when(
    regex = r#"^on one serve, a step that may reach "(.+)" and, beside it, one that may reach "(.+)" ask each for both$"#
)]
async fn beside(scene: &mut Scene, one: String, other: String) -> StepResult {
    scene.run_served([&one, &other], false).await
}

#[when(
    regex = r#"^a serve is killed while a step that may reach "(.+)" runs, and on a new one a step that may reach "(.+)" asks for both$"#
)]
async fn anew(scene: &mut Scene, one: String, other: String) -> StepResult {
    scene.run_served([&one, &other], true).await
}

#[when(
    regex = r#"^its (serve|launcher|serve and launcher) (?:is|are) killed by SIGKILL while a step runs that has asked for "(.+)", and another attempt has run$"#
)]
async fn killed(scene: &mut Scene, who: String, host: String) -> StepResult {
    let killed = match who.as_str() {
        "serve" => Killed::Serve,
        "launcher" => Killed::Launcher,
        _ => Killed::Both,
    };
    scene.kill_served(&host, killed).await
}

#[then(regex = r#"^the (first|last) attempt is answered by "(\w+)" alone$"#)]
fn answered_alone(scene: &mut Scene, which: String, name: String) -> StepResult {
    let launch = if which == "first" { scene.launches.first() } else { scene.launches.last() };
    let text = launch.ok_or("nothing was launched")?.output();
    let named = |part: &str| part.chars().take_while(|c| c.is_alphanumeric()).collect::<String>();
    let mut who: Vec<String> = text.split(ORIGIN).skip(1).map(named).collect();
    who.dedup();
    let strange = who.iter().any(|one| *one != name);
    scene.found_certain(!strange, format!("answered by {who:?}"));
    scene.found(!who.is_empty(), format!("answered by {who:?}"));
    Ok(())
}

#[then("the first attempt's step did not go on")]
fn not_on(scene: &mut Scene) -> StepResult {
    let launch = scene.launches.first().ok_or("nothing was launched")?;
    let worktree = writes::folder(launch, Some("demo"))?;
    let began = worktree.join(MARKS[0]).exists(); // one that was refused did not begin
    let went_on = launch.exit == Some(0) || !launch.report.lines.is_empty();
    let seen = format!("began: {began}, exit {:?}, {} reports", launch.exit, launch.report.lines.len());
    scene.found(began && !went_on, seen);
    Ok(())
}
