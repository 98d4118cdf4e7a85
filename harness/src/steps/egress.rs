//! Then: who answered, and what the log and the events say.

use cucumber::then;
use serde_json::Value;

use super::StepResult;
use crate::driver::observe::Observation;
use crate::launch::{Launch, PROBE_IN_WORKTREE};
use crate::log_check::{BLOCKED, LogCheck, SUMMARY};
use crate::observe::{self, Entries};
use crate::plan::{Action, Plan};
use crate::scene::Scene;
use crate::verdict::ControlKind;

const ORIGIN: &str = "kusaw-origin:";

#[then("no origin answers")]
fn no_origin(scene: &mut Scene) -> StepResult {
    let launch = scene.last()?;
    let counted = |l: &crate::probe::Line| l.detail["counts"]["ok"].as_u64().is_some_and(|ok| ok > 0);
    let reached = launch.output().contains(ORIGIN) || launch.report.lines.iter().any(counted);
    let seen = launch.report.summary();
    scene.found_certain(!reached, seen);
    the_probe_reported(scene)
}

/// A shell command may come to its end although the probe in it never ran; a probe by itself is looked at in any case.
fn the_probe_reported(scene: &mut Scene) -> StepResult {
    let launch = scene.last()?;
    let is_asked = launch.command.iter().any(|word| word.contains(PROBE_IN_WORKTREE));
    if is_asked && !launch.report.ended {
        let seen = format!("the probe did not report: {}", launch.report.summary());
        scene.found(false, seen);
    }
    Ok(())
}

#[then(regex = r#"^the origin "(\w+)" answers$"#)]
fn origin(scene: &mut Scene, name: String) -> StepResult {
    let launch = scene.last()?;
    let (held, seen) = (answered(launch, &name), launch.report.summary());
    scene.found(held, seen);
    Ok(())
}

#[then(regex = r#"^the origin "(\w+)" does not answer$"#)]
fn not_the_origin(scene: &mut Scene, name: String) -> StepResult {
    let launch = scene.last()?;
    let (reached, seen) = (launch.output().contains(&format!("{ORIGIN}{name}")), launch.report.summary());
    scene.found_certain(!reached, seen);
    the_probe_reported(scene)
}

#[then(regex = r#"^bare, "(.+)" answers$"#)]
async fn bare_answers(scene: &mut Scene, authority: String) -> StepResult {
    let command = scene.probe(&format!("connect --proxy none {authority}"))?;
    let bare = scene.bare(&command).await?;
    scene.control(ControlKind::Bare, answered(&bare, ""), format!("bare: {}", bare.report.summary()));
    Ok(())
}

#[then("the first action finds no proxy")]
fn no_proxy(scene: &mut Scene) -> StepResult {
    let (held, seen) = (lacks_proxy(scene.last()?), scene.last()?.report.summary());
    scene.found(held, seen);
    Ok(())
}

#[then("planted, with network allowlist the first action finds a proxy")]
async fn planted_proxy(scene: &mut Scene) -> StepResult {
    let allowlist = |plan: &mut Plan| {
        plan.block().insert("network".into(), "allowlist".into());
    };
    let launch = scene.changed(allowlist).await?;
    let shown = !launch.report.lines.is_empty() && !lacks_proxy(&launch);
    scene.control(ControlKind::Planted, shown, launch.report.summary());
    Ok(())
}

#[then(regex = r#"^planted, with the host allowed the origin "(\w+)" answers$"#)]
async fn planted_allowed(scene: &mut Scene, name: String) -> StepResult {
    let launch = scene.changed(|plan| plan.allow(&format!("{name}.example"))).await?;
    scene.control(ControlKind::Planted, answered(&launch, &name), launch.report.summary());
    Ok(())
}

#[then("planted, with provider_hosts false no origin answers")]
async fn planted_no_provider(scene: &mut Scene) -> StepResult {
    let without = |plan: &mut Plan| {
        plan.egress().insert("provider_hosts".into(), Value::Bool(false));
    };
    let launch = scene.changed(without).await?;
    let shown = launch.report.ended && !answered(&launch, "");
    scene.control(ControlKind::Planted, shown, launch.report.summary());
    Ok(())
}

#[then("planted, with an empty list, no origin answers")]
async fn planted_no_origin(scene: &mut Scene) -> StepResult {
    let none = |plan: &mut Plan| drop(plan.egress().insert("allow".into(), serde_json::json!([])));
    let launch = scene.changed(none).await?;
    let shown = launch.report.ended && !answered(&launch, "");
    scene.control(ControlKind::Planted, shown, launch.report.summary());
    Ok(())
}

#[then(regex = r"^the step ends with (\d+)$")]
fn ends_with(scene: &mut Scene, code: i32) -> StepResult {
    let exit = scene.last()?.exit;
    scene.found(exit == Some(code), format!("exit {exit:?}"));
    Ok(())
}

#[then(regex = r#"^the egress.log names exactly "(.*)"$"#)]
fn log_exactly(scene: &mut Scene, hosts: String) -> StepResult {
    let hosts = scene.expand_text(&hosts)?.split(", ").map(str::to_owned).collect();
    log(scene, LogCheck::Exactly(hosts), usize::MAX)
}

#[then(regex = r#"^the egress.log of the first attempt names exactly "(.*)"$"#)]
fn first_log_exactly(scene: &mut Scene, host: String) -> StepResult {
    log(scene, LogCheck::Exactly(vec![host]), 0)
}

#[then("the egress.log names no host")]
fn log_empty(scene: &mut Scene) -> StepResult {
    log(scene, LogCheck::Exactly(Vec::new()), usize::MAX)
}

#[then(regex = r"^the egress.log has (\d+) lines, each another of these hosts$")]
fn log_lines(scene: &mut Scene, count: usize) -> StepResult {
    log(scene, LogCheck::Among(count, scene.asked.clone()), usize::MAX)
}

#[then(regex = r#"^an egress.blocked event names "(.*)" and no other host$"#)]
fn event(scene: &mut Scene, host: String) -> StepResult {
    log(scene, LogCheck::Event(host), usize::MAX)
}

#[then(regex = r#"^an egress.blocked event of the first attempt names "(.*)" and no other host$"#)]
fn first_event(scene: &mut Scene, host: String) -> StepResult {
    log(scene, LogCheck::Event(host), 0)
}

#[then("there is no egress.blocked event")]
fn no_event(scene: &mut Scene) -> StepResult {
    log(scene, LogCheck::NoEvent, usize::MAX)
}

#[then(regex = r"^there are (\d+) egress.blocked events, each naming another of these hosts$")]
fn events(scene: &mut Scene, count: usize) -> StepResult {
    let asked = if scene.asked.is_empty() { vec!["again.example".to_owned()] } else { scene.asked.clone() };
    log(scene, LogCheck::Events(count, asked), usize::MAX)
}

#[then("there is one egress.summary event")]
fn summary(scene: &mut Scene) -> StepResult {
    for launch in scene.launches.clone() {
        let (held, seen) = judged(&LogCheck::Summary, &launch)?;
        scene.found(held, seen);
    }
    Ok(())
}

#[then("planted, a summary too many is noticed")]
fn planted_summary(scene: &mut Scene) -> StepResult {
    let Some(observation) = observation(true)? else { return Ok(()) };
    let text = std::fs::read_to_string(observe::path(observation, scene.last()?)?).unwrap_or_default();
    let again: String = text.lines().filter(|l| l.contains(SUMMARY)).map(|l| format!("{l}\n")).collect();
    let (held, seen) = LogCheck::Summary.judge(&observe::parse(&format!("{text}{again}"), observation)?);
    // Without any there is none to repeat; the judgement is red already, and no control may take its place.
    scene.control(ControlKind::Planted, !held, format!("planted: {seen}"));
    Ok(())
}

#[then("planted, a line too many is noticed")]
#[then("planted, an event too many is noticed")]
async fn planted_more(scene: &mut Scene) -> StepResult {
    planted(scene, true).await
}

#[then("planted, a missing line is noticed")]
async fn planted_less(scene: &mut Scene) -> StepResult {
    planted(scene, false).await
}

/// The command of a step that spoils its log, by the user himself in a folder of his: that it could have spoilt it.
#[then(regex = r#"^bare, "(.+)" changes a copy of its log$"#)]
async fn changes_a_copy(scene: &mut Scene, command: String) -> StepResult {
    const LOG: &str = "{egress-log}";
    /// For a log that the step has emptied: that is red, and no control may take its place.
    const STAND_IN: &str = "before.example\n";
    let log = observe::text(observation(false)?.ok_or("the driver shows no log")?, scene.last()?)?;
    let text = if log.is_empty() { STAND_IN.to_owned() } else { log };
    let folder = scene.factory().join("bare-log");
    let told = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(&folder).map_err(told)?;
    let copy = folder.join("egress.log");
    std::fs::write(&copy, &text).map_err(told)?;
    let command = format!("export TMPDIR={}\n{}", folder.display(), command.replace(LOG, &copy.display().to_string()));
    let bare = scene.bare(&scene.shell(&command)?).await?;
    let left = std::fs::read_to_string(&copy).ok();
    let changed = left.as_ref() != Some(&text);
    let seen = format!("bare: changed: {changed}; exit {:?}: {}", bare.exit, bare.output());
    scene.control(ControlKind::Bare, changed, crate::text::line(seen.as_bytes(), 300));
    Ok(())
}

/// Repeats the last judgement on the log of this run with a line more or less. Where the log is empty there is no line to
/// repeat: then a host is really blocked in one more attempt, and its log must not pass for an empty one.
async fn planted(scene: &mut Scene, more: bool) -> StepResult {
    let check = scene.check.clone().ok_or("no log was judged")?;
    let of_events = check.of_events();
    let Some(observation) = observation(of_events)? else {
        // Then the judgement is red already, which is what this control would show.
        scene.control(ControlKind::Planted, true, "no log at all is noticed");
        return Ok(());
    };
    let text = std::fs::read_to_string(observe::path(observation, scene.last()?)?).unwrap_or_default();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let first = observe::parse(&text, observation)?.hosts(of_events.then_some(BLOCKED)).into_iter().next();
    let line = first.as_ref().and_then(|host| lines.iter().find(|l| l.contains(host.as_str())).cloned());
    let entries = match (line, more) {
        (Some(line), true) => {
            // An event may name a host again; one that names another host is too many.
            let host = first.unwrap_or_default();
            lines.push(if of_events { line.replace(&host, "planted.example") } else { line });
            observe::parse(&lines.join("\n"), observation)?
        }
        (Some(line), false) => {
            lines.retain(|l| *l != line);
            observe::parse(&lines.join("\n"), observation)?
        }
        (None, _) => {
            let probe = scene.probe("connect --proxy connect planted.example:443")?;
            let launch = scene.changed(|plan| plan.action = Action::Run(probe)).await?;
            observe::entries(observation, &launch)?
        }
    };
    let (held, seen) = check.judge(&entries);
    scene.control(ControlKind::Planted, !held, format!("planted: {seen}"));
    Ok(())
}

fn log(scene: &mut Scene, check: LogCheck, which: usize) -> StepResult {
    let launch = if which == 0 { scene.launches.first().ok_or("nothing was launched")? } else { scene.last()? };
    let (held, seen) = judged(&check, launch)?;
    scene.found(held, seen);
    scene.check = Some(check);
    Ok(())
}

fn judged(check: &LogCheck, launch: &Launch) -> Result<(bool, String), String> {
    Ok(match entries(launch, check.of_events())? {
        Some(entries) => check.judge(&entries),
        None => (false, "the driver shows no log".to_owned()),
    })
}

fn observation(of_events: bool) -> Result<Option<&'static Observation>, String> {
    let observe = &Scene::context()?.manifest.observe;
    Ok(if of_events { observe.events.as_ref() } else { observe.egress_log.as_ref() })
}

fn entries(launch: &Launch, of_events: bool) -> Result<Option<Entries>, String> {
    observation(of_events)?.map(|o| observe::entries(o, launch)).transpose()
}

fn answered(launch: &Launch, name: &str) -> bool {
    launch.report.lines.iter().any(|l| l.ok && l.detail.to_string().contains(&format!("{ORIGIN}{name}")))
}

fn lacks_proxy(launch: &Launch) -> bool {
    launch.report.lines.first().is_some_and(|l| l.errno.as_deref() == Some("ENOPROXY"))
}
