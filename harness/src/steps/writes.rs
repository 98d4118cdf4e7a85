//! Then: what a step wrote, looked for on the host.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cucumber::{given, then};

use super::{StepResult, secrets};
use crate::launch::{Launch, shell};
use crate::plan::Action;
use crate::scene::{Kept, Scene};
use crate::state::{State, named};
use crate::tree;
use crate::verdict::{Control, ControlKind};

#[given(regex = r#"^the user has a file "(.+)"$"#)]
fn victim(scene: &mut Scene, path: String) -> StepResult {
    let path = PathBuf::from(scene.expand(&path)?);
    let make = || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(&path, VICTIM)
    };
    make().map_err(|e| format!("{}: {e}", path.display()))?;
    scene.victim = Some(path);
    Ok(())
}

const VICTIM: &str = "the user's own\n";

#[then("the user's file is as it was")]
fn victim_kept(scene: &mut Scene) -> StepResult {
    let (held, seen) = victim_as_it_was(scene)?;
    scene.found_certain(held, seen);
    Ok(())
}

#[then("bare, the same probe changes the user's file")]
async fn victim_changed(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let (held, seen) = victim_as_it_was(scene)?;
    scene.control(ControlKind::Bare, !held && bare.unfinished().is_none(), format!("bare: {seen}"));
    Ok(())
}

#[then(regex = r#"^bare, the probe "(.+)" changes the user's file$"#)]
async fn probe_changes_victim(scene: &mut Scene, words: String) -> StepResult {
    let bare = scene.bare(&scene.probe(&words)?).await?;
    let (held, seen) = victim_as_it_was(scene)?;
    scene.control(ControlKind::Bare, !held && bare.unfinished().is_none(), format!("bare: {seen}"));
    Ok(())
}

/// Whether the user's file is as it was, and what it is.
pub fn victim_as_it_was(scene: &Scene) -> Result<(bool, String), String> {
    use std::os::unix::fs::PermissionsExt;
    let path = scene.victim.as_deref().ok_or("the user has no file")?;
    let (held, seen) = State::Holds(VICTIM.to_owned()).judge(path);
    let mode = std::fs::symlink_metadata(path).map_or(0, |m| m.permissions().mode() & 0o7777);
    Ok((held && mode & 0o111 == 0, format!("{seen}, mode {mode:o}")))
}

#[then("every action succeeds")]
fn all_succeed(scene: &mut Scene) -> StepResult {
    let report = &scene.last()?.report;
    let (held, seen) = (!report.lines.is_empty() && report.lines.iter().all(|l| l.ok), report.summary());
    scene.found(held, seen);
    Ok(())
}

#[then("no action succeeds")]
fn none_succeeds(scene: &mut Scene) -> StepResult {
    let report = &scene.last()?.report;
    let (held, seen) = (!report.lines.is_empty() && report.lines.iter().all(|l| !l.ok), report.summary());
    scene.found_certain(held, seen); // what was written was written, whatever a control shows
    Ok(())
}

/// Who refuses what comes before it need not refuse the socket.
#[then("no socket is made")]
fn no_socket(scene: &mut Scene) -> StepResult {
    let report = &scene.last()?.report;
    let made = report.lines.iter().any(|line| line.action == "socket-type" && line.ok);
    let seen = report.summary();
    scene.found_certain(!made, seen);
    Ok(())
}

#[then("no action succeeds but the first")]
fn first_succeeds(scene: &mut Scene) -> StepResult {
    let report = &scene.last()?.report;
    let (first, seen) = (report.lines.first().is_some_and(|l| l.ok), report.summary());
    let more = report.lines.iter().skip(1);
    let (some, all) = (more.len() > 0, more.clone().all(|l| !l.ok));
    scene.found_certain(all, seen.clone());
    scene.found(first && some, seen);
    Ok(())
}

#[then("bare, the same probe succeeds")]
async fn bare_succeeds(scene: &mut Scene) -> StepResult {
    let command = scene.command()?;
    succeeds_bare(scene, &command).await
}

#[then(regex = r#"^bare, the probe "(.+)" succeeds$"#)]
async fn bare_probe_succeeds(scene: &mut Scene, words: String) -> StepResult {
    let command = scene.probe(&words)?;
    succeeds_bare(scene, &command).await
}

async fn succeeds_bare(scene: &mut Scene, command: &[String]) -> StepResult {
    let bare = scene.bare(command).await?;
    let shown = !bare.report.lines.is_empty() && bare.report.lines.iter().all(|l| l.ok) && bare.unfinished().is_none();
    let moot = if shown { None } else { secrets::untraceable(&bare) };
    let seen = format!("bare: {}", bare.report.summary());
    scene.controls.push(Control { kind: ControlKind::Bare, shown, seen, moot });
    Ok(())
}

#[then(regex = r#"^in the worktree, "(.+)" (is .+|holds .+|ends in .+)$"#)]
fn in_worktree(scene: &mut Scene, path: String, state: String) -> StepResult {
    judge(scene, Kept { repo: Some("demo".to_owned()), path: PathBuf::from(path), state: State::parse(&state)? })
}

#[then(regex = r#"^in the worktree of "(\w+)", "(.+)" (is .+|holds .+|ends in .+)$"#)]
fn in_worktree_of(scene: &mut Scene, repo: String, path: String, state: String) -> StepResult {
    judge(scene, Kept { repo: Some(repo), path: PathBuf::from(path), state: State::parse(&state)? })
}

#[then(regex = r#"^in the artifacts, "(.+)" (is .+|holds .+|ends in .+)$"#)]
fn in_artifacts(scene: &mut Scene, path: String, state: String) -> StepResult {
    judge(scene, Kept { repo: None, path: PathBuf::from(path), state: State::parse(&state)? })
}

#[then(regex = r"^planted, in the (?:worktree|artifacts) of an attempt that did nothing it is not so$")]
async fn planted_nothing(scene: &mut Scene) -> StepResult {
    let kept = scene.kept.clone().ok_or("no place was judged")?;
    let launch = scene.changed(|plan| plan.action = Action::Run(vec!["/bin/true".to_owned()])).await?;
    let folder = folder(&launch, kept.repo.as_deref())?;
    let (held, seen) = kept.state.judge(&folder.join(&kept.path));
    scene.control(ControlKind::Planted, !held && folder.is_dir(), format!("planted: {seen}"));
    Ok(())
}

#[then("planted, with both bits set on it again it is not so")]
fn planted_set_id(scene: &mut Scene) -> StepResult {
    let kept = scene.kept.clone().ok_or("no place was judged")?;
    let path = folder(scene.last()?, kept.repo.as_deref())?.join(&kept.path);
    let set = || std::fs::set_permissions(&path, Permissions::from_mode(0o6755));
    set().map_err(|e| format!("{}: {e}", path.display()))?;
    let (held, seen) = kept.state.judge(&path);
    scene.control(ControlKind::Planted, !held, format!("planted: {seen}"));
    Ok(())
}

#[then(regex = r#"^nothing named "(.+)" is on the host$"#)]
fn nothing_named(scene: &mut Scene, name: String) -> StepResult {
    let name = scene.expand(&name)?;
    let found = on_the_host(&name);
    scene.found_certain(found.is_empty(), format!("named {name}: {found:?}"));
    scene.searched = Some(name);
    Ok(())
}

#[then("bare, the same probe leaves it there")]
async fn bare_leaves(scene: &mut Scene) -> StepResult {
    let command = scene.command()?;
    bare_leaves_it(scene, &command).await
}

#[then(regex = r"^bare, the same command leaves it there, with (\w+) in the home$")]
async fn bare_command_leaves(scene: &mut Scene, variable: String) -> StepResult {
    let command = in_the_home(scene, &variable, &scene.words.clone())?;
    bare_leaves_it(scene, &command).await
}

async fn bare_leaves_it(scene: &mut Scene, command: &[String]) -> StepResult {
    let bare = scene.bare(command).await?;
    let (there, seen) = searched(scene)?;
    scene.control(ControlKind::Bare, there, format!("bare, exit {:?}, {seen}", bare.exit));
    Ok(())
}

/// Whether the name that was searched for stands anywhere on the host now.
pub fn searched(scene: &Scene) -> Result<(bool, String), String> {
    let name = scene.searched.as_deref().ok_or("no name was searched for")?;
    let found = on_the_host(name);
    Ok((!found.is_empty(), format!("named {name}: {} paths", found.len())))
}

#[then(regex = r#"^the other attempt does not print "(.+)"$"#)]
fn other_does_not_print(scene: &mut Scene, name: String) -> StepResult {
    let name = scene.expand(&name)?;
    let (printed, seen) = prints(scene.last()?, &name);
    scene.found_certain(!printed, seen);
    scene.searched = Some(name);
    Ok(())
}

#[then(regex = r"^bare, the same two commands print it, with (\w+) in the home$")]
async fn bare_prints(scene: &mut Scene, variable: String) -> StepResult {
    let (launcher, name) = (Scene::launcher()?, scene.searched.clone().ok_or("no name was searched for")?);
    let first = in_the_home(scene, &variable, &scene.words.clone())?;
    let second = in_the_home(scene, &variable, &scene.other_words.clone())?;
    let (one, two) = (format!("{}-bare", scene.nonce), format!("{}-bare2", scene.nonce));
    launcher.bare(&first, &one).await?; // what it has done stays there
    let (printed, seen) = prints(&launcher.bare(&second, &two).await?, &name);
    scene.control(ControlKind::Bare, printed, format!("bare: {seen}"));
    Ok(())
}

fn prints(launch: &Launch, name: &str) -> (bool, String) {
    let output = String::from_utf8_lossy(&launch.stdout);
    let lines: Vec<&str> = output.lines().filter(|l| l.contains(name)).collect();
    (!lines.is_empty(), format!("printed: {lines:?}"))
}

/// The shell command with a variable that names a folder of the home.
fn in_the_home(scene: &Scene, variable: &str, words: &str) -> Result<Vec<String>, String> {
    let folder = scene.factory().join("bare-temp").display().to_string();
    let words = scene.expand_text(words)?;
    Ok(shell(&format!("export {variable}={folder}\nmkdir -p {folder}\n{words}")))
}

/// Where a name stands on the host.
pub fn on_the_host(name: &str) -> Vec<PathBuf> {
    named(name, Path::new("/"), &tree::NOT.map(Path::new))
}

pub fn judge(scene: &mut Scene, kept: Kept) -> StepResult {
    let path = folder(scene.last()?, kept.repo.as_deref())?.join(&kept.path);
    let (held, seen) = kept.state.judge(&path);
    scene.found(held, seen);
    scene.kept = Some(kept);
    Ok(())
}

/// The worktree of a repo, or the artifacts, of a launch.
pub fn folder(launch: &Launch, repo: Option<&str>) -> Result<PathBuf, String> {
    let manifest = &Scene::context()?.manifest;
    match repo {
        Some(repo) => launch.templates.with("repo", repo).render(manifest.worktree()),
        None => launch.templates.render(&manifest.observe.artifacts),
    }
    .map(PathBuf::from)
}
