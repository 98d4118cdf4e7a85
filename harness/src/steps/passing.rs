//! Given, When and Then: what passes between a step and its caller: arguments, input, output, errors, exit code.

use std::time::Duration;

use cucumber::{given, then, when};

use super::StepResult;
use crate::ending::{self, Ending};
use crate::launch::{Launch, SHELL};
use crate::living;
use crate::observe;
use crate::plan::Action;
use crate::scene::{Deaths, Refusal, Scene};
use crate::verdict::ControlKind;

/// How long a process may outlive its attempt.
const DYING: Duration = Duration::from_secs(2);

#[given(regex = r#"^its input is "(.*)"$"#)]
fn input(scene: &mut Scene, words: String) -> StepResult {
    scene.plan.stdin = ending::bytes(&words)?;
    Ok(())
}

#[given("its caller has closed the input")]
fn no_input(scene: &mut Scene) {
    scene.plan.caller.no_input = true;
}

#[given("its caller takes output and errors by one pipe")]
fn merged(scene: &mut Scene) {
    scene.plan.caller.merged = true;
}

#[given("its caller ignores and blocks signals")]
fn deaf(scene: &mut Scene) {
    scene.plan.caller.deaf = true;
    scene.plan.caller.patience = Some(Duration::from_secs(10)); // one that waits for SIGCHLD waits for ever
}

/// As it is: the step tells by what it prints that it ran.
#[when(regex = r#"(?s)^the step is the script "(.*)"$"#)]
async fn script(scene: &mut Scene, text: String) -> StepResult {
    let text = scene.expand_text(&text)?;
    run(scene, [SHELL, "-c", &text].map(str::to_owned).to_vec()).await
}

#[when(regex = r#"(?s)^with the argument "(.*)", the step is the script "(.*)"$"#)]
async fn script_with(scene: &mut Scene, argument: String, text: String) -> StepResult {
    let argument = String::from_utf8(ending::bytes(&argument)?).map_err(|e| e.to_string())?;
    run(scene, [SHELL, "-c", &text, "script", &argument].map(str::to_owned).to_vec()).await
}

/// `$0` is the mark of this scenario's processes.
#[when(regex = r#"(?s)^for no longer than (\d+) s, the step is the script "(.*)"$"#)]
async fn marked_script(scene: &mut Scene, seconds: u64, text: String) -> StepResult {
    scene.plan.caller.patience = Some(Duration::from_secs(seconds));
    let (text, mark) = (scene.expand_text(&text)?, scene.mark());
    run(scene, [SHELL, "-c", &text, &mark].map(str::to_owned).to_vec()).await?;
    if !scene.launches.is_empty() {
        let left = living::gone(|| living::marked(&mark), DYING).await;
        living::end(&left);
        scene.deaths = Some(Deaths { left, ..Deaths::default() });
    }
    Ok(())
}

#[when(regex = r#"^the step is the command "(.*)"$"#)]
async fn command(scene: &mut Scene, words: String) -> StepResult {
    let argv = words.split(' ').map(|word| scene.expand(word)).collect::<Result<_, _>>()?;
    run(scene, argv).await
}

async fn run(scene: &mut Scene, argv: Vec<String>) -> StepResult {
    scene.refusal = Refusal::Marked;
    scene.plan.action = Action::Run(argv);
    scene.endings.clear();
    scene.run().await
}

#[then(regex = r"^it ends with the code (\d+)$")]
fn ends_with(scene: &mut Scene, code: i32) -> StepResult {
    must(scene, Ending::Code(code))
}

#[then(regex = r#"^it prints "(.*)" and nothing else$"#)]
fn prints(scene: &mut Scene, words: String) -> StepResult {
    let bytes = bytes(scene, &words)?;
    must(scene, Ending::Prints(bytes))
}

#[then(regex = r#"^it complains "(.*)" and nothing else$"#)]
fn complains(scene: &mut Scene, words: String) -> StepResult {
    let bytes = bytes(scene, &words)?;
    must(scene, Ending::Complains(bytes))
}

#[then("it prints its input and nothing else")]
fn prints_input(scene: &mut Scene) -> StepResult {
    let input = scene.plan.stdin.clone();
    must(scene, Ending::Prints(input))
}

fn bytes(scene: &Scene, words: &str) -> Result<Vec<u8>, String> {
    ending::bytes(&words.replace("{nonce}", &scene.nonce))
}

/// Judges the last launch; a control judges another one in the same way.
pub(super) fn must(scene: &mut Scene, ending: Ending) -> StepResult {
    let Ok(launch) = scene.last() else { return Ok(()) }; // it was not asked
    let (held, seen) = ending.judge(launch);
    scene.found(held, seen);
    scene.endings.push(ending);
    Ok(())
}

#[then("bare, the same command ends the same")]
async fn bare_same(scene: &mut Scene) -> StepResult {
    let bare = bare(scene).await?;
    let (same, seen) = all(scene, &bare);
    scene.control(ControlKind::Bare, same, format!("bare: {seen}"));
    Ok(())
}

#[then("bare, the same command leaves processes alive")]
async fn bare_leaves(scene: &mut Scene) -> StepResult {
    let bare = bare(scene).await?;
    let left = living::marked(&scene.mark());
    living::end(&left);
    let seen = format!("bare: exit {:?}, {} are left: {}", bare.exit, left.len(), living::told(&left));
    scene.control(ControlKind::Bare, !left.is_empty(), seen);
    Ok(())
}

#[then("bare, the same command ends otherwise")]
async fn bare_otherwise(scene: &mut Scene) -> StepResult {
    let bare = bare(scene).await?;
    let (same, seen) = all(scene, &bare);
    scene.control(ControlKind::Bare, !same && bare.exit.is_some(), format!("bare: {seen}"));
    Ok(())
}

#[then(regex = r#"^bare, what stands behind "(.*)" gets the secret$"#)]
async fn bare_behind(scene: &mut Scene, words: String) -> StepResult {
    let command = scene.command()?.into_iter().skip(words.split(' ').count()).collect::<Vec<_>>();
    let bare = Scene::launcher()?.bare(&command, &format!("{}-bare", scene.nonce)).await?;
    let found = super::secrets::secret(&bare);
    scene.control(ControlKind::Bare, found.is_some(), format!("bare: {found:?}"));
    Ok(())
}

#[then(regex = r#"^planted, with the input "(.*)" it prints that and "(.*)"$"#)]
async fn planted_input(scene: &mut Scene, words: String, more: String) -> StepResult {
    let input = ending::bytes(&words)?;
    let more = bytes(scene, &more)?;
    let launch = scene
        .changed(|plan| {
            plan.caller.no_input = false;
            plan.stdin.clone_from(&input);
        })
        .await?;
    let (shown, seen) = Ending::Prints([input, more].concat()).judge(&launch);
    scene.control(ControlKind::Planted, shown, format!("planted: {seen}"));
    Ok(())
}

#[then("it is told that nothing was executed")]
fn not_executed(scene: &mut Scene) -> StepResult {
    let Ok(launch) = scene.last() else { return Ok(()) };
    let told = told(launch)?;
    scene.found(matches!(told, Some(Some(_))), format!("the outcome tells {told:?}"));
    Ok(())
}

#[then("it is told that the step was executed")]
fn executed(scene: &mut Scene) -> StepResult {
    let Ok(launch) = scene.last() else { return Ok(()) };
    let told = told(launch)?;
    scene.found(matches!(told, Some(None)), format!("the outcome tells {told:?}"));
    Ok(())
}

#[then(regex = r#"^planted, of the script "(.*)" it is told that it was executed$"#)]
async fn planted_executed(scene: &mut Scene, text: String) -> StepResult {
    planted_told(scene, [SHELL, "-c", &text].map(str::to_owned).to_vec(), false).await
}

#[then(regex = r#"^planted, of the command "(.*)" it is told that nothing was executed$"#)]
async fn planted_not_executed(scene: &mut Scene, words: String) -> StepResult {
    planted_told(scene, words.split(' ').map(str::to_owned).collect(), true).await
}

/// What the outcome says of another command, which ends with the same code.
async fn planted_told(scene: &mut Scene, argv: Vec<String>, refused: bool) -> StepResult {
    let launch = scene.changed(|plan| plan.action = Action::Run(argv)).await?;
    let ((same, seen), told) = (all(scene, &launch), told(&launch)?);
    let shown = same && told.as_ref().is_some_and(|told| told.is_some() == refused);
    scene.control(ControlKind::Planted, shown, format!("planted: {seen}; the outcome tells {told:?}"));
    Ok(())
}

/// What the outcome says, where there is one: the reason of a refusal, or none.
fn told(launch: &Launch) -> Result<Option<Option<String>>, String> {
    let outcome = Scene::context()?.manifest.observe.outcome.as_ref().ok_or("the driver writes no outcome")?;
    if !observe::path(outcome, launch)?.exists() {
        return Ok(None);
    }
    observe::refusal(outcome, launch).map(Some)
}

async fn bare(scene: &Scene) -> Result<Launch, String> {
    scene.bare(&scene.command()?).await
}

/// Whether a launch ends as the last one had to.
fn all(scene: &Scene, launch: &Launch) -> (bool, String) {
    let judged: Vec<(bool, String)> = scene.endings.iter().map(|ending| ending.judge(launch)).collect();
    let seen: Vec<&str> = judged.iter().map(|(_, seen)| seen.as_str()).collect();
    (!judged.is_empty() && judged.iter().all(|(held, _)| *held), seen.join(", "))
}
