//! Given: API keys that are kept outside, and added by the proxy to what goes to their provider.

use cucumber::{gherkin, given, then, when};
use serde_json::{Value, json};

use super::StepResult;
use super::commands::unsaid;
use super::conversing::{answers, words};
use crate::lab::home;
use crate::launch::Launch;
use crate::plan::{Action, Plan, Whose};
use crate::scene::Scene;
use crate::verdict::ControlKind;

/// How every key begins: what searches for keys inside must not know one.
const BEGINS: &str = "lab-key-";

/// What stands inside in a key's place.
const PLACEHOLDER: &str = "factory-egress-placeholder";

/// `API_URL` gets the local address and `API_KEY` the placeholder, or those that begin with another word.
#[given(
    regex = r#"^a key for "(https?://[^"]+)" is injected(?: as "([^"]+)")?(?: in the header "([^"]+)")?( for the step| for the step that waits| for the step beside it)?$"#
)]
async fn injected(scene: &mut Scene, upstream: String, name: String, header: String, whose: String) -> StepResult {
    let name = if name.is_empty() { "API".to_owned() } else { scene.expand_text(&name)? };
    let (header, format) = header.split_once(": ").unwrap_or(("x-api-key", "{}"));
    let secret = format!("{name}-{}-{}", scene.nonce, scene.keys.len());
    let entry = json!({
        "name": name.to_ascii_lowercase(),
        "upstream": scene.expand_text(&upstream)?,
        "header": header,
        "format": format,
        "base_url_env": format!("{name}_URL"),
        "key_env": format!("{name}_KEY"),
        "secret": secret,
    });
    let whose = match whose.as_str() {
        "" => Whose::Factory,
        " for the step beside it" => Whose::Beside,
        _ => Whose::Step,
    };
    scene.plan.inject(whose, entry);
    let key = home::random(BEGINS).map_err(|e| e.to_string())?;
    scene.keep_key(&secret, &key).await
}

/// The factory knows by itself what the provider of its agents takes.
#[given(regex = r#"^the provider's key is injected from the secret "(\w+)"$"#)]
async fn of_provider(scene: &mut Scene, secret: String) -> StepResult {
    scene.plan.egress().insert("inject".into(), json!("provider"));
    let new = home::random(BEGINS).map_err(|e| e.to_string())?;
    scene.keep_key(&secret, PROVIDERS.get_or_init(|| new)).await
}

/// Scenarios share the name of its secret, and so the key.
static PROVIDERS: std::sync::OnceLock<String> = std::sync::OnceLock::new();

#[given(regex = r#"^its base path is "(/[^"]*)"$"#)]
fn base_path(scene: &mut Scene, path: String) {
    for entry in scene.plan.egress().get_mut("inject").and_then(Value::as_array_mut).into_iter().flatten() {
        entry["base_path"] = json!(path);
    }
}

/// A request that gets the key outside comes first, so that whoever adds it has it.
#[when(regex = r#"^after a request to its "(\w+)", the step runs the shell command "(.+)"$"#)]
async fn after_request(scene: &mut Scene, variable: String, command: String) -> StepResult {
    scene.words = format!("{}; {command}", request(scene, &variable, "/first")?);
    scene.plan.action = Action::Run(scene.shell(&scene.words)?);
    scene.run().await
}

/// Two requests, each on a connection of its own: an ordinary one, and what is written there.
#[when(regex = r#"^after a request to its "(\w+)", the step sends there$"#)]
async fn sends_after(scene: &mut Scene, step: &gherkin::Step, variable: String) -> StepResult {
    let odd = step.docstring.as_deref().ok_or("nothing to send is written there")?;
    let there = format!("url:{variable}");
    let first = scene.probe(&format!("converse {there}"))?;
    let second = ["+", "converse", &there].map(str::to_owned).to_vec();
    let command = [first, words(scene, &ordinary("/first"))?, second, words(scene, odd)?].concat();
    scene.plan.action = Action::Run(command);
    scene.run().await
}

/// Of two steps, each sends its own request; where a step has no such address, by the proxy.
#[when(
    regex = r#"^while a step that has asked its "(\w+)" waits, the step beside it (asks its own|asks the proxy for ".+"|runs ".+")$"#
)]
async fn while_other(scene: &mut Scene, variable: String, what: String) -> StepResult {
    let first = format!("{}; {}; true", request(scene, &variable, "/first")?, crate::waiting::WAITS);
    let quoted = what.split('"').nth(1);
    let second = match (what.split_whitespace().next(), quoted) {
        (Some("asks"), None) => request(scene, &variable, "/second")?,
        (Some("asks"), Some(url)) => {
            let host = url.trim_start_matches("http://").split('/').next().unwrap_or_default();
            let text = format!("GET {url} HTTP/1.1\nHost: {host}\nx-api-key: {PLACEHOLDER}\nConnection: close\n");
            format!("tools/probe converse proxy '{}'", words(scene, &text)?.join("' '"))
        }
        (_, command) => command.unwrap_or_default().to_owned(),
    };
    let (first, second) = (scene.shell(&first)?, scene.shell(&format!("{second}; true"))?);
    scene.run_while(first, second).await
}

/// Two attempts of one served factory, each with another of the two keys that are injected for steps.
#[when(regex = r#"^on one serve, while a step that has asked its "(\w+)" waits, the step beside it asks its own$"#)]
async fn on_one_serve(scene: &mut Scene, variable: String) -> StepResult {
    let first = format!("{}; {}", request(scene, &variable, "/first")?, crate::waiting::WAITS);
    let (first, second) = (scene.shell(&first)?, scene.shell(&request(scene, &variable, "/second")?)?);
    let plans = scene.two(first, second);
    scene.on_one_serve(plans, false).await
}

/// The shell's words for a request to a local address.
fn request(scene: &Scene, variable: &str, path: &str) -> Result<String, String> {
    Ok(format!("tools/probe converse url:{variable} '{}'", words(scene, &ordinary(path))?.join("' '")))
}

fn ordinary(path: &str) -> String {
    format!("GET {{base}}{path} HTTP/1.1\nHost: {{authority}}\nConnection: close\n")
}

#[then("the key does not arrive")]
fn no_key(scene: &mut Scene) -> StepResult {
    let found = scene.launches.iter().any(|launch| holds(scene, launch));
    let seen = format!("a key in what was printed: {found}; {}", scene.last()?.report.summary());
    scene.found_certain(!found, seen);
    Ok(())
}

#[then("planted, as a variable of the step's own it does")]
async fn planted_variable(scene: &mut Scene) -> StepResult {
    let launch = planted(scene, None).await?;
    scene.control(ControlKind::Planted, holds(scene, &launch), format!("planted: {}", answers(&launch)));
    Ok(())
}

#[then(regex = r"^planted, in (a file of (\S+)|the argv of a process) it does$")]
async fn planted_there(scene: &mut Scene, place: String, folder: String) -> StepResult {
    let before = match place.as_str() {
        "the argv of a process" => "sh -c 'sleep 5; :' \"$PLANTED\" &".to_owned(),
        _ => format!("printf %s \"$PLANTED\" >{folder}/planted;"),
    };
    let command = scene.shell(&format!("{before} {}", scene.words))?;
    let launch = planted(scene, Some(command)).await?;
    scene.control(ControlKind::Planted, holds(scene, &launch), format!("planted: {}", answers(&launch)));
    Ok(())
}

/// The same with the first key as a variable of the step's own.
async fn planted(scene: &mut Scene, command: Option<Vec<String>>) -> Result<Launch, String> {
    let key = scene.keys.first().cloned().ok_or("there is no key")?;
    let change = |plan: &mut Plan| {
        plan.env.insert("PLANTED".into(), json!(key));
        plan.action = command.map_or_else(|| plan.action.clone(), Action::Run);
    };
    scene.changed(change).await
}

fn holds(scene: &Scene, launch: &Launch) -> bool {
    let output = launch.output();
    scene.keys.iter().any(|key| output.contains(key))
}

#[then(regex = r#"^planted, with nothing (injected|of its own) "([^"]+)" is not set$"#)]
async fn planted_nothing(scene: &mut Scene, what: String, variable: String) -> StepResult {
    let change = |plan: &mut Plan| if what == "injected" { plan.forget_keys() } else { plan.env.clear() };
    let launch = scene.changed(change).await?;
    let vars = launch.report.lines.first().map(|line| line.detail["vars"].clone()).unwrap_or_default();
    let shown = vars.is_object() && vars.get(&variable).is_none_or(Value::is_null);
    scene.control(ControlKind::Planted, shown, format!("planted: {vars}"));
    Ok(())
}

/// Then there is nobody to ask, and the step says so.
#[then("planted, with nothing injected the same is not answered")]
async fn planted_unanswered(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(Plan::forget_keys).await?;
    let shown = launch.unfinished().is_none() && !launch.output().contains("kusaw-origin:");
    scene.control(ControlKind::Planted, shown, format!("planted: {}", answers(&launch)));
    Ok(())
}

#[then(regex = r#"^the variable "(\w+)" is a local address$"#)]
fn is_local(scene: &mut Scene, variable: String) -> StepResult {
    let line = scene.last()?.report.lines.first().ok_or("nothing was reported")?;
    let value = line.detail["vars"][&variable].as_str().unwrap_or_default().to_owned();
    let places = ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"];
    scene.found(places.iter().any(|place| value.starts_with(place)), format!("{variable} = {value:?}"));
    Ok(())
}

#[then("the doctor says nothing of the key")]
fn no_key_said(scene: &mut Scene) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was asked")?;
    let held = !holds(scene, said) && said.exit.is_some();
    let seen = format!("exit {:?}: {}", said.exit, crate::text::line(said.output().as_bytes(), 400));
    scene.found_certain(held, seen);
    Ok(())
}

#[then("planted, with nothing injected it is not said")]
async fn planted_unnamed(scene: &mut Scene) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.forget_keys();
    unsaid(scene, &plan).await
}

impl Scene {
    /// Has the factory keep an API key in its store.
    pub(super) async fn keep_key(&mut self, secret: &str, key: &str) -> StepResult {
        self.keys.push(key.to_owned());
        let plan = Plan { secret: secret.to_owned(), stdin: key.as_bytes().to_vec(), ..self.plan.clone() };
        let said = self.says("secret", &plan).await?;
        match said.exit {
            Some(0) => Ok(()),
            exit => Err(format!("the key could not be kept: exit {exit:?}: {}", said.output().trim())),
        }
    }
}
