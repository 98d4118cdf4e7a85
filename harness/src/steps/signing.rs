//! Given and Then: commits that the factory signs, with a key that an agent of the user holds. Whether a signature is good git says,
//! outside, by the list of those whose signatures are.

use std::path::{Path, PathBuf};

use cucumber::{given, then};

use super::StepResult;
use super::writes::folder;
use crate::host_git;
use crate::lab::agent::Agent;
use crate::lab::home;
use crate::launch::Launch;
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

#[given("the factory signs with a key that an agent of the user holds")]
fn signs(scene: &mut Scene) -> StepResult {
    let agent = Agent::start(&scene.nonce).map_err(|e| format!("the agent: {e}"))?;
    scene.plan.sign = Some(agent.public().display().to_string());
    scene.plan.variables.push(("SSH_AUTH_SOCK".to_owned(), agent.socket().display().to_string()));
    scene.agent = Some(agent);
    Ok(())
}

#[given("that agent has forgotten its key")]
fn forgotten(scene: &mut Scene) -> StepResult {
    scene.agent.as_ref().ok_or("there is no agent")?.forget().map_err(|e| format!("the agent: {e}"))
}

#[given(regex = r#"^the file of the public key is "(.+)" instead$"#)]
fn another_file(scene: &mut Scene, path: String) -> StepResult {
    scene.plan.sign = Some(scene.expand(&path)?);
    Ok(())
}

#[then("outside, the tip of its branch has a good signature of that key")]
async fn good(scene: &mut Scene) -> StepResult {
    if scene.launches.is_empty() {
        return Ok(()); // it was not asked
    }
    let (good, seen) = verified(scene, &worktree(scene.last()?)?, "HEAD").await?;
    scene.found(good, seen);
    Ok(())
}

#[then("outside, all commits of the attempt's branches have one")]
async fn all_good(scene: &mut Scene) -> StepResult {
    let place = worktree(scene.last()?)?;
    let own = scene.last()?.templates.render("{{attempt}}")?;
    let branches = format!("--branches=*/{own}/*");
    let listed = host_git::git(&place, &["rev-list", &branches, "--not", "main"]).await?;
    let (mut bad, mut count) = (Vec::new(), 0);
    for id in listed.stdout.lines() {
        count += 1;
        let (good, seen) = verified(scene, &place, id).await?;
        bad.extend((!good).then_some(seen));
    }
    scene.found(count > 0 && bad.is_empty(), format!("{count} commits; not good: {bad:?}"));
    Ok(())
}

#[then("planted, where the factory does not sign it has none")]
async fn planted_unsigned(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(|plan| plan.sign = None).await?;
    let (good, seen) = verified(scene, &worktree(&launch)?, "HEAD").await?;
    let shown = !good && launch.unfinished().is_none();
    scene.control(ControlKind::Planted, shown, format!("planted: {seen}"));
    Ok(())
}

#[then("planted, where the factory does not sign the mark is found")]
async fn planted_mark(scene: &mut Scene) -> StepResult {
    super::marks::planted(scene, |plan| plan.sign = None).await
}

#[then("planted, before another attempt has run the tip of its branch has no good signature")]
async fn before_another(scene: &mut Scene) -> StepResult {
    let place = worktree(scene.last()?)?;
    let (good, seen) = verified(scene, &place, "HEAD").await?;
    scene.control(ControlKind::Planted, !good && place.is_dir(), format!("planted: {seen}"));
    Ok(())
}

#[then("once another attempt has run, the tip of its branch has a good signature of that key")]
async fn after_another(scene: &mut Scene) -> StepResult {
    let another = scene.another_attempt().await?;
    let (good, seen) = verified(scene, &worktree(scene.last()?)?, "HEAD").await?;
    let unfinished = another.unfinished();
    scene.found(good && unfinished.is_none(), format!("{seen}; another attempt: {unfinished:?}"));
    Ok(())
}

#[then("the agent gets its key back")]
fn key_back(scene: &mut Scene) -> StepResult {
    scene.agent.as_ref().ok_or("there is no agent")?.recall().map_err(|e| format!("the agent: {e}"))
}

#[then("nothing is signed")]
fn nothing_signed(scene: &mut Scene) -> StepResult {
    let Ok(launch) = scene.last() else { return Ok(()) }; // it was not asked
    let (signed, seen) = has_signed(launch);
    scene.found_certain(!signed, seen);
    Ok(())
}

#[then("bare, the same command signs")]
async fn bare_signs(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let (signed, seen) = has_signed(&bare);
    scene.control(ControlKind::Bare, signed, format!("bare: {seen}"));
    Ok(())
}

#[then(regex = r#"^outside, the repository has the commit "(.+)" on a branch that main is not$"#)]
async fn in_repository(scene: &mut Scene, subject: String) -> StepResult {
    let subject = scene.expand_text(&subject)?;
    let repository = home::repository_of(&scene.nonce, "demo");
    let listed = host_git::git(&repository, &["log", "--branches", "--not", "main", "--format=%s"]).await?;
    let held = listed.stdout.lines().any(|one| one == subject);
    scene.found(held, format!("newer than main: {}", listed.told()));
    Ok(())
}

fn has_signed(launch: &Launch) -> (bool, String) {
    let output = launch.output();
    (output.contains("BEGIN SSH SIGNATURE"), format!("exit {:?}: {}", launch.exit, line(output.as_bytes(), 300)))
}

fn worktree(launch: &Launch) -> Result<PathBuf, String> {
    folder(launch, Some("demo"))
}

/// Whether git finds a good signature of somebody on the list; asked in the repository itself, whose config no step has.
async fn verified(scene: &Scene, worktree: &Path, name: &str) -> Result<(bool, String), String> {
    let allowed = scene.agent.as_ref().ok_or("there is no agent")?.allowed();
    let allowed = format!("gpg.ssh.allowedSignersFile={}", allowed.display());
    let tip = host_git::git(worktree, &["rev-parse", "--verify", &format!("{name}^{{commit}}")]).await?;
    let repository = home::repository_of(&scene.nonce, "demo");
    let said = host_git::git(&repository, &["-c", &allowed, "verify-commit", tip.stdout.trim()]).await?;
    Ok((tip.is_well() && said.is_well(), format!("{}: {}", tip.stdout.trim(), said.told())))
}
