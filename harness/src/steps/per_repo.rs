//! Steps that have an attempt for each of their repos. Each attempt executes the same command, which is told where it is by
//! shell variables: `$other` is the worktree of the other repo, `$repository` that repository, `$artifacts` and
//! `$other_artifacts` what the attempts keep.

use std::path::{Path, PathBuf};

use cucumber::{given, then, when};

use super::StepResult;
use super::secrets::{secret, token};
use crate::driver::Templates;
use crate::lab::home;
use crate::launch::{Launch, shell};
use crate::plan::{Action, Plan};
use crate::scene::{Refusal, Scene};
use crate::state::State;
use crate::text::line;
use crate::verdict::ControlKind;

/// `extra, demo` or `demo (off), extra (required)`.
#[given(regex = r#"^each of the repos "(.+)" has an attempt of its own$"#)]
fn per_repo(scene: &mut Scene, words: String) {
    let repo = |word: &str| match word.trim().split_once(' ') {
        Some((name, says)) => (name.to_owned(), Some(says.trim_matches(['(', ')']).to_owned())),
        None => (word.trim().to_owned(), None),
    };
    scene.plan.repos = words.split(',').map(repo).collect();
    scene.plan.step_keys.insert(KEY.to_owned(), true.into());
}

const KEY: &str = "per_repo";

#[when(regex = r#"(?s)^each attempt runs the shell command "(.*)"$"#)]
async fn each_runs(scene: &mut Scene, command: String) -> StepResult {
    scene.words = command;
    let plan = scene.plan.clone();
    scene.plan.action = Action::Run(command_of(scene, &plan)?);
    scene.run().await
}

/// The same, where whether an attempt ran is judged by what it leaves.
#[when(regex = r#"(?s)^each attempt runs the shell command "(.*)", or none is run$"#)]
async fn each_runs_or_none(scene: &mut Scene, command: String) -> StepResult {
    scene.refusal = Refusal::Marked;
    each_runs(scene, command).await
}

#[then(regex = r#"^in the worktree of each attempt, "(.+)" (is .+|holds .+|ends in .+)$"#)]
fn in_each(scene: &mut Scene, path: String, state: String) -> StepResult {
    let state = State::parse(&state)?;
    for (repo, _) in scene.plan.repos.clone() {
        let (held, seen) = state.judge(&worktree(scene.last()?, &repo, true)?.join(&path));
        scene.found(held, format!("{repo}: {seen}"));
    }
    Ok(())
}

#[then(regex = r#"^in the worktree of the attempt of "(\w+)", "(.+)" (is .+|holds .+|ends in .+)$"#)]
fn in_one(scene: &mut Scene, repo: String, path: String, state: String) -> StepResult {
    let (held, seen) = State::parse(&state)?.judge(&worktree(scene.last()?, &repo, true)?.join(&path));
    scene.found(held, format!("{repo}: {seen}"));
    Ok(())
}

#[then(regex = r#"^no attempt has left "(.+)"$"#)]
fn none_left(scene: &mut Scene, path: String) -> StepResult {
    for (repo, _) in scene.plan.repos.clone() {
        let there = worktree(scene.last()?, &repo, true)?.join(&path).exists();
        scene.found_certain(!there, format!("{repo}: {}", if there { "it is there" } else { "it is not there" }));
    }
    Ok(())
}

#[then("no attempt has a worktree of the other repo")]
fn none_beside(scene: &mut Scene) -> StepResult {
    let repos: Vec<String> = scene.plan.repos.iter().map(|(name, _)| name.clone()).collect();
    for (repo, other) in repos.iter().flat_map(|repo| repos.iter().map(move |other| (repo, other))) {
        if repo != other {
            let manifest = &Scene::context()?.manifest;
            let of_repo = manifest.of_repo(&scene.last()?.templates, repo, true)?;
            let beside = PathBuf::from(of_repo.with("repo", other).render(manifest.worktree())?);
            let there = beside.join(".git").exists();
            scene.found_certain(
                !there,
                format!("{repo}: {} is {}", beside.display(), if there { "there" } else { "not there" }),
            );
        }
    }
    Ok(())
}

#[then("planted, with one attempt for all there is one")]
async fn planted_beside(scene: &mut Scene) -> StepResult {
    let launch = one_for_all(scene).await?;
    let each = scene.plan.repos.iter().map(|(repo, _)| Ok(worktree(&launch, repo, false)?.join(".git").exists()));
    let all = each.collect::<Result<Vec<bool>, String>>()?.into_iter().all(|there| there);
    scene.control(ControlKind::Planted, all, format!("one attempt for all: the worktrees of all are there: {all}"));
    Ok(())
}

/// By the secret of the home in a file that the attempt has left.
#[then(regex = r#"^the attempt of "(\w+)" ran (free|confined), by its "(.+)"$"#)]
fn ran(scene: &mut Scene, repo: String, how: String, path: String) -> StepResult {
    let (held, seen) = is_so(&worktree(scene.last()?, &repo, true)?.join(path), &how);
    scene.found(held, format!("{repo}: {seen}"));
    Ok(())
}

/// In the last of them: what an attempt of its own could not see, is then beside it.
#[then(
    regex = r#"^planted, with one attempt for all, in the worktree of "(\w+)", "(.+)" (is .+|holds .+|ends in .+)$"#
)]
async fn planted_state(scene: &mut Scene, repo: String, path: String, state: String) -> StepResult {
    let launch = one_for_all(scene).await?;
    let (held, seen) = State::parse(&state)?.judge(&worktree(&launch, &repo, false)?.join(path));
    scene.control(ControlKind::Planted, held, format!("one attempt for all, {repo}: {seen}"));
    Ok(())
}

#[then("planted, with one attempt for all the secret arrives")]
async fn planted_secret(scene: &mut Scene) -> StepResult {
    let launch = one_for_all(scene).await?;
    let found = secret(&launch);
    let seen = found.clone().unwrap_or_else(|| format!("no secret: {}", line(launch.output().as_bytes(), 200)));
    scene.control(ControlKind::Planted, found.is_some(), format!("one attempt for all: {seen}"));
    Ok(())
}

#[then(regex = r#"^planted, with one attempt for all it runs (free|confined), by its "(.+)"$"#)]
async fn planted_mode(scene: &mut Scene, how: String, path: String) -> StepResult {
    let launch = one_for_all(scene).await?;
    let first = scene.plan.repos.last().map(|(name, _)| name.clone()).unwrap_or_default();
    let (held, seen) = is_so(&worktree(&launch, &first, false)?.join(path), &how);
    scene.control(ControlKind::Planted, held, format!("one attempt for all: {seen}"));
    Ok(())
}

#[then(regex = r#"^planted, without the repo's own word the attempt of "(\w+)" leaves "(.+)"$"#)]
async fn planted_word(scene: &mut Scene, repo: String, path: String) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.repos.iter_mut().for_each(|(_, says)| *says = None);
    plan.action = Action::Run(command_of(scene, &plan)?);
    let launch = scene.again(&plan).await?;
    let there = worktree(&launch, &repo, true)?.join(&path).exists();
    scene.control(ControlKind::Planted, there, format!("exit {:?}, {path} is there: {there}", launch.exit));
    Ok(())
}

#[then(regex = r"^planted, where all end with 0 it ends with 0$")]
async fn planted_fine(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(|plan| plan.action = Action::Run(vec!["/bin/true".to_owned()])).await?;
    scene.control(ControlKind::Planted, launch.exit == Some(0), format!("exit {:?}", launch.exit));
    Ok(())
}

async fn one_for_all(scene: &mut Scene) -> Result<Launch, String> {
    let mut plan = scene.plan.clone();
    plan.step_keys.remove(KEY);
    plan.repos.reverse();
    plan.action = Action::Run(command_of(scene, &plan)?);
    scene.again(&plan).await
}

/// The command with its variables, for the next attempt of a plan.
fn command_of(scene: &Scene, plan: &Plan) -> Result<Vec<String>, String> {
    let manifest = &Scene::context()?.manifest;
    let templates = Scene::launcher()?.templates(plan, &scene.nonce, scene.attempts + 1)?;
    let has_its_own = plan.step_keys.contains_key(KEY);
    let place = |repo: &str| -> Result<[String; 2], String> {
        let templates: Templates = manifest.of_repo(&templates, repo, has_its_own)?;
        Ok([templates.render("{{worktree}}")?, templates.render(&manifest.observe.artifacts)?])
    };
    let mut text = String::from("case $PWD in\n");
    for (repo, _) in &plan.repos {
        let others = plan.repos.iter().map(|(name, _)| name).find(|name| *name != repo);
        let other = others.ok_or("a step with one repo has no other")?;
        let ([own, artifacts], [beside, kept]) = (place(repo)?, place(other)?);
        let repository = home::repository_of(&scene.nonce, other);
        text += &format!(
            "{own}) repo={repo} other={beside} artifacts={artifacts} other_artifacts={kept} repository={} ;;\n",
            repository.display()
        );
    }
    let command = scene.expand_text(&scene.words)?.replace("~/", &format!("{}/", crate::lab::HOME));
    Ok(shell(&format!("{text}*) echo \"nobody knows $PWD\"; exit 9 ;;\nesac\n{command}")))
}

fn worktree(launch: &Launch, repo: &str, has_its_own: bool) -> Result<PathBuf, String> {
    let manifest = &Scene::context()?.manifest;
    manifest.of_repo(&launch.templates, repo, has_its_own)?.render("{{worktree}}").map(PathBuf::from)
}

/// Whether a file says that its attempt ran so: it holds a secret or none, and it is there.
fn is_so(path: &Path, how: &str) -> (bool, String) {
    match std::fs::read_to_string(path) {
        Err(e) => (false, format!("{}: {e}", path.display())),
        Ok(text) => {
            let free = token(&text).is_some();
            (free == (how == "free"), if free { "it ran free".to_owned() } else { "it ran confined".to_owned() })
        }
    }
}
