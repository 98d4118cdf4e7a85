//! Given, When and Then: what a hostile step does to its repository's git folder, and what the folder is on the host then.

use cucumber::{given, then, when};

use super::StepResult;
use crate::git_folder::Part;
use crate::host_git;
use crate::scene::{Done, Scene};
use crate::verdict::ControlKind;

#[given(regex = r#"(?s)^in the repository, the user has done "(.*)"$"#)]
async fn user_has_done(scene: &mut Scene, words: String) -> StepResult {
    scene.user_does(&words).await
}

#[when(regex = r#"(?s)^the step does "(.*)"$"#)]
async fn does(scene: &mut Scene, act: String) -> StepResult {
    scene.act(&act, None).await
}

#[when(regex = r#"(?s)^the step waits until the user has done "(.*)" in the repository, and then does "(.*)"$"#)]
async fn does_then(scene: &mut Scene, meanwhile: String, act: String) -> StepResult {
    scene.act(&act, Some(&meanwhile)).await
}

#[then("the config and hooks are as they were")]
fn control_kept(scene: &mut Scene) -> StepResult {
    kept(scene, Part::Control)
}

#[then("what leads git to them is as it was")]
fn related_kept(scene: &mut Scene) -> StepResult {
    kept(scene, Part::Related)
}

#[then("what other worktrees have to themselves is as it was")]
fn others_kept(scene: &mut Scene) -> StepResult {
    kept(scene, Part::Others)
}

fn kept(scene: &mut Scene, part: Part) -> StepResult {
    let done = done(scene)?;
    let told = done.differences(part);
    scene.acting.part = Some(part);
    scene.found_certain(told.is_empty(), format!("{part:?} in the git folder: {told:?}"));
    Ok(())
}

#[then("nothing of the repository has changed but the attempt's own branch, and it is whole")]
async fn all_kept(scene: &mut Scene) -> StepResult {
    let told = spoilt(&done(scene)?).await?;
    scene.acting.part = Some(Part::All);
    scene.found_certain(told.is_empty(), format!("All of the git folder: {told:?}"));
    Ok(())
}

#[then("bare, the same act changes it")]
async fn bare_changes(scene: &mut Scene) -> StepResult {
    let part = scene.acting.part.ok_or("nothing was compared")?;
    let twin = scene.twin().await?;
    let told = if part == Part::All { spoilt(&twin).await? } else { twin.differences(part) };
    scene.control(ControlKind::Bare, !told.is_empty(), format!("bare: {told:?}"));
    Ok(())
}

/// What is not as it was in the whole git folder, and what fsck says about it.
async fn spoilt(done: &Done) -> Result<Vec<String>, String> {
    let mut told = done.differences(Part::All);
    // A pipe in place of an object would keep it waiting to its bound; it has been told above then.
    if told.is_empty() {
        let fsck = host_git::git(&done.repository, &["fsck", "--full", "--no-dangling"]).await?;
        if !fsck.is_well() || fsck.stderr.contains("error") {
            told.push(format!("fsck: {}", fsck.told()));
        }
    }
    Ok(told)
}

/// What was done to the repository.
pub fn done(scene: &Scene) -> Result<Done, String> {
    scene.acting.done.clone().ok_or_else(|| "no act was done".to_owned())
}
