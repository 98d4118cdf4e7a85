//! The session of a step, as the lab sees it while the step waits.

use std::path::Path;

use cucumber::{then, when};

use super::StepResult;
use crate::launch::shell;
use crate::living;
use crate::plan::Action;
use crate::scene::Scene;
use crate::verdict::ControlKind;
use crate::waiting::{WAITS, first_sign, go};

#[when("the step waits, and its session is looked at")]
async fn looked_at(scene: &mut Scene) -> StepResult {
    if !scene.can_be_asked()? {
        return Ok(());
    }
    let argv = waits(scene, ".");
    scene.plan.action = Action::Run(argv.clone());
    let (worktree, plan) = (scene.next_worktree()?, scene.plan.clone());
    let (launch, session) = futures::future::join(scene.again(&plan), look(&worktree, &argv)).await;
    scene.launches.push(launch?);
    scene.session = session?;
    Ok(())
}

#[then("it is not the caller's")]
fn not_the_callers(scene: &mut Scene) {
    let (session, own) = (scene.session, of_caller());
    scene.found(session.is_some_and(|s| s != own), format!("the step's session: {session:?}, the caller's: {own}"));
}

#[then("bare, it is the caller's")]
async fn bare_the_callers(scene: &mut Scene) -> StepResult {
    let folder = scene.factory().join("bare");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let (argv, nonce) = (waits(scene, &folder.display().to_string()), format!("{}-bare", scene.nonce));
    let launcher = Scene::launcher()?;
    let (_, session) = futures::future::join(launcher.bare(&argv, &nonce), look(&folder, &argv)).await;
    let (session, own) = (session?, of_caller());
    scene.control(ControlKind::Bare, session == Some(own), format!("bare: {session:?}, the caller's: {own}"));
    Ok(())
}

/// A step that waits; no other process of the run has its argv.
fn waits(scene: &Scene, folder: &str) -> Vec<String> {
    shell(&format!("# {}\ncd {folder} || exit\n{WAITS}", scene.nonce))
}

/// The session of the process with this argv, when it waits in the folder; then it may go on.
async fn look(folder: &Path, argv: &[String]) -> Result<Option<i32>, String> {
    first_sign(folder).await?;
    let words = argv.join(" ");
    let session = living::all().find(|process| process.words == words.trim()).map(|process| process.session);
    go(folder)?;
    Ok(session)
}

/// The harness starts launches in its own session.
fn of_caller() -> i32 {
    nix::unistd::getsid(None).map_or(-1, nix::unistd::Pid::as_raw)
}
