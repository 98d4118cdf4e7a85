//! When and Then: what a launch does to the host's tree before, while and after a step runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cucumber::{given, then, when};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::StepResult;
use crate::driver::Manifest;
use crate::lab::{HOME, home};
use crate::launch::shell;
use crate::plan::Action;
use crate::scene::{Looks, Scene};
use crate::tree::Tree;
use crate::verdict::ControlKind;
use crate::waiting::{self, MARKS, WAITS};

/// A step whose launcher was killed is dead after this time (NS-05).
const DYING: Duration = Duration::from_secs(5);

#[when("the host is looked at before, while and after the step runs")]
async fn look(scene: &mut Scene) -> StepResult {
    if !scene.can_be_asked()? {
        return Ok(());
    }
    let (worktree, skip) = prepare(scene).await?;
    let before = Tree::of_host(&skip);
    let watch = async {
        waiting::first_sign(&worktree).await?;
        let (during, inside) = (Tree::of_host(&skip), Tree::below(&worktree, &[]));
        waiting::go(&worktree)?;
        Ok::<_, String>((during, inside))
    };
    let (ran, watched) = futures::future::join(scene.run(), watch).await;
    ran?;
    let (during, inside) = watched.map_err(|e| scene.last().map_or(e.clone(), |l| format!("{e}: {}", l.output())))?;
    let after = Tree::of_host(&skip);
    scene.looks = Some(Looks { before, during: Some(during), inside: Some(inside), after, skip, worktree });
    Ok(())
}

#[when("the launcher is killed by SIGKILL while the step runs, and another attempt has run since")]
async fn look_killed(scene: &mut Scene) -> StepResult {
    if !scene.can_be_asked()? {
        return Ok(());
    }
    let (worktree, mut skip) = prepare(scene).await?;
    let before = Tree::of_host(&skip);
    let (plan, factory) = (scene.plan.clone(), scene.factory());
    let deed = async {
        waiting::first_sign(&worktree).await?;
        let launcher = launcher_in(&factory).ok_or("the launcher is not among the processes")?;
        kill(Pid::from_raw(launcher), Signal::SIGKILL).map_err(|e| format!("kill: {e}"))?;
        let dead = waiting::last_sign(&worktree, DYING).await;
        if !dead {
            waiting::go(&worktree)?;
        }
        Ok::<_, String>(dead)
    };
    let (killed, done) = futures::future::join(scene.again(&plan), deed).await;
    killed?;
    if !done? {
        scene.found(false, format!("the step still lived {DYING:?} after its launcher was killed"));
    }
    skip.extend(places(scene)?.1);
    scene.plan.action = Action::Run(shell("true"));
    scene.run().await?;
    let after = Tree::of_host(&skip);
    scene.looks = Some(Looks { before, during: None, inside: None, after, skip, worktree });
    Ok(())
}

#[given("a user for whom it never ran")]
fn new_user(scene: &mut Scene) -> StepResult {
    let home = format!("/srv/data/home-of-{}", scene.nonce);
    std::fs::create_dir_all(&home).map_err(|e| format!("{home}: {e}"))?;
    scene.plan.home = Some(home);
    Ok(())
}

#[when("the host is looked at before and after the first attempt of all")]
async fn look_at_first(scene: &mut Scene) -> StepResult {
    scene.plan.action = Action::Run(shell("true"));
    let (worktree, mut skip) = places(scene)?;
    for kept in &Scene::context()?.manifest.observe.kept {
        skip.push(PathBuf::from(scene.templates()?.render(kept)?));
    }
    for folder in skip.iter().filter_map(|path| path.parent()) {
        std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    home::provide_repositories(&scene.nonce).map_err(|e| format!("the repositories: {e}"))?;
    skip.push(home::repository_of(&scene.nonce, "demo").join(".git"));
    let before = Tree::of_host(&skip);
    scene.run().await?;
    let after = Tree::of_host(&skip);
    scene.looks = Some(Looks { before, during: None, inside: None, after, skip, worktree });
    Ok(())
}

/// One attempt first, so that what is made once and kept is there; then the places of the attempt that is to be judged.
async fn prepare(scene: &mut Scene) -> Result<(PathBuf, Vec<PathBuf>), String> {
    scene.plan.action = Action::Run(shell(WAITS));
    let mut plan = scene.plan.clone();
    plan.action = Action::Run(shell("true"));
    let (_, mut skip) = places(scene)?;
    scene.again(&plan).await?;
    let (worktree, own) = places(scene)?;
    skip.extend(own);
    skip.push(home::repository_of(&scene.nonce, "demo").join(".git")); // the factory's git works there
    Ok((worktree, skip))
}

/// The worktree of the next attempt, and what is the attempt's own.
fn places(scene: &Scene) -> Result<(PathBuf, Vec<PathBuf>), String> {
    let (factory, attempt, templates) = (scene.factory(), scene.next_attempt(), scene.templates()?);
    let Manifest { files, observe, .. } = &Scene::context()?.manifest;
    let mut own = vec![factory.join(&attempt), factory.join(format!("state-{attempt}"))];
    for path in files.keys() {
        own.push(PathBuf::from(templates.render(path)?)); // written by the harness before each launch
    }
    if !observe.attempt_dir.is_empty() {
        own.push(PathBuf::from(templates.render("{{attempt_dir}}")?));
    }
    Ok((scene.next_worktree()?, own))
}

/// The process that the engine itself started, in the factory's folder or a worktree there.
fn launcher_in(factory: &Path) -> Option<i32> {
    let own = std::process::id().to_string();
    let is_ours = |pid: &i32| {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
        let parent = read("stat").rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1).map(str::to_owned));
        let cwd = std::fs::read_link(format!("/proc/{pid}/cwd"));
        parent.as_deref() == Some(&own) && cwd.is_ok_and(|cwd| cwd.starts_with(factory))
    };
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    all.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(is_ours)
}

#[then("nothing on the host is new or changed while it runs, but its private temp folder")]
fn same_during(scene: &mut Scene) -> StepResult {
    let looks = looks(scene)?;
    let during = looks.during.clone().ok_or("nobody looked while it ran")?;
    let told = looks.before.differences(&during.without_private_temp(&looks.before));
    scene.found(told.is_empty(), format!("while it ran: {told:?}"));
    Ok(())
}

#[then("nothing on the host is new or changed afterwards")]
fn same_after(scene: &mut Scene) -> StepResult {
    let looks = looks(scene)?;
    let told = looks.before.differences(&looks.after);
    scene.found(told.is_empty(), format!("afterwards: {told:?}"));
    Ok(())
}

#[then("its worktree holds what the repository holds while it runs")]
fn same_worktree(scene: &mut Scene) -> StepResult {
    let looks = looks(scene)?;
    let told = in_worktree(scene, looks.inside.as_ref().ok_or("nobody looked while it ran")?)?;
    scene.found(told.is_empty(), format!("in the worktree: {told:?}"));
    Ok(())
}

/// What a worktree holds that the repository does not, or the other way round; but the step's own marks and git's file.
fn in_worktree(scene: &Scene, inside: &Tree) -> Result<Vec<PathBuf>, String> {
    let repository = home::repository_of(&scene.nonce, "demo");
    let theirs = Tree::below(&repository, &[&repository.join(".git")]);
    let worktree = &looks(scene)?.worktree;
    let (here, there) = (inside.names(worktree), theirs.names(&repository));
    let own = |name: &&&Path| **name == Path::new(".git") || MARKS.iter().any(|mark| **name == Path::new(mark));
    let more = here.iter().filter(|name| !there.contains(name) && !own(name));
    let lacking = there.iter().filter(|name| !here.contains(name));
    Ok(more.chain(lacking).map(|name| name.to_path_buf()).collect())
}

#[then("planted, an empty file too many is noticed")]
fn planted(scene: &mut Scene) -> StepResult {
    let looks = looks(scene)?;
    let (worktree, skip) = (looks.worktree.clone(), looks.skip.clone());
    let mut noticed = Vec::new();
    for place in [PathBuf::from(HOME), home::repository_of(&scene.nonce, "demo"), PathBuf::from("/tmp")] {
        let planted = place.join(format!(".planted-{}", scene.nonce));
        std::fs::write(&planted, "").map_err(|e| format!("{}: {e}", planted.display()))?;
        noticed.push(!looks.after.differences(&Tree::of_host(&skip).without_private_temp(&looks.before)).is_empty());
        std::fs::remove_file(&planted).map_err(|e| format!("{}: {e}", planted.display()))?;
    }
    if looks.inside.is_some() {
        std::fs::write(worktree.join(".planted"), "").map_err(|e| format!("{}: {e}", worktree.display()))?;
        noticed.push(!in_worktree(scene, &Tree::below(&worktree, &[]))?.is_empty());
    }
    scene.control(ControlKind::Planted, noticed.iter().all(|n| *n), format!("planted, noticed: {noticed:?}"));
    Ok(())
}

fn looks(scene: &Scene) -> Result<&Looks, String> {
    scene.looks.as_ref().ok_or_else(|| "nobody looked at the host".to_owned())
}
