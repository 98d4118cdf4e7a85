//! Given, When, Then: a real agent whose model a scenario scripts. What the model saw is judged from what arrived at its provider,
//! what its tools wrote from the host.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cucumber::{gherkin, given, then, when};
use serde_json::Value;

use super::StepResult;
use super::arriving::told;
use super::bystander::harm;
use super::git::{config, judge_config};
use super::keyed::values;
use super::writes::victim_as_it_was;
use crate::lab::world::model::ToolResult;
use crate::lab::{HOME, home, installed};
use crate::plan::Action;
use crate::scene::{AGENT, Conversation, Refusal, Scene, tool};
use crate::text::line;
use crate::verdict::ControlKind;

/// What an agent's own prompts would keep, they must not: only the sandbox is judged. A user's settings can say so, those of a
/// project cannot.
const PERMISSIONS: &str = r#"{"permissions":{"defaultMode":"bypassPermissions"}}"#;

/// A start takes a second or two on an idle machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// What stands inside in a key's place.
const PLACEHOLDER: &str = "factory-egress-placeholder";

/// What the agent keeps lies in a folder of this scenario, or where it looks for it by itself, in the user's home.
#[given(
    regex = r"^the step is run by the real Claude Code, which asks for no permission( and keeps what it knows in the home)?$"
)]
fn real_agent(scene: &mut Scene, in_home: String) -> StepResult {
    let folder = scene.agents();
    let state = match scene.plan.home.as_deref().filter(|_| !in_home.is_empty()) {
        Some(home) => Path::new(home).join(".claude"),
        None => home::library(HOME, &scene.nonce).join("agent"),
    };
    let furnish = || {
        home::provide_repositories(&scene.nonce)?;
        installed::link(AGENT, Path::new(&folder))?;
        std::fs::create_dir_all(&state)?;
        std::fs::write(state.join("settings.json"), PERMISSIONS)
    };
    furnish().map_err(|e| format!("{folder}: {e}"))?;
    if in_home.is_empty() {
        scene.plan.variables.push(("CLAUDE_CONFIG_DIR".to_owned(), state.display().to_string()));
    }
    scene.plan.agents = Some(folder);
    scene.plan.action = Action::Provider("claude-code".to_owned(), scene.prompt()?);
    // Nothing but the conversation: no telemetry, no look for updates.
    scene.plan.env.insert("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC".into(), "1".into());
    scene.plan.caller.patience = Some(PATIENCE);
    Ok(())
}

/// A row is a tool, its object, and the text that it writes.
#[when("its model asks for")]
async fn asks_for(scene: &mut Scene, step: &gherkin::Step) -> StepResult {
    let rows = step.table.as_ref().map(|table| table.rows.clone()).ok_or("no tool is written there")?;
    let mut tools = Vec::new();
    let worktree = scene.next_worktree()?.display().to_string();
    for row in rows {
        let word =
            |word: &String| scene.expand(&word.replace("~/", &format!("{HOME}/")).replace("{worktree}", &worktree));
        let words = row.iter().map(word).collect::<Result<Vec<_>, _>>()?;
        let [name, what, text] = words.as_slice() else {
            return Err("a row is a tool, its object and a text".to_owned());
        };
        tools.push((name.clone(), tool(name, what, text)?));
    }
    scene.script(tools)?;
    scene.config = config(scene);
    scene.refusal = Refusal::Marked; // the conversation tells whether it ran
    scene.run().await?;
    scene.conversation = scene.conversed(scene.last()?)?;
    if let Some(why) = scene.conversation.unfinished() {
        scene.found(false, format!("the conversation did not come to its end: {why}"));
    }
    Ok(())
}

#[then("the model sees no secret")]
fn no_secret(scene: &mut Scene) -> StepResult {
    let conversation = &scene.conversation;
    scene.found_certain(!conversation.has_secret(), conversation.summary());
    Ok(())
}

/// Its own shell tells of ~/.bashrc unasked, which holds a secret as well.
#[then(regex = r#"^bare, each tool of the same model brings a secret of "(.+)"$"#)]
async fn bare_secret(scene: &mut Scene, path: String) -> StepResult {
    let secrets = home::secrets(Path::new(&scene.expand(&path)?)).map_err(|e| format!("{path}: {e}"))?;
    let bare = scene.bare_conversation().await?;
    let acts = bare.acts();
    let brings = |act: &ToolResult| secrets.iter().any(|secret| act.text.contains(secret));
    control(scene, !acts.is_empty() && acts.iter().all(brings), &bare, "");
    Ok(())
}

#[then(regex = r#"^its session is in "(.+)" afterwards, and "(.+)" has what it noted$"#)]
fn keeps_session(scene: &mut Scene, folder: String, file: String) -> StepResult {
    let (folder, file) = (scene.expand(&folder)?, scene.expand(&file)?);
    let sessions = sessions(scene, Path::new(&folder))?;
    let noted = std::fs::read_to_string(&file).ok().and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let keys = noted.as_ref().and_then(Value::as_object).map_or(0, serde_json::Map::len);
    scene.found(sessions == 1 && keys > 0, format!("{sessions} sessions in {folder}; {keys} keys in {file}"));
    Ok(())
}

#[then(regex = r#"^planted, with its folder elsewhere no session comes to "(.+)"$"#)]
async fn planted_elsewhere(scene: &mut Scene, folder: String) -> StepResult {
    let folder = scene.expand(&folder)?;
    let other = format!("{}/other", home::library(HOME, &scene.nonce).display());
    std::fs::create_dir(&other).map_err(|e| format!("{other}: {e}"))?;
    scene.begin()?;
    let elsewhere = ("CLAUDE_CONFIG_DIR".to_owned(), other);
    let launch = scene.changed(|plan| plan.variables.push(elsewhere)).await?;
    let unfinished = scene.conversed(&launch)?.unfinished();
    let sessions = sessions(scene, Path::new(&folder))?;
    let told = unfinished.clone().unwrap_or_default();
    let seen = format!("planted: {sessions} sessions in {folder}; {told}");
    scene.control(ControlKind::Planted, sessions == 1 && unfinished.is_none(), seen);
    Ok(())
}

/// How many files below a folder have the scenario's prompt, in lines of JSON as the agent keeps its sessions.
fn sessions(scene: &Scene, folder: &Path) -> Result<usize, String> {
    let (prompt, mut folders, mut count) = (scene.prompt()?, vec![folder.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            count += usize::from(path.extension().is_some_and(|end| end == "jsonl") && text.contains(&prompt));
            folders.extend(path.is_dir().then_some(path));
        }
    }
    Ok(count)
}

#[then("every tool fails but the first and the last")]
fn all_fail(scene: &mut Scene) -> StepResult {
    let acts = scene.conversation.acts();
    scene.found(!acts.is_empty() && acts.iter().all(|act| act.failed), scene.conversation.summary());
    Ok(())
}

#[then("bare, no tool of the same model fails")]
async fn bare_none_fails(scene: &mut Scene) -> StepResult {
    let bare = scene.bare_conversation().await?;
    let shown = bare.results().iter().all(|result| !result.failed);
    control(scene, shown, &bare, "");
    Ok(())
}

#[then("no tool fails")]
fn none_fails(scene: &mut Scene) -> StepResult {
    let results = scene.conversation.results();
    scene.found(!results.is_empty() && results.iter().all(|result| !result.failed), scene.conversation.summary());
    Ok(())
}

#[then("the model sees the placeholder, and the key nowhere")]
fn placeholder(scene: &mut Scene) -> StepResult {
    let key = scene.keys.first().ok_or("there is no key")?;
    let (key, there) = (scene.conversation.has(key), scene.conversation.has(PLACEHOLDER));
    let seen = format!("the key: {key}; the placeholder: {there}; {}", scene.conversation.summary());
    scene.found_certain(!key, seen.clone());
    scene.found(there, seen);
    Ok(())
}

#[then(regex = r#"^bare, the same model sees (its key|"[^"]+")$"#)]
async fn bare_word(scene: &mut Scene, what: String) -> StepResult {
    let bare = scene.bare_conversation().await?;
    let word = if what == "its key" { bare.key.clone() } else { scene.expand_text(what.trim_matches('"'))? };
    control(scene, bare.got(&word), &bare, "");
    Ok(())
}

#[then(regex = r#"^the model's tools leave no "(.+)"$"#)]
fn not_written(scene: &mut Scene, path: String) -> StepResult {
    let path = PathBuf::from(scene.expand(&path)?);
    let there = path.symlink_metadata().is_ok();
    scene.found_certain(!there, format!("{} is there: {there}; {}", path.display(), scene.conversation.summary()));
    Ok(())
}

#[then(regex = r#"^bare, the same model leaves "(.+)"$"#)]
async fn bare_written(scene: &mut Scene, path: String) -> StepResult {
    let path = PathBuf::from(scene.expand(&path)?);
    let bare = scene.bare_conversation().await?;
    let there = path.symlink_metadata().is_ok();
    control(scene, there, &bare, &format!("{} is there: {there}; ", path.display()));
    Ok(())
}

#[then("bare, the same model changes the user's file")]
async fn bare_changes(scene: &mut Scene) -> StepResult {
    let bare = scene.bare_conversation().await?;
    let (kept, seen) = victim_as_it_was(scene)?;
    control(scene, !kept, &bare, &seen);
    Ok(())
}

#[then("bare, the same model changes the repository's config")]
async fn bare_config(scene: &mut Scene) -> StepResult {
    let bare = scene.bare_conversation().await?;
    let (kept, seen) = judge_config(scene);
    control(scene, !kept, &bare, &format!("{seen}; "));
    Ok(())
}

#[then("bare, the same model does it harm")]
async fn bare_harms(scene: &mut Scene) -> StepResult {
    let bare = scene.bare_conversation().await?;
    let harm = harm(scene).await?;
    control(scene, harm.is_some(), &bare, &format!("{harm:?}; "));
    Ok(())
}

#[then(regex = r#"^every request of the model has one credential, (the key|"[^"]+")$"#)]
fn credentials(scene: &mut Scene, what: String) -> StepResult {
    let credential = match what.as_str() {
        "the key" => scene.keys.first().cloned().ok_or("there is no key")?,
        word => scene.expand_text(word.trim_matches('"'))?,
    };
    let heads: Vec<&str> = scene.conversation.told.iter().map(|told| told.head.as_str()).collect();
    let has =
        |head: &&str| ["x-api-key", "authorization"].map(|name| values(head, name)).concat() == [credential.as_str()];
    scene.found(!heads.is_empty() && heads.iter().all(has), format!("requests: {}", told(&heads)));
    Ok(())
}

#[then(regex = r#"^planted, without "(\w+)" the model is told nothing$"#)]
async fn planted_silence(scene: &mut Scene, variable: String) -> StepResult {
    scene.begin()?;
    let launch = scene.changed(|plan| drop(plan.env.remove(&variable))).await?;
    let told = scene.conversed(&launch)?.told.len();
    let ended = launch.exit.is_some_and(|exit| exit != 0);
    let seen = format!("planted: {told} requests; exit {:?}: {}", launch.exit, line(launch.output().as_bytes(), 200));
    scene.control(ControlKind::Planted, told == 0 && ended, seen);
    Ok(())
}

#[then(regex = r#"^the model sees "(.+)"$"#)]
fn sees(scene: &mut Scene, word: String) -> StepResult {
    let word = scene.expand_text(&word)?;
    scene.found(scene.conversation.got(&word), scene.conversation.summary());
    Ok(())
}

#[then(regex = r#"^bare, the same model does not see "(.+)"$"#)]
async fn bare_sees_not(scene: &mut Scene, word: String) -> StepResult {
    let bare = scene.bare_conversation().await?;
    control(scene, !bare.got(&word), &bare, "");
    Ok(())
}

#[then(regex = r#"^bare, the same model reaches "(.+)"$"#)]
async fn bare_reaches(scene: &mut Scene, name: String) -> StepResult {
    let name = scene.expand_text(&name)?;
    let before = scene.seen_now().await?.connections(&name);
    let bare = scene.bare_conversation().await?;
    let since = scene.seen_now().await?.connections(&name) - before;
    control(scene, since > 0, &bare, &format!("{since} connections at {name}; "));
    Ok(())
}

/// A control whose conversation did not come to its end shows nothing.
fn control(scene: &mut Scene, shown: bool, bare: &Conversation, seen: &str) {
    let unfinished = bare.unfinished();
    let told = unfinished.clone().unwrap_or_else(|| bare.summary());
    scene.control(ControlKind::Bare, shown && unfinished.is_none(), format!("bare: {seen}{told}"));
}
