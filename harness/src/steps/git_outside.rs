//! Then: what git does outside afterwards, the user's and the factory's, with what a step has left for it. Nothing of that may
//! run: a sentinel notes it.

use cucumber::then;

use super::StepResult;
use super::git_acts::done;
use crate::git_folder::GitFolder;
use crate::host_git;
use crate::scene::{Done, Scene};
use crate::verdict::ControlKind;

/// What a user does in a worktree that a step had.
const IN_WORKTREE: &[&[&str]] = &[
    &["status"],
    &["diff", "HEAD"],
    &["log", "-p", "-1"],
    &["add", "-A"],
    &["status"],
    &["commit", "-q", "--allow-empty", "-m", "outside"],
    &["checkout", "-q", "--detach"],
];

/// And in its repository.
const IN_REPOSITORY: &[&[&str]] = &[
    &["status"],
    &["stash", "list"],
    &["commit", "-q", "--allow-empty", "-m", "outside"],
    &["switch", "-q", "-c", "next"],
];

#[then("the user's git works, in the worktree and in the repository, and runs nothing that the step has left")]
async fn users_git(scene: &mut Scene) -> StepResult {
    let done = done(scene)?;
    let failed = use_git(&done, false).await?;
    let ran = done.told();
    scene.found_certain(ran.is_empty() && failed.is_empty(), format!("ran: {ran:?}; failed: {failed:?}"));
    Ok(())
}

#[then("bare, after the same act the user's git runs it or fails")]
async fn bare_users_git(scene: &mut Scene) -> StepResult {
    let twin = scene.twin().await?;
    let failed = use_git(&twin, true).await?;
    let ran = twin.told();
    scene.control(
        ControlKind::Bare,
        !ran.is_empty() || !failed.is_empty(),
        format!("bare, ran: {ran:?}; failed: {failed:?}"),
    );
    Ok(())
}

#[then(regex = r#"^the user's git, in the folder "(.+)" of the worktree, runs nothing that the step has left$"#)]
async fn users_git_in(scene: &mut Scene, folder: String) -> StepResult {
    let done = done(scene)?;
    let said = host_git::git(&done.worktree.join(folder), &["status"]).await?;
    let ran = done.told();
    scene.found_certain(ran.is_empty() && said.code.is_some(), format!("ran: {ran:?}; {}", said.told()));
    Ok(())
}

#[then(regex = r#"^bare, after the same act the user's git, in the folder "(.+)", runs it$"#)]
async fn bare_users_git_in(scene: &mut Scene, folder: String) -> StepResult {
    let twin = scene.twin().await?;
    let said = host_git::git(&twin.worktree.join(folder), &["status"]).await?;
    let ran = twin.told();
    scene.control(ControlKind::Bare, !ran.is_empty(), format!("bare, ran: {ran:?}; {}", said.told()));
    Ok(())
}

#[then("neither the attempt nor another one has run it outside")]
async fn factorys_git(scene: &mut Scene) -> StepResult {
    let done = done(scene)?;
    let at_its_end = done.told();
    // Whoever makes the worktree for a sandbox may fail as well.
    let unfinished = match scene.another_attempt().await {
        Ok(another) => another.unfinished(),
        Err(why) => Some(why),
    };
    let ran = done.told();
    let told = unfinished.as_deref().unwrap_or("worked");
    let seen = format!("ran at its end: {at_its_end:?}; since: {ran:?}; another attempt: {told}");
    scene.found_certain(ran.is_empty() && unfinished.is_none(), seen);
    Ok(())
}

#[then(regex = r#"(?s)^bare, after the same act "(.*)" runs it$"#)]
async fn bare_runs(scene: &mut Scene, words: String) -> StepResult {
    let twin = scene.twin().await?;
    let done = scene.bare_in(&twin.place, &twin.worktree, &format!("({words}) || :")).await?;
    let ran = twin.told();
    scene.control(
        ControlKind::Bare,
        !ran.is_empty(),
        format!("bare, ran: {ran:?}; {}", crate::text::line(done.output().as_bytes(), 300)),
    );
    Ok(())
}

#[then("git worktree prune outside leaves the worktree")]
async fn prune_leaves(scene: &mut Scene) -> StepResult {
    let (there, seen) = pruned(&done(scene)?).await?;
    scene.found_certain(there, seen);
    Ok(())
}

#[then("bare, after the same act git worktree prune takes it")]
async fn bare_prune_takes(scene: &mut Scene) -> StepResult {
    let (there, seen) = pruned(&scene.twin().await?).await?;
    scene.control(ControlKind::Bare, !there, format!("bare: {seen}"));
    Ok(())
}

/// Whether the worktree is one of the repository's after a prune.
async fn pruned(done: &Done) -> Result<(bool, String), String> {
    let said = host_git::git(&done.repository, &["worktree", "prune", "--expire", "now"]).await?;
    let left = GitFolder::of(&done.repository.join(".git")).new_worktrees(&done.before);
    Ok((!left.is_empty(), format!("prune: {}; left: {left:?}", said.told())))
}

/// What of the user's git failed, or did not end; the first of it, or until something ran, is enough `for_control`.
async fn use_git(done: &Done, for_control: bool) -> Result<Vec<String>, String> {
    let mut failed = Vec::new();
    for (folder, commands) in [(&done.worktree, IN_WORKTREE), (&done.repository, IN_REPOSITORY)] {
        for arguments in commands.iter().filter(|_| folder.is_dir()) {
            let said = host_git::git(folder, arguments).await?;
            if !said.is_well() {
                failed.push(format!("git {}: {}", arguments[0], said.told()));
            }
            // What waits for ever once does so again.
            if said.code.is_none() || for_control && !(failed.is_empty() && done.told().is_empty()) {
                return Ok(failed);
            }
        }
    }
    Ok(failed)
}
