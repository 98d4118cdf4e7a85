//! Then: how large the log is, what it is made of, and what the summary counts.

use cucumber::{then, when};

use super::StepResult;
use crate::driver::observe::Observation;
use crate::observe;
use crate::plan::Action;
use crate::raw;
use crate::scene::Scene;
use crate::verdict::ControlKind;

/// New connections may be slowed down, requests on one that is kept are not. So many answers fit into what the probe keeps.
const AT_ONCE: usize = 200;

#[when(regex = r#"^the step asks (\d+) times for "([^"]+)", on one connection$"#)]
async fn on_one_connection(scene: &mut Scene, times: usize, host: String) -> StepResult {
    let request = format!("GET http://{host}/ HTTP/1.1\r\nHost: {host}\r\n\r\n");
    let mut argv = scene.probe(&format!("converse --timeout 25000 --lull 10 --answers {AT_ONCE} proxy"))?;
    argv.extend((0..times / AT_ONCE).map(|_| raw::word(request.repeat(AT_ONCE).as_bytes())));
    scene.plan.action = Action::Run(argv);
    scene.run().await
}

#[then(regex = r"^the egress.log has (at most )?(\d+) lines?, printable$")]
fn printable_lines(scene: &mut Scene, most: String, count: usize) -> StepResult {
    let text = observe::text(log()?, scene.last()?)?;
    let lines = text.lines().count();
    let few = if most.is_empty() { lines == count } else { lines <= count };
    scene.found(few && is_printable(&text), format!("{lines} lines: {}", crate::text::line(text.as_bytes(), 400)));
    scene.check = Some(crate::log_check::LogCheck::Lines(count));
    Ok(())
}

#[then(regex = r#"^one of them names "(.+)"$"#)]
fn one_names(scene: &mut Scene, host: String) -> StepResult {
    let entries = observe::entries(log()?, scene.last()?)?;
    let hosts = entries.hosts(None);
    scene.found(hosts.iter().filter(|own| **own == host).count() == 1, format!("hosts: {}", hosts.join(", ")));
    Ok(())
}

#[then("planted, a control character is noticed")]
fn planted_control(scene: &mut Scene) -> StepResult {
    let text = observe::text(log()?, scene.last()?)?;
    let noticed = ["\u{1b}", "\r", "\0", "\u{85}"].iter().all(|c| !is_printable(&format!("{text}{c}")));
    scene.control(ControlKind::Planted, noticed, "planted: with a control character it is not printable");
    Ok(())
}

#[then(regex = r"^the egress.log is smaller than (\d+) bytes$")]
fn small(scene: &mut Scene, bound: usize) -> StepResult {
    let length = observe::text(log()?, scene.last()?)?.len();
    scene.found(length > 0 && length < bound, format!("{length} bytes"));
    Ok(())
}

#[then(regex = r"^the egress.summary counts (\d+) requests to (\d+) hosts$")]
fn counts(scene: &mut Scene, requests: u64, hosts: u64) -> StepResult {
    let text = observe::text(events()?, scene.last()?)?;
    let counted = counted(&text)?;
    scene.found(counted == [Some(requests), Some(hosts)], seen(&counted));
    Ok(())
}

/// The summary of this run, with every digit another one.
#[then("planted, another number is noticed")]
fn planted_number(scene: &mut Scene) -> StepResult {
    let text = observe::text(events()?, scene.last()?)?;
    let other: String = text.chars().map(|c| c.to_digit(10).map_or(c, |d| if d == 9 { '8' } else { '9' })).collect();
    let (own, planted) = (counted(&text)?, counted(&other)?);
    // A number that is missing is red already, and no control may take its place.
    let noticed = own.iter().zip(&planted).all(|(own, planted)| own.is_none() || own != planted);
    scene.control(ControlKind::Planted, noticed, format!("planted: {}", seen(&planted)));
    Ok(())
}

/// Requests and hosts, as the summary counts them.
fn counted(text: &str) -> Result<[Option<u64>; 2], String> {
    let events = events()?;
    let find = |pattern: &Option<String>| pattern.as_ref().map_or(Ok(None), |pattern| observe::number(pattern, text));
    Ok([find(&events.requests)?, find(&events.hosts)?])
}

fn seen([requests, hosts]: &[Option<u64>; 2]) -> String {
    format!("{requests:?} requests to {hosts:?} hosts")
}

/// Nothing but lines of what a terminal shows as it is (ASCII).
fn is_printable(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || c == ' ' || c.is_ascii_graphic())
}

fn log() -> Result<&'static Observation, String> {
    Scene::context()?.manifest.observe.egress_log.as_ref().ok_or_else(|| "the driver shows no log".to_owned())
}

fn events() -> Result<&'static Observation, String> {
    Scene::context()?.manifest.observe.events.as_ref().ok_or_else(|| "the driver shows no events".to_owned())
}
