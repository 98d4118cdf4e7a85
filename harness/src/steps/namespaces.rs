//! The namespaces and privileges of a step, beside those of its host.

use cucumber::then;

use super::StepResult;
use super::environment::detail;
use crate::launch::Launch;
use crate::scene::Scene;
use crate::verdict::ControlKind;

#[then(regex = r"^its (\w+) namespace is not the host's$")]
fn own_namespace(scene: &mut Scene, kind: String) -> StepResult {
    let (inside, host) = (of_step(scene.last()?, &kind), of_host(&kind)?);
    scene.found(inside.is_some_and(|n| n != host), shown(&kind, inside, host));
    Ok(())
}

#[then(regex = r"^bare, its (\w+) namespace is the host's$")]
async fn bare_namespace(scene: &mut Scene, kind: String) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let (inside, host) = (of_step(&bare, &kind), of_host(&kind)?);
    scene.control(
        ControlKind::Bare,
        inside == Some(host),
        format!("bare: {kind} namespace {inside:?}, the host's {host}"),
    );
    Ok(())
}

#[then(regex = r#"^bare, the probe "(.+)" is in the host's (\w+) namespace$"#)]
async fn probe_in_namespace(scene: &mut Scene, words: String, kind: String) -> StepResult {
    let bare = scene.bare(&scene.probe(&words)?).await?;
    let (inside, host) = (of_step(&bare, &kind), of_host(&kind)?);
    scene.control(ControlKind::Bare, inside == Some(host), shown(&kind, inside, host));
    Ok(())
}

fn shown(kind: &str, inside: Option<u64>, host: u64) -> String {
    format!("{kind} namespace: {inside:?} inside, {host} on the host")
}

/// The number of a namespace, as the probe reports it.
fn of_step(launch: &Launch, kind: &str) -> Option<u64> {
    detail(launch, "namespaces", kind).as_u64()
}

/// The number of the engine's own: namespaces(7), `user:[4026531837]`.
fn of_host(kind: &str) -> Result<u64, String> {
    let path = format!("/proc/self/ns/{kind}");
    let link = std::fs::read_link(&path).map_err(|e| format!("{path}: {e}"))?;
    let number = link.to_string_lossy().trim_end_matches(']').rsplit('[').next().and_then(|n| n.parse().ok());
    number.ok_or_else(|| format!("{path} is {}", link.display()))
}

#[then("it has no capability, not even in its bounding set")]
fn no_capability(scene: &mut Scene) -> StepResult {
    let sets = capabilities(scene.last()?);
    scene.found(sets.iter().all(|(_, set)| set.as_deref().is_some_and(is_empty)), format!("{sets:?}"));
    Ok(())
}

#[then("bare, it has one")]
async fn bare_capability(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let sets = capabilities(&bare);
    let shown = sets.iter().any(|(_, set)| set.as_deref().is_some_and(|set| !is_empty(set)));
    scene.control(ControlKind::Bare, shown, format!("bare: {sets:?}"));
    Ok(())
}

/// The five sets of capabilities(7), in hexadecimal.
fn capabilities(launch: &Launch) -> Vec<(&'static str, Option<String>)> {
    let set = |name| (name, detail(launch, "status", name).as_str().map(str::to_owned));
    ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map(set).to_vec()
}

fn is_empty(set: &str) -> bool {
    !set.is_empty() && set.chars().all(|digit| digit == '0')
}

#[then("no program that it starts can gain privileges")]
fn no_new_privileges(scene: &mut Scene) -> StepResult {
    let (set, seen) = no_new_privs(scene.last()?);
    scene.found(set, seen);
    Ok(())
}

#[then("bare, it could")]
async fn bare_could(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let (set, seen) = no_new_privs(&bare);
    scene.control(ControlKind::Bare, !set && bare.unfinished().is_none(), format!("bare: {seen}"));
    Ok(())
}

/// no_new_privs of prctl(2), as /proc/PID/status tells it.
fn no_new_privs(launch: &Launch) -> (bool, String) {
    let value = detail(launch, "status", "NoNewPrivs");
    (value == 1, format!("NoNewPrivs: {value}"))
}
