//! Given and Then: what arrives in the world, and what is looked up.

use cucumber::{given, then};

use super::StepResult;
use super::conversing::answers;
use crate::plan::{Action, Plan};
use crate::probe::Line;
use crate::scene::{Scene, Seen, addresses};
use crate::text;
use crate::verdict::ControlKind;

#[given("a service at every special address, on a port of its own")]
async fn special(scene: &mut Scene) -> StepResult {
    scene.open_port().await
}

#[given(regex = r#"^the egress setting "(\w+)" is "(\w+)"$"#)]
fn setting(scene: &mut Scene, name: String, value: String) {
    scene.plan.egress().insert(name, value.into());
}

#[then(regex = r#"^nothing arrives at "(.+)"$"#)]
async fn nothing_at(scene: &mut Scene, name: String) -> StepResult {
    let name = named(scene, &name)?;
    let count = scene.seen().await?.connections(&name);
    let seen = format!("{count} connections at {name}; {}", scene.last()?.report.summary());
    scene.found_certain(count == 0, seen);
    somebody_was_asked(scene)
}

#[then("nothing arrives at a special address")]
async fn nothing_special(scene: &mut Scene) -> StepResult {
    let seen = scene.seen().await?;
    let at = seen.special(scene.port.as_ref().map(|port| port.number));
    let told = format!("special addresses that were called: {at:?}; {}", scene.last()?.report.summary());
    scene.found_certain(at.is_empty(), told);
    somebody_was_asked(scene)
}

/// A name may lead to a public address as well, at the same port.
#[then("nothing arrives at loopback")]
async fn nothing_at_loopback(scene: &mut Scene) -> StepResult {
    let seen = scene.seen().await?;
    let told = format!("called on the host: {:?}; {}", seen.host, scene.last()?.report.summary());
    scene.found_certain(seen.host.is_empty(), told);
    somebody_was_asked(scene)
}

#[then(regex = r#"^something arrives at "(.+)"$"#)]
async fn something_at(scene: &mut Scene, name: String) -> StepResult {
    let name = named(scene, &name)?;
    let count = scene.seen().await?.connections(&name);
    let seen = format!("{count} connections at {name}; {}", scene.last()?.report.summary());
    scene.found(count > 0, seen);
    Ok(())
}

#[then(regex = r#"^not a byte arrives at "(.+)"$"#)]
async fn no_byte(scene: &mut Scene, name: String) -> StepResult {
    let (name, seen) = (named(scene, &name)?, scene.seen().await?);
    let arrivals = addresses(&name).into_iter().flat_map(|address| seen.world.at(Some(address)));
    let bytes: usize = arrivals.map(|arrival| arrival.bytes).sum();
    scene.found_certain(bytes == 0, format!("{bytes} bytes arrived at {name}"));
    somebody_was_asked(scene)
}

#[then(regex = r#"^"(.+)" gets (\d+) requests?$"#)]
async fn requests(scene: &mut Scene, name: String, count: usize) -> StepResult {
    let (name, seen) = (named(scene, &name)?, scene.seen().await?);
    let heads = seen.requests(&name);
    scene.found(heads.len() == count, format!("{} requests at {name}: {}", heads.len(), told(&heads)));
    Ok(())
}

#[then(regex = r#"^every request to "(.+)" has the lines? "(.+)"$"#)]
async fn has_line(scene: &mut Scene, name: String, line: String) -> StepResult {
    let (name, seen) = (named(scene, &name)?, scene.seen().await?);
    let (line, heads) = (scene.expand_text(&line)?, seen.requests(&name));
    let has = |head: &&str| head.lines().any(|own| own.eq_ignore_ascii_case(&line));
    scene.found(!heads.is_empty() && heads.iter().all(has), format!("requests at {name}: {}", told(&heads)));
    Ok(())
}

#[then(regex = r#"^no request to "(.+)" has "(.+)"$"#)]
async fn lacks(scene: &mut Scene, name: String, words: String) -> StepResult {
    let (heads, lack) = requests_lack(scene, &name, &words).await?;
    scene.found(heads > 0 && lack.0, lack.1);
    Ok(())
}

/// For what a proxy may send on, or refuse.
#[then(regex = r#"^"(.+)" gets no request that has "(.+)"$"#)]
async fn gets_none_with(scene: &mut Scene, name: String, words: String) -> StepResult {
    let (_, lack) = requests_lack(scene, &name, &words).await?;
    scene.found_certain(lack.0, lack.1);
    Ok(())
}

/// How many requests arrived at a host, and whether none of them has these words.
async fn requests_lack(scene: &mut Scene, name: &str, words: &str) -> Result<(usize, (bool, String)), String> {
    let (name, seen) = (named(scene, name)?, scene.seen().await?);
    let (words, heads) = (scene.expand_text(words)?.to_ascii_lowercase(), seen.requests(&name));
    let lacks = |head: &&str| !head.to_ascii_lowercase().contains(&words);
    Ok((heads.len(), (heads.iter().all(lacks), format!("requests at {name}: {}", told(&heads)))))
}

#[then(regex = r#"^"(.+)" is looked up (never|once|\d+ times|at least once)$"#)]
async fn looked_up(scene: &mut Scene, name: String, times: String) -> StepResult {
    let (name, seen) = (named(scene, &name)?, scene.seen().await?);
    let count = seen.world.look_ups(&name);
    let held = match times.as_str() {
        "never" => count == 0,
        "once" => count == 1,
        "at least once" => count > 0,
        number => number.trim_end_matches(" times") == count.to_string(),
    };
    scene.found_certain(held, format!("{name} was looked up {count} times; {}", scene.last()?.report.summary()));
    Ok(())
}

#[then(regex = r#"^bare, a connection to "(.+)" arrives$"#)]
async fn bare_arrives(scene: &mut Scene, authority: String) -> StepResult {
    let command = scene.probe(&format!("connect --proxy none {authority}"))?;
    let before = all(&scene.seen_now().await?);
    let bare = scene.bare(&command).await?;
    let after = all(&scene.seen_now().await?);
    scene.control(ControlKind::Bare, after > before, format!("bare: {} arrived; {}", after - before, answers(&bare)));
    Ok(())
}

#[then(regex = r#"^bare, the same command looks "(.+)" up$"#)]
async fn bare_looks_up(scene: &mut Scene, name: String) -> StepResult {
    let name = named(scene, &name)?;
    let before = scene.seen_now().await?.world.look_ups(&name);
    scene.bare(&scene.command()?).await?;
    let count = scene.seen_now().await?.world.look_ups(&name) - before;
    scene.control(ControlKind::Bare, count > 0, format!("bare: {name} was looked up {count} times"));
    Ok(())
}

#[then(regex = r#"^bare, the name "(.+)" is looked up$"#)]
async fn bare_look_up(scene: &mut Scene, name: String) -> StepResult {
    let name = named(scene, &name)?;
    let command = scene.probe(&format!("connect --proxy none {name}:80"))?;
    let before = scene.seen_now().await?.world.look_ups(&name);
    scene.bare(&command).await?;
    let count = scene.seen_now().await?.world.look_ups(&name) - before;
    scene.control(ControlKind::Bare, count > 0, format!("bare: {name} was looked up {count} times"));
    Ok(())
}

/// The same with one host more on the list: for what must not arrive there otherwise.
#[then(regex = r#"^planted, with "(.+)" allowed, something arrives there$"#)]
async fn planted_arrives(scene: &mut Scene, name: String) -> StepResult {
    let name = named(scene, &name)?;
    planted(scene, |plan| plan.allow(&name), &name).await
}

/// The same with an entry that names what is asked for.
#[then(regex = r#"^planted, with the entry "(.+)", something arrives at "(.+)"$"#)]
async fn planted_entry(scene: &mut Scene, entry: String, name: String) -> StepResult {
    let (entry, name) = (scene.expand_text(&entry)?, named(scene, &name)?);
    planted(scene, |plan| plan.allow(&entry), &name).await
}

/// The same with an empty list: for what must arrive there otherwise.
#[then(regex = r#"^planted, with an empty list, nothing arrives at "(.+)"$"#)]
async fn planted_empty(scene: &mut Scene, name: String) -> StepResult {
    let name = named(scene, &name)?;
    let before = scene.seen_now().await?.connections(&name);
    let none = |plan: &mut Plan| drop(plan.egress().insert("allow".into(), serde_json::json!([])));
    let launch = scene.changed(none).await?;
    let count = scene.seen_now().await?.connections(&name) - before;
    let shown = count == 0 && launch.unfinished().is_none();
    scene.control(ControlKind::Planted, shown, format!("planted: {count} connections at {name}; {}", answers(&launch)));
    Ok(())
}

/// Another target with an entry of its own: that a connection can be had at all.
#[then(regex = r#"^planted, with the entry "(.+)", the same to "(.+)" arrives$"#)]
async fn planted_other(scene: &mut Scene, entry: String, authority: String) -> StepResult {
    let (entry, authority) = (scene.expand_text(&entry)?, scene.expand_text(&authority)?);
    let probe = scene.probe(&format!("connect --proxy connect {authority}"))?;
    let name = authority.rsplit_once(':').map_or(authority.as_str(), |(name, _)| name).to_owned();
    let change = |plan: &mut Plan| {
        plan.allow(&entry);
        plan.action = Action::Run(probe);
    };
    planted(scene, change, &name).await
}

async fn planted(scene: &mut Scene, change: impl FnOnce(&mut Plan), name: &str) -> StepResult {
    let before = scene.seen_now().await?.connections(name);
    let launch = scene.changed(change).await?;
    let count = scene.seen_now().await?.connections(name) - before;
    scene.control(ControlKind::Planted, count > 0, format!("planted: {count} at {name}; {}", answers(&launch)));
    Ok(())
}

#[then("each request is heard")]
#[then("a proxy was asked")]
fn asked(scene: &mut Scene) -> StepResult {
    somebody_was_asked(scene)
}

/// That nothing arrives where no proxy was asked shows nothing of the proxy: each request must have been heard by one that answers,
/// and there must have been a request.
fn somebody_was_asked(scene: &mut Scene) -> StepResult {
    let lines = &scene.last()?.report.lines;
    let asked: Vec<&Line> = lines.iter().filter(|line| is_asked(line)).collect();
    let held = !asked.is_empty() && asked.iter().all(|line| was_heard(line));
    let seen = scene.last()?.report.summary();
    scene.found(held, format!("{} requests, each heard by a proxy: {held}; {seen}", asked.len()));
    Ok(())
}

/// Whether a line of the probe is about a request to a proxy.
fn is_asked(line: &Line) -> bool {
    match line.action.as_str() {
        "connect" => line.detail["via"] != "none",
        "hello" | "converse" => true,
        _ => false,
    }
}

/// A proxy that takes bytes for no request may hang up without a word.
fn was_heard(line: &Line) -> bool {
    let detail = &line.detail;
    let spoke = detail["bytes"].as_u64().is_some_and(|bytes| bytes > 0) || detail["closed"] == true;
    detail["status"].is_u64() || (line.action == "converse" && line.ok && spoke)
}

/// A name of a feature that is one of the scenario's in the zone.
fn named(scene: &Scene, name: &str) -> Result<String, String> {
    scene.expand_text(name)
}

fn all(seen: &Seen) -> usize {
    seen.world.arrivals.len() + seen.host.len()
}

/// Heads of requests, short.
pub(super) fn told(heads: &[&str]) -> String {
    heads.iter().map(|head| text::line(head.as_bytes(), 200)).collect::<Vec<_>>().join(" | ")
}
