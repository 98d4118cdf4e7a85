//! Then: where in the world, and in the attempt's folder, an API key is.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use cucumber::then;
use serde_json::json;

use super::StepResult;
use super::arriving::told;
use super::conversing::{answers, words};
use crate::lab::world::journal::Arrival;
use crate::launch::{Launch, shell};
use crate::plan::{Action, Plan};
use crate::scene::{Scene, addresses};
use crate::verdict::ControlKind;

/// The bodies of requests inside TLS are not kept; their heads are.
#[then(regex = r#"^the key arrives at "(.+)" alone$"#)]
async fn alone(scene: &mut Scene, name: String) -> StepResult {
    at_alone(scene, 0, &name).await
}

#[then(regex = r#"^the other key arrives at "(.+)" alone$"#)]
async fn other_alone(scene: &mut Scene, name: String) -> StepResult {
    at_alone(scene, 1, &name).await
}

async fn at_alone(scene: &mut Scene, which: usize, name: &str) -> StepResult {
    let (name, seen) = (scene.expand_text(name)?, scene.seen().await?);
    let key = scene.keys.get(which).ok_or("there is no such key")?;
    let own = addresses(&name);
    let strange = elsewhere(&seen.world.arrivals, key, &own);
    let places = elsewhere(&seen.world.arrivals, key, &[]);
    let told = format!("the key arrived at {places:?}; {name} is {own:?}; {}", scene.last()?.report.summary());
    scene.found_certain(strange.is_empty(), told.clone());
    scene.found(!places.is_empty(), told);
    Ok(())
}

/// The key as a word of the step's own, which it sends to a host that is not its provider.
#[then("planted, a key that goes elsewhere is noticed")]
async fn planted_elsewhere(scene: &mut Scene) -> StepResult {
    let key = scene.keys.first().cloned().ok_or("there is no key")?;
    let host = format!("{}.echo.test", scene.nonce);
    let text = format!("GET http://{host}/planted HTTP/1.1\nHost: {host}\nx-api-key: {key}\nConnection: close\n");
    let command = [scene.probe("converse proxy")?, words(scene, &text)?].concat();
    let change = |plan: &mut Plan| {
        plan.forget_keys();
        plan.allow(&host);
        plan.action = Action::Run(command);
    };
    let launch = scene.changed(change).await?;
    let seen = scene.seen_now().await?;
    let strange = elsewhere(&seen.world.arrivals, &key, &[]);
    let shown = strange.iter().any(|place| addresses(&host).contains(place)) && launch.unfinished().is_none();
    scene.control(ControlKind::Planted, shown, format!("planted: the key arrived at {strange:?}"));
    Ok(())
}

#[then("the key arrives nowhere")]
async fn nowhere(scene: &mut Scene) -> StepResult {
    let seen = scene.seen().await?;
    let key = scene.keys.first().ok_or("there is no key")?;
    let places = elsewhere(&seen.world.arrivals, key, &[]);
    scene.found_certain(places.is_empty(), format!("the key arrived at {places:?}"));
    Ok(())
}

#[then(regex = r#"^nobody is called at "(.+)"$"#)]
async fn nobody(scene: &mut Scene, name: String) -> StepResult {
    let name = scene.expand_text(&name)?;
    let count = scene.seen().await?.connections(&name);
    scene.found_certain(count == 0, format!("{count} connections at {name}; {}", scene.last()?.report.summary()));
    Ok(())
}

#[then(regex = r#"^a request for "(.+)" arrives at "(.+)" without the key$"#)]
async fn without(scene: &mut Scene, path: String, name: String) -> StepResult {
    let (name, seen) = (scene.expand_text(&name)?, scene.seen().await?);
    let heads: Vec<&str> = seen.requests(&name).into_iter().filter(|head| path_of(head) == path).collect();
    let leaks = heads.iter().any(|head| scene.keys.iter().any(|key| head.contains(key)));
    scene.found_certain(!leaks, format!("requests for {path}: {}", told(&heads)));
    scene.found(!heads.is_empty(), format!("{} requests for {path} at {name}", heads.len()));
    Ok(())
}

/// `one` = and no other of that name.
#[then(regex = r#"^every request to "(.+)" has (a|one) header "(.+)", with "(.+)"$"#)]
async fn has_header(scene: &mut Scene, name: String, many: String, header: String, value: String) -> StepResult {
    let (name, value, seen) = (scene.expand_text(&name)?, scene.expand_text(&value)?, scene.seen().await?);
    let heads = seen.requests(&name);
    let has = |head: &&str| {
        let values = values(head, &header);
        values.contains(&value.as_str()) && (many == "a" || values.len() == 1)
    };
    let held = !heads.is_empty() && heads.iter().all(has);
    scene.found(held, format!("requests at {name}: {}", told(&heads)));
    Ok(())
}

/// The same bytes go to the provider itself, in the clear.
#[then(regex = r#"^bare, sent to "(.+)" itself, the same has "(.+)"$"#)]
async fn bare_has(scene: &mut Scene, name: String, words: String) -> StepResult {
    let (name, words) = (scene.expand_text(&name)?, scene.expand_text(&words)?);
    let before = scene.seen_now().await?.requests(&name).len();
    let mut command: Vec<String> = ["/usr/bin/env", &format!("API_URL=http://{name}")].map(str::to_owned).into();
    command.extend(scene.command()?);
    let bare = scene.bare(&command).await?;
    let seen = scene.seen_now().await?;
    let heads: Vec<&str> = seen.requests(&name).into_iter().skip(before).collect();
    let shown = heads.iter().any(|head| head.to_ascii_lowercase().contains(&words.to_ascii_lowercase()))
        || bare.output().contains(&words);
    scene.control(ControlKind::Bare, shown, format!("bare: {}; {}", told(&heads), answers(&bare)));
    Ok(())
}

#[then("no file of the attempt holds the key")]
fn no_file(scene: &mut Scene) -> StepResult {
    let (files, with_key) = searched(scene, scene.last()?)?;
    scene.found_certain(with_key.is_empty(), format!("{files} files; with the key: {with_key:?}"));
    scene.found(files > 0, format!("{files} files of the attempt"));
    Ok(())
}

#[then("planted, one that does is noticed")]
async fn planted_file(scene: &mut Scene) -> StepResult {
    let key = scene.keys.first().cloned().ok_or("there is no key")?;
    let change = |plan: &mut Plan| {
        plan.env.insert("PLANTED".into(), json!(key));
        plan.action = Action::Run(shell("printf %s \"$PLANTED\" >planted"));
    };
    let launch = scene.changed(change).await?;
    let (_, with_key) = searched(scene, &launch)?;
    scene.control(ControlKind::Planted, !with_key.is_empty(), format!("planted: {with_key:?}"));
    Ok(())
}

/// How many files an attempt's folder has, and which of them hold a key. Links are not followed.
fn searched(scene: &Scene, launch: &Launch) -> Result<(usize, Vec<PathBuf>), String> {
    let root = PathBuf::from(launch.templates.render("{{attempt_dir}}")?);
    let (mut files, mut found) = (0, Vec::new());
    let mut waiting = vec![root];
    while let Some(path) = waiting.pop() {
        let meta = path.symlink_metadata().map_err(|e| format!("{}: {e}", path.display()))?;
        if meta.is_dir() {
            let entries = fs::read_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            waiting.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        } else if meta.is_file() {
            files += 1;
            found.extend(file_has_key(scene, &path)?.then_some(path));
        }
    }
    Ok((files, found))
}

fn file_has_key(scene: &Scene, path: &Path) -> Result<bool, String> {
    let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let holds = |key: &String| bytes.windows(key.len()).any(|part| part == key.as_bytes());
    Ok(scene.keys.iter().any(holds))
}

/// Where a key arrived, but for these addresses.
fn elsewhere(arrivals: &[Arrival], key: &str, own: &[IpAddr]) -> Vec<IpAddr> {
    let with_key = arrivals.iter().filter(|arrival| arrival.has(key));
    with_key.map(|arrival| arrival.to.ip()).filter(|place| !own.contains(place)).collect()
}

fn path_of(head: &str) -> &str {
    head.split_whitespace().nth(1).unwrap_or_default()
}

/// The values of all headers of that name.
pub fn values<'a>(head: &'a str, name: &str) -> Vec<&'a str> {
    let fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.filter(|(own, _)| own.trim().eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).collect()
}
