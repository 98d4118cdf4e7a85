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
    scene.act(&act).await
}

#[when(regex = r#"(?s)^the step waits until the user has done "(.*)" in the repository, and then does "(.*)"$"#)]
async fn does_after(scene: &mut Scene, meanwhile: String, act: String) -> StepResult {
    scene.act_after(&meanwhile, &act).await
}

#[when(regex = r#"(?s)^while the step waits, which has done "(.*)", another does "(.*)"$"#)]
async fn does_beside(scene: &mut Scene, act: String, other: String) -> StepResult {
    scene.act_beside(&act, &other, false).await
}

#[when(regex = r#"(?s)^while the step waits, another does "(.*)", and then the step does "(.*)"$"#)]
async fn does_after_another(scene: &mut Scene, other: String, act: String) -> StepResult {
    scene.act_beside(&act, &other, true).await
}

#[when(regex = r#"(?s)^the launcher gets SIGKILL while the step waits, which has done "(.*)"$"#)]
async fn does_killed(scene: &mut Scene, act: String) -> StepResult {
    scene.act_killed(&act).await
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

#[then("while it waited, nothing of the repository was new or changed but the attempt's own")]
fn kept_meanwhile(scene: &mut Scene) {
    let told = scene.acting.waited.clone();
    scene.found_certain(told.is_empty(), format!("while it waited: {told:?}"));
}

#[then("the attempt's branch is where it was made")]
async fn branch_kept(scene: &mut Scene) -> StepResult {
    let (held, seen) = branch_unmoved(&done(scene)?).await?;
    scene.found_certain(held, seen);
    Ok(())
}

/// Or there was nothing to refuse.
#[then("the step has made a commit of it")]
fn made_commit(scene: &mut Scene) -> StepResult {
    let output = String::from_utf8_lossy(&scene.last()?.stdout).into_owned();
    let made = output.lines().any(|line| line.starts_with("committed "));
    scene.found(made, format!("made inside: {made}"));
    Ok(())
}

#[then("bare, the same act moves it")]
async fn bare_moves(scene: &mut Scene) -> StepResult {
    let (unmoved, seen) = branch_unmoved(&scene.twin().await?).await?;
    scene.control(ControlKind::Bare, !unmoved, format!("bare: {seen}"));
    Ok(())
}

#[then(regex = r#"^the commit "(.+)" is on the branch of (?:the|the other) attempt$"#)]
async fn commit_arrived(scene: &mut Scene, subject: String) -> StepResult {
    let done = done(scene)?;
    let mut branches = own_branches(&done).await?;
    branches.retain(|(_, told, _)| *told == subject);
    scene.found(!branches.is_empty(), format!("with \"{subject}\": {branches:?}"));
    Ok(())
}

/// Whether all branches of the attempt are at the commit that they were made at, and what they are.
async fn branch_unmoved(done: &Done) -> Result<(bool, String), String> {
    let base = host_git::git(&done.repository, &["rev-parse", "refs/heads/main"]).await?;
    let branches = own_branches(done).await?;
    let held = !branches.is_empty() && branches.iter().all(|(id, ..)| id == base.stdout.trim());
    Ok((held, format!("made at {}, now: {branches:?}", base.stdout.trim())))
}

/// Commit, subject and name of the branches of the attempt; one that leads to another has no commit of its own.
async fn own_branches(done: &Done) -> Result<Vec<(String, String, String)>, String> {
    let format = "--format=%(symref)%(objectname)%00%(subject)%00%(refname)";
    let said = host_git::git(&done.repository, &["for-each-ref", format, "refs/heads/"]).await?;
    let branch = |line: &str| {
        let mut words = line.split('\0').map(str::to_owned);
        Some((words.next()?, words.next()?, words.next()?))
    };
    let all = said.stdout.lines().filter_map(branch);
    Ok(all.filter(|(_, _, name)| name.contains(&done.own)).collect())
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
