//! When and Then: the launcher of attempts is killed while their steps commit, and what becomes of the commits.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::StepResult;
use crate::host_git::git;
use crate::lab::home;
use crate::launch::shell;
use crate::plan::Action;
use crate::scene::{Committed, Mortal, Scene};
use crate::verdict::ControlKind;
use cucumber::{then, when};

/// For the processes of killed attempts.
const DYING: Duration = Duration::from_secs(5);

/// What a step leaves that is killed at something: a commit, and work that is not committed.
const WORK: &str = "echo mine >>README; echo 1 >work; git add work; git commit -q -m 1 && echo 1 >made; echo 1 >notes";

#[when(
    regex = r"^its launcher is killed by SIGKILL at random moments while a step commits, until launch, step and import were each hit (\d+) times$"
)]
async fn at_random(scene: &mut Scene, hits: usize) -> StepResult {
    scene.kill_at_random(Mortal::Commits, hits, DYING).await?;
    remember(scene)
}

#[when(regex = r#"^its launcher is killed by SIGKILL while a step is at "(.*)"$"#)]
async fn at_command(scene: &mut Scene, command: String) -> StepResult {
    scene.kill_at(&format!("{WORK}; {command} || exit"), DYING).await?;
    remember(scene)
}

#[when("another attempt of the factory has run")]
async fn another(scene: &mut Scene) -> StepResult {
    if scene.deaths.is_some() {
        let launch = scene.changed(|plan| plan.action = Action::Run(shell("true"))).await?;
        let told = crate::text::line(&launch.stderr, 300);
        scene.found(launch.exit == Some(0), format!("another attempt: exit {:?}, {told}", launch.exit));
    }
    Ok(())
}

/// What is certain right after the kills, before anybody recovers anything.
fn remember(scene: &mut Scene) -> StepResult {
    for attempt in 1..=scene.attempts {
        let worktree = scene.worktree_of(attempt)?;
        let times = std::fs::read_to_string(worktree.join("made")).ok().and_then(|text| text.trim().parse().ok());
        scene.committed.extend(times.map(|times| Committed { worktree, times }));
    }
    Ok(())
}

/// How many commits of their steps are missing on the branches of worktrees, of how many; if each step had made some more.
async fn missing(scene: &Scene, more: usize) -> Result<(usize, usize), String> {
    let (mut lost, mut all) = (0, 0);
    let base = git(&home::repository_of(&scene.nonce, "demo"), &["rev-parse", "main"]).await?;
    let base = format!("^{}", base.stdout.trim());
    for Committed { worktree, times } in &scene.committed {
        let there = match worktree.is_dir() {
            true => git(worktree, &["rev-list", "--count", "HEAD", &base]).await?.stdout,
            false => String::new(),
        };
        lost += (times + more).saturating_sub(there.trim().parse().unwrap_or_default());
        all += times;
    }
    Ok((lost, all))
}

#[then("each commit that a step has made is on its worktree's branch")]
async fn nothing_lost(scene: &mut Scene) -> StepResult {
    let (lost, all) = missing(scene, 0).await?;
    scene.found(lost == 0 && all > 0, format!("{lost} of {all} commits are lost"));
    Ok(())
}

#[then("what a step had not committed is in its worktree")]
fn work_is_there(scene: &mut Scene) -> StepResult {
    let all = scene.committed.len();
    let kept = scene.committed.iter().filter(|one| is_kept(one)).count();
    scene.found(kept == all && all > 0, format!("of {all} worktrees {kept} hold all that was not committed"));
    Ok(())
}

/// A change of a file that was there, a file of its own, and the file of its commits as new as the last of them, or newer.
fn is_kept(one: &Committed) -> bool {
    let text = |name: &str| std::fs::read_to_string(one.worktree.join(name)).unwrap_or_default();
    // What was killed while it wrote is empty.
    let work = text("work").trim().parse::<usize>().map_or(text("work").is_empty(), |work| work >= one.times);
    text("README").ends_with("mine\n") && work && (one.times < 2 || one.worktree.join("notes").exists())
}

#[then("there is no lock in the repository")]
fn no_lock(scene: &mut Scene) -> StepResult {
    let locks = locks(&home::repository_of(&scene.nonce, "demo").join(".git"))?;
    scene.found(locks.is_empty(), format!("locks: {locks:?}"));
    Ok(())
}

fn locks(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(locks(&path)?);
        } else if path.extension().is_some_and(|end| end == "lock") {
            found.push(path);
        }
    }
    Ok(found)
}

#[then("the user's git finds the repository whole and can commit")]
async fn whole(scene: &mut Scene) -> StepResult {
    let repository = home::repository_of(&scene.nonce, "demo");
    let mut folders = vec![repository.clone()];
    folders.extend(scene.committed.last().map(|one| one.worktree.clone()));
    for folder in &folders {
        for arguments in [&["commit", "-q", "--allow-empty", "-m", "Mine"][..], &["status", "--short"]] {
            let said = git(folder, arguments).await?;
            scene.found(said.is_well(), format!("git {} in {}: {}", arguments[0], folder.display(), said.told()));
        }
    }
    let said = git(&repository, &["fsck", "--strict", "--no-dangling"]).await?;
    scene.found(said.is_well(), format!("git fsck: {}", said.told()));
    Ok(())
}

#[then("planted, a commit too many is missed, a change undone and a lock noticed")]
async fn planted(scene: &mut Scene) -> StepResult {
    let (lost, _) = missing(scene, 2).await?; // the user has made one as well
    let folder = home::repository_of(&scene.nonce, "demo").join(".git");
    let lock = folder.join("worktrees/planted.lock");
    std::fs::write(&lock, "").map_err(|e| format!("{}: {e}", lock.display()))?;
    let noticed = locks(&folder)?.contains(&lock);
    std::fs::remove_file(&lock).map_err(|e| format!("{}: {e}", lock.display()))?;
    let Some(one) = scene.committed.first().cloned() else {
        scene.control(ControlKind::Planted, false, "nothing was committed".to_owned());
        return Ok(());
    };
    git(&one.worktree, &["checkout", "-q", "--", "README"]).await?;
    let undone = !is_kept(&one);
    let told = format!("{lost} missed, undone change noticed: {undone}, lock noticed: {noticed}");
    scene.control(ControlKind::Planted, lost > 0 && noticed && undone, told);
    Ok(())
}
