//! What a factory says of itself when one of its commands is asked.

use cucumber::{then, when};
use regex::Regex;

use super::StepResult;
use crate::launch::Launch;
use crate::plan::Plan;
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::ControlKind;

#[when(regex = r"^its (providers|doctor) (?:are|is) asked for$")]
async fn asked(scene: &mut Scene, name: String) -> StepResult {
    let plan = scene.plan.clone();
    scene.said = Some(scene.says(&name, &plan).await?);
    Ok(())
}

#[then(regex = r#"^it says of the capability "(\w+)" that it is "(\w+)"$"#)]
fn capability(scene: &mut Scene, name: String, state: String) -> StepResult {
    let (said, seen) = state_of(scene.said.as_ref().ok_or("nothing was asked")?, &name)?;
    scene.found(said.as_deref() == Some(&state), seen);
    Ok(())
}

#[then(regex = r#"^planted, with network (\w+) it says of the capability "(\w+)" that it is "(\w+)"$"#)]
async fn planted_capability(scene: &mut Scene, network: String, name: String, state: String) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.block().insert("network".into(), network.into());
    let (said, seen) = state_of(&scene.says("providers", &plan).await?, &name)?;
    scene.control(ControlKind::Planted, said.as_deref() == Some(&state), format!("planted: {seen}"));
    Ok(())
}

/// The word that stands behind each mention of a capability, if it is the same everywhere.
fn state_of(said: &Launch, name: &str) -> Result<(Option<String>, String), String> {
    let output = said.output();
    let pattern = Regex::new(&format!(r"\b{name}\W+((?:not_)?supported)\b")).map_err(|e| e.to_string())?;
    let mut words: Vec<&str> = pattern.captures_iter(&output).filter_map(|c| c.get(1)).map(|m| m.as_str()).collect();
    words.dedup();
    let one = (words.len() == 1).then(|| words[0].to_owned());
    Ok((one, format!("exit {:?}: {}", said.exit, line(output.as_bytes(), 400))))
}

#[then(regex = r#"^the doctor says that "(P\d)" holds$"#)]
fn probe_holds(scene: &mut Scene, id: String) -> StepResult {
    let (ok, seen) = probe(scene.said.as_ref().ok_or("nothing was asked")?, &id);
    scene.found(ok == Some(true), seen);
    Ok(())
}

#[then(regex = r#"^planted, with the host "(.+)" alone allowed the doctor says that "(P\d)" does not hold$"#)]
async fn planted_probe(scene: &mut Scene, host: String, id: String) -> StepResult {
    let only = |plan: &mut Plan| {
        plan.egress().insert("allow".into(), serde_json::json!([host]));
    };
    let mut plan = scene.plan.clone();
    only(&mut plan);
    let (ok, seen) = probe(&scene.says("doctor", &plan).await?, &id);
    scene.control(ControlKind::Planted, ok == Some(false), format!("planted: {seen}"));
    Ok(())
}

/// What a line that begins with the probe's id says: `ok`, or anything else.
fn probe(said: &Launch, id: &str) -> (Option<bool>, String) {
    let output = said.output();
    let row = output.lines().find(|line| line.split_whitespace().next() == Some(id));
    let ok = row.map(|row| row.split_whitespace().nth(1).is_some_and(|word| word.trim_end_matches(':') == "ok"));
    (ok, format!("exit {:?}: {}", said.exit, row.unwrap_or("no such line")))
}

#[then(regex = r#"^the doctor says "(.+)" in one line with "(.+)"$"#)]
fn line_with(scene: &mut Scene, one: String, other: String) -> StepResult {
    let said = scene.said.as_ref().ok_or("nothing was asked")?;
    let held = has_both(said, &one, &other);
    let seen = format!("exit {:?}: {}", said.exit, line(said.output().as_bytes(), 800));
    scene.found(held, seen);
    scene.words = one;
    Ok(())
}

#[then(regex = r#"^planted, without that it is not said$"#)]
async fn planted_unsaid(scene: &mut Scene) -> StepResult {
    let mut plan = scene.plan.clone();
    plan.egress().remove("allow");
    plan.step_sandbox = None;
    plan.step_keys.clear();
    plan.block().insert("mode".into(), "off".into());
    let said = scene.says("doctor", &plan).await?;
    let words = scene.words.clone();
    let has_step = said.output().lines().any(|line| line.trim_start().starts_with("probe:"));
    let shown = has_step && !said.timed_out && !said.output().contains(&words);
    scene.control(ControlKind::Planted, shown, format!("planted: {}", line(said.output().as_bytes(), 400)));
    Ok(())
}

fn has_both(said: &Launch, one: &str, other: &str) -> bool {
    said.output().lines().any(|line| line.contains(one) && line.contains(other))
}
