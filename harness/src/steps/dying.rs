//! Given, When and Then: the launcher of an attempt dies, and every process of the attempt with it.

use std::time::Duration;

use cucumber::{given, then, when};
use nix::sys::signal::Signal;

use super::StepResult;
use crate::caller::Parent;
use crate::lab::home;
use crate::launch::SHELL;
use crate::living;
use crate::plan::Action;
use crate::scene::{Deaths, Looks, Mortal, Scene, Work};
use crate::tree::Tree;
use crate::verdict::ControlKind;

#[given("its launcher is the child of a shell that waits for it")]
fn below_shell(scene: &mut Scene) {
    scene.plan.caller.parent = Parent::Shell;
}

#[given("its launcher was started by a thread that ends while the step runs")]
fn by_ended_thread(scene: &mut Scene) {
    scene.plan.caller.parent = Parent::EndedThread;
}

#[when(
    regex = r"^its launcher gets (SIG\w+) while a step runs that (has children of every kind|ignores signals), which (?:have|has) (\d+) s to die$"
)]
async fn signalled(scene: &mut Scene, signal: String, work: String, seconds: u64) -> StepResult {
    let signal = signal.parse().map_err(|e| format!("{signal}: {e}"))?;
    let work = if work == "ignores signals" { Work::Deaf } else { Work::Family };
    scene.signal = Some((work, signal));
    scene.run_and_signal(work, signal, Duration::from_secs(seconds)).await
}

#[when(
    regex = r"^its launcher is killed by SIGKILL at random moments, until launch, step and end were each hit (\d+) times, and there are (\d+) s to die$"
)]
async fn at_random(scene: &mut Scene, hits: usize, seconds: u64) -> StepResult {
    let skip = vec![scene.factory(), home::repository_of(&scene.nonce, "demo").join(".git")];
    let worktree = scene.next_worktree()?;
    if !scene.can_be_asked()? {
        return Ok(());
    }
    scene.changed(|plan| plan.action = Action::Run(works())).await?; // what is made once and kept is there then
    let before = Tree::of_host(&skip);
    scene.looks = Some(Looks { after: before.clone(), before, during: None, inside: None, skip, worktree });
    scene.kill_at_random(Mortal::Leaves, hits, Duration::from_secs(seconds)).await
}

/// The command of an attempt that is left alone.
fn works() -> Vec<String> {
    [SHELL, "-c", "echo works"].map(str::to_owned).to_vec()
}

#[then("no process of the attempt is alive")]
fn none_alive(scene: &mut Scene) -> StepResult {
    let Some(deaths) = scene.deaths.clone() else { return Ok(()) }; // it was not asked
    let Deaths { before, left, moments } = deaths;
    let told = format!("{} are left{}{}", left.len(), if left.is_empty() { "" } else { ": " }, living::told(&left));
    let seen = match &moments {
        None => format!("of {before} processes at work {told}"),
        Some(moments) => format!("of {} attempts {told}", moments.attempts),
    };
    scene.found_certain(left.is_empty(), seen);
    if let (None, Some((work, _))) = (moments, scene.signal)
        && before < work.members()
    {
        let seen = format!("{before} of {} processes were at work before the launcher got a signal", work.members());
        scene.found_certain(false, seen);
    }
    Ok(())
}

#[then("another attempt works")]
async fn another_works(scene: &mut Scene) -> StepResult {
    if scene.deaths.is_none() {
        return Ok(());
    }
    let launch = scene.changed(|plan| plan.action = Action::Run(works())).await?;
    if let Some(looks) = &mut scene.looks {
        looks.after = Tree::of_host(&looks.skip);
    }
    let works = launch.exit == Some(0) && String::from_utf8_lossy(&launch.stdout).contains("works");
    scene.found(works, format!("another attempt: exit {:?}, {}", launch.exit, crate::text::line(&launch.stderr, 200)));
    Ok(())
}

#[then(regex = r"^planted, launch, step and (?:end|import) were each hit at least (\d+) times$")]
fn hit(scene: &mut Scene, times: usize) -> StepResult {
    let Some(moments) = scene.deaths.as_ref().and_then(|deaths| deaths.moments.as_ref()) else { return Ok(()) };
    let (enough, seen) = (moments.least() >= times, format!("kills by phase: {}", moments.told()));
    scene.control(ControlKind::Planted, enough, seen);
    Ok(())
}

#[then("bare, such a step leaves processes alive")]
async fn bare_alive(scene: &mut Scene) -> StepResult {
    let (work, signal) = scene.signal.unwrap_or((Work::Family, Signal::SIGKILL));
    let deaths = scene.bare_and_signal(work, signal).await?;
    let shown = deaths.before >= work.members() && deaths.left.len() >= work.members().saturating_sub(1).max(1);
    let seen = format!("bare: of {} processes at work {} are left", deaths.before, deaths.left.len());
    scene.control(ControlKind::Bare, shown, seen);
    Ok(())
}
