//! Then: whether a tunnel is what the documentation says: the origin's own certificate, and every byte as it was.

use std::collections::BTreeSet;
use std::path::Path;

use cucumber::{then, when};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{StepResult, writes};
use crate::launch::Launch;
use crate::plan::Action;
use crate::raw;
use crate::scene::{Scene, addresses};
use crate::verdict::ControlKind;

/// A host of this name sends every byte back.
#[when(regex = r#"^the step sends (\d+) times every byte through a tunnel to "(.+)"$"#)]
async fn every_byte(scene: &mut Scene, times: usize, authority: String) -> StepResult {
    let authority = scene.expand_text(&authority)?;
    let head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    let mut argv = scene.probe("converse proxy")?;
    argv.extend([raw::word(head.as_bytes()), raw::word(&all(times))]);
    scene.plan.action = Action::Run(argv);
    scene.run().await
}

#[then(regex = r"^(\d+) times every byte comes back$")]
fn comes_back(scene: &mut Scene, times: usize) -> StepResult {
    let (same, seen) = came_back(scene.last()?, &all(times));
    scene.found(same, seen);
    let mut other = all(times);
    other[7] ^= 1;
    let (same, seen) = came_back(scene.last()?, &other);
    scene.control(ControlKind::Planted, !same, format!("planted: with one bit changed, {seen}"));
    Ok(())
}

/// Needed by the lint: the step before has made it.
#[then("planted, a bit that differs is noticed")]
pub(super) fn noticed(scene: &mut Scene) -> StepResult {
    if scene.controls.is_empty() { Err("no bytes were compared".to_owned()) } else { Ok(()) }
}

#[then(regex = r#"^it gets the certificate that "(.+)" has for "(.+)"$"#)]
async fn own_certificate(scene: &mut Scene, authority: String, name: String) -> StepResult {
    let truth = bare_certificate(scene, &authority, &name).await?.ok_or("the origin has no certificate")?;
    let own = certificate(scene.last()?);
    let seen = own.as_ref().map_or("none".to_owned(), |own| own.chars().take(80).collect());
    scene.found(own.as_ref() == Some(&truth), format!("certificate {seen}; {}", scene.last()?.report.summary()));
    Ok(())
}

#[then(regex = r#"^bare, "(.+)" has another certificate for "(.+)"$"#)]
async fn another_certificate(scene: &mut Scene, authority: String, name: String) -> StepResult {
    let other = bare_certificate(scene, &authority, &name).await?;
    let own = certificate(scene.last()?);
    let seen = format!("bare: another certificate: {}", other.is_some());
    scene.control(ControlKind::Bare, other.is_some() && other != own, seen);
    Ok(())
}

#[then(regex = r#"^in its worktree, all lines of "(.+)" are lines of the host's "(.+)"$"#)]
fn lines_of(scene: &mut Scene, own: String, host: String) -> StepResult {
    let own = writes::folder(scene.last()?, Some("demo"))?.join(own);
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()));
    let (own, host) = (read(&own).unwrap_or_default(), read(Path::new(&host))?);
    let more = |text: &str| {
        let known: BTreeSet<&str> = host.lines().collect();
        text.lines().filter(|line| !known.contains(line)).count()
    };
    let seen = format!("{} lines, {} of them not the host's", own.lines().count(), more(&own));
    scene.found(!own.is_empty() && more(&own) == 0, seen);
    let noticed = more(&format!("{own}planted\n")) == more(&own) + 1;
    scene.control(ControlKind::Planted, noticed, "planted: a line more is noticed");
    Ok(())
}

/// Needed by the lint: the step before has made it.
#[then("planted, a line more is noticed")]
fn line_noticed(scene: &mut Scene) -> StepResult {
    noticed(scene)
}

async fn bare_certificate(scene: &Scene, authority: &str, name: &str) -> Result<Option<String>, String> {
    let command = scene.probe(&format!("hello --proxy none --sni {name} {authority}"))?;
    Ok(certificate(&scene.bare(&command).await?))
}

#[then(regex = r#"^what arrives at "(.+)" is what was sent, with the server name "(.+)"$"#)]
async fn as_sent(scene: &mut Scene, name: String, sni: String) -> StepResult {
    let (name, sni) = (scene.expand_text(&name)?, scene.expand_text(&sni)?);
    let sent = detail(scene.last()?, "sent").and_then(|hex| raw::from_hex(&hex)).ok_or("nothing was sent")?;
    let digest: String = Sha256::digest(&sent).iter().map(|byte| format!("{byte:02x}")).collect();
    let seen = scene.seen().await?;
    let arrivals = addresses(&name).into_iter().flat_map(|address| seen.world.at(Some(address)));
    let hellos: Vec<_> = arrivals.filter_map(|arrival| arrival.hello.as_ref()).collect();
    let same = hellos.len() == 1 && hellos[0].digest == digest && hellos[0].sni.as_ref() == Some(&sni);
    scene.found(same, format!("sent {digest}, arrived {hellos:?}"));
    Ok(())
}

#[then(regex = r"^the tunnel is (opened|not opened)$")]
fn opened(scene: &mut Scene, which: String) -> StepResult {
    let lines = &scene.last()?.report.lines;
    let opened = lines.iter().any(|l| l.detail["status"].as_u64().is_some_and(|status| (200..300).contains(&status)));
    let seen = scene.last()?.report.summary();
    scene.found(opened == (which == "opened"), format!("opened: {opened}; {seen}"));
    Ok(())
}

#[then("it gets no certificate")]
fn no_certificate(scene: &mut Scene) -> StepResult {
    let (own, seen) = (certificate(scene.last()?), scene.last()?.report.summary());
    scene.found_certain(own.is_none(), seen);
    Ok(())
}

fn certificate(launch: &Launch) -> Option<String> {
    detail(launch, "certificate")
}

fn detail(launch: &Launch, name: &str) -> Option<String> {
    launch.report.lines.iter().find_map(|l| l.detail[name].as_str().map(str::to_owned))
}

fn all(times: usize) -> Vec<u8> {
    (0..=255_u8).cycle().take(256 * times).collect()
}

/// Whether the second answer is these bytes.
fn came_back(launch: &Launch, bytes: &[u8]) -> (bool, String) {
    let line = launch.report.lines.first();
    let answer = line.and_then(|l| l.detail["answers"].get(1)).and_then(Value::as_str).unwrap_or_default();
    let back = raw::bytes(answer).unwrap_or_default();
    (back == bytes, format!("{} bytes came back, the same: {}; {}", back.len(), back == bytes, launch.report.summary()))
}
