//! Given: what lies on the user's host and which of it the settings allow. Then: what of it was written, and what
//! `validate` says.

use std::path::{Path, PathBuf};

use cucumber::{gherkin, given, then, when};
use serde_json::json;

use super::StepResult;
use crate::furnished::Furnished;
use crate::lab::home;
use crate::launch::Launch;
use crate::scene::{Kept, Refusal, Scene};
use crate::state::State;
use crate::verdict::ControlKind;

/// A path a row; `{canary}` in it is a name that is a secret itself.
#[given("the user has the secrets")]
fn secrets(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    let rows = &step.table.as_ref().ok_or("no paths are written there")?.rows;
    if rows.iter().flatten().any(|path| path.starts_with("{repository}")) {
        home::provide_repositories(&scene.nonce).map_err(|e| format!("the repositories of {}: {e}", scene.nonce))?;
    }
    for row in rows {
        let path = row.first().ok_or("an empty row")?;
        let token = home::token().map_err(|e| e.to_string())?;
        let path = scene.expand(&path.replace("{canary}", &token))?;
        furnish(scene, Furnished::Secret(path.into()))?;
    }
    Ok(())
}

#[given(regex = r#"^"(.+)" is a link to "(.+)"$"#)]
fn link(scene: &mut Scene, path: String, target: String) -> StepResult {
    let link = Furnished::Link(scene.expand(&path)?.into(), scene.expand(&target)?.into());
    furnish(scene, link)
}

#[given(regex = r#"^nobody may open the folder "(.+)"$"#)]
fn closed(scene: &mut Scene, path: String) -> StepResult {
    let closed = Furnished::Closed(scene.expand(&path)?.into());
    furnish(scene, closed)
}

#[given(regex = r#"^a service of the host listens at "(.+)"$"#)]
fn service(scene: &mut Scene, path: String) -> StepResult {
    let path = scene.expand(&path)?;
    crate::lab::services::listen(Path::new(&path)).map_err(|e| format!("{path}: {e}"))
}

#[given(regex = r#"^"(.+)" may be (read|written)$"#)]
fn allowed(scene: &mut Scene, path: String, how: String) -> StepResult {
    let path = scene.expand_text(&path)?;
    scene.plan.allow_path(list(&how), &path);
    Ok(())
}

#[given(regex = r#"^"(.+)" may be (read|written) by this step$"#)]
fn allowed_to_step(scene: &mut Scene, path: String, how: String) -> StepResult {
    let path = scene.expand_text(&path)?;
    scene.plan.allow_path_of_step(list(&how), &path);
    Ok(())
}

#[given(regex = r#"^"(.+)" may be (read|written) by another step$"#)]
fn allowed_to_other(scene: &mut Scene, path: String, how: String) -> StepResult {
    let path = scene.expand_text(&path)?;
    let other = json!({"run": ["/bin/true"], "sandbox": {list(&how): [path]}});
    scene.plan.others.insert("another".to_owned(), other);
    Ok(())
}

#[when(regex = r#"^"(.+)" in the (artifacts|worktree) of that attempt may be (read|written) from then on$"#)]
fn allowed_from_then_on(scene: &mut Scene, path: String, place: String, how: String) -> StepResult {
    let repo = (place == "worktree").then_some("demo");
    let path = super::writes::folder(scene.last()?, repo)?.join(path);
    scene.plan.allow_path(list(&how), &path.display().to_string());
    Ok(())
}

/// What cannot be resolved may be refused; then the control alone tells that the danger was there.
#[given("the attempt may be refused")]
fn may_be_refused(scene: &mut Scene) {
    scene.refusal = Refusal::Answer;
}

#[when("the settings are validated")]
async fn validated(scene: &mut Scene) -> StepResult {
    let plan = scene.plan.clone();
    scene.said = Some(scene.validate(&plan).await?);
    Ok(())
}

#[then(regex = r#"^on the host, "(.+)" (is .+|holds .+|ends in .+)$"#)]
fn on_the_host(scene: &mut Scene, path: String, state: String) -> StepResult {
    let kept = Kept { repo: None, path: scene.expand(&path)?.into(), state: State::parse(&state)? };
    let (held, seen) = kept.state.judge(&kept.path);
    scene.found(held, seen);
    scene.kept = Some(kept);
    Ok(())
}

#[then("planted, without the setting it is not so")]
async fn planted_not_so(scene: &mut Scene) -> StepResult {
    let kept = scene.kept.clone().ok_or("no place was judged")?;
    restore(scene, &kept.path)?;
    let launch = scene.changed(crate::plan::Plan::forget_paths).await?;
    let (held, seen) = kept.state.judge(&kept.path);
    let shown = !held && launch.unfinished().is_none();
    scene.control(ControlKind::Planted, shown, format!("planted: {seen}; {}", launch.report.summary()));
    Ok(())
}

#[then("planted, without the setting no secret arrives")]
async fn planted_no_secret(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(crate::plan::Plan::forget_paths).await?;
    let (found, unfinished) = (super::secrets::secret(&launch), launch.unfinished());
    let seen = format!("planted: {found:?}; {}{}", launch.report.summary(), unfinished.as_deref().unwrap_or_default());
    scene.control(ControlKind::Planted, found.is_none() && unfinished.is_none(), seen);
    Ok(())
}

#[then(regex = r#"^it warns "([\w-]+)" of "(.+)"$"#)]
fn warns(scene: &mut Scene, code: String, path: String) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was validated")?;
    let (named, seen) = names(said, &code, &scene.expand_text(&path)?);
    scene.found(named, seen);
    scene.searched = Some(code);
    Ok(())
}

#[then(regex = r#"^planted, of "(.+)" it does not warn$"#)]
async fn planted_no_warning(scene: &mut Scene, path: String) -> StepResult {
    let (said, code) = validate_instead(scene, &path).await?;
    let (named, seen) = names(&said, &code, &scene.expand_text(&path)?);
    scene.control(ControlKind::Planted, !named && looked(&said), format!("planted: {seen}"));
    Ok(())
}

#[then(regex = r#"^it does not warn "(\w+)" of "(.+)"$"#)]
fn does_not_warn(scene: &mut Scene, code: String, path: String) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was validated")?;
    let (named, seen) = names(said, &code, &scene.expand_text(&path)?);
    scene.found(!named && looked(said), seen);
    scene.searched = Some(code);
    Ok(())
}

#[then(regex = r#"^planted, of "(.+)" it warns$"#)]
async fn planted_warning(scene: &mut Scene, path: String) -> StepResult {
    let (said, code) = validate_instead(scene, &path).await?;
    let (named, seen) = names(&said, &code, &scene.expand_text(&path)?);
    scene.control(ControlKind::Planted, named, format!("planted: {seen}"));
    Ok(())
}

#[then(regex = r"^planted, with network (\w+) it does not warn so$")]
async fn planted_network(scene: &mut Scene, network: String) -> StepResult {
    let (code, mut plan) = (scene.searched.clone().ok_or("no warning was judged")?, scene.plan.clone());
    plan.block().insert("network".into(), network.into());
    let said = scene.validate(&plan).await?;
    let (named, seen) = names(&said, &code, "");
    scene.control(ControlKind::Planted, !named && looked(&said), format!("planted: {seen}"));
    Ok(())
}

#[then(regex = r#"^planted, with the command "(.+)" it warns$"#)]
async fn planted_command(scene: &mut Scene, words: String) -> StepResult {
    let (code, mut plan) = (scene.searched.clone().ok_or("no warning was judged")?, scene.plan.clone());
    plan.action = crate::plan::Action::Run(words.split(' ').map(str::to_owned).collect());
    let (named, seen) = names(&scene.validate(&plan).await?, &code, "");
    scene.control(ControlKind::Planted, named, format!("planted: {seen}"));
    Ok(())
}

/// What the factory says where this path is the only one that is allowed, and the code that was judged.
async fn validate_instead(scene: &mut Scene, path: &str) -> Result<(Launch, String), String> {
    let (path, code) = (scene.expand_text(path)?, scene.searched.clone().ok_or("no warning was judged")?);
    let mut plan = scene.plan.clone();
    plan.forget_paths();
    plan.allow_path("allow_read", &path);
    Ok((scene.validate(&plan).await?, code))
}

/// 0 = fine, 1 = findings: of something else, such as a part of the host that is missing.
fn looked(said: &Launch) -> bool {
    said.exit.is_some_and(|code| code == 0 || code == 1)
}

fn list(how: &str) -> &'static str {
    if how == "read" { "allow_read" } else { "allow_write" }
}

/// Whether the output has a code and a path, and what it is.
fn names(said: &Launch, code: &str, path: &str) -> (bool, String) {
    let output = said.output();
    let held = output.contains(code) && output.contains(path) && !said.timed_out;
    (held, format!("exit {:?}: {}", said.exit, crate::text::line(output.as_bytes(), 400)))
}

pub(super) fn furnish(scene: &mut Scene, what: Furnished) -> StepResult {
    what.make().map_err(|e| format!("{what:?}: {e}"))?;
    scene.furnished.push(what);
    Ok(())
}

/// As it was before the first launch: what was made is gone, what was changed or removed is there again.
pub(super) fn restore(scene: &Scene, judged: &Path) -> StepResult {
    let clear = |path: &PathBuf| match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(_) => Ok(()),
    };
    clear(&judged.to_owned()).map_err(|e| format!("{}: {e}", judged.display()))?;
    for what in &scene.furnished {
        what.make().map_err(|e| format!("{what:?}: {e}"))?;
    }
    Ok(())
}
