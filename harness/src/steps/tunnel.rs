//! Then: whether a tunnel is what the documentation says: the origin's own certificate, and every byte as it was.

use std::collections::BTreeSet;

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
    scene.plan.action = through_tunnel(scene, &authority, &all(times))?;
    scene.run().await
}

/// The probe that sends bytes through a tunnel.
fn through_tunnel(scene: &Scene, authority: &str, bytes: &[u8]) -> Result<Action, String> {
    let authority = scene.expand_text(authority)?;
    let head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    let mut argv = scene.probe("converse proxy")?;
    argv.extend([raw::word(head.as_bytes()), raw::word(bytes)]);
    Ok(Action::Run(argv))
}

#[then(regex = r"^(\d+) times every byte comes back$")]
fn comes_back(scene: &mut Scene, times: usize) -> StepResult {
    let (same, seen) = came_back(scene.last()?, &all(times));
    scene.found(same, seen);
    Ok(())
}

/// Not through a tunnel: one that changes bytes would change these too, and show nothing.
#[then(regex = r#"^bare, of (\d+) times every byte, sent to "(.+)" itself with one bit changed, it is not so$"#)]
async fn one_bit(scene: &mut Scene, times: usize, authority: String) -> StepResult {
    let mut other = all(times);
    other[7] ^= 1;
    let mut command = scene.probe(&format!("converse {}", scene.expand_text(&authority)?))?;
    command.extend([raw::word(b"!"), raw::word(&other)]);
    let bare = scene.bare(&command).await?;
    let ((arrived, seen), (passes, _)) = (came_back(&bare, &other), came_back(&bare, &all(times)));
    scene.control(ControlKind::Bare, arrived && !passes, format!("bare: with one bit changed, {seen}"));
    Ok(())
}

/// A host of this name hangs up when its client has said all.
#[when(regex = r#"^the step says all that it has to, through a tunnel to "(.+)"$"#)]
async fn says_all(scene: &mut Scene, authority: String) -> StepResult {
    scene.plan.action = closing(scene, &authority, "converse --eof proxy")?;
    scene.run().await
}

fn closing(scene: &Scene, authority: &str, words: &str) -> Result<Action, String> {
    let authority = scene.expand_text(authority)?;
    let head = format!("CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    let mut argv = scene.probe(words)?;
    argv.extend([raw::word(head.as_bytes()), raw::word(b"all of it")]);
    Ok(Action::Run(argv))
}

#[then("all of it comes back, and the end")]
fn end_comes_back(scene: &mut Scene) -> StepResult {
    let ((same, seen), closed) = (came_back(scene.last()?, b"all of it"), is_closed(scene.last()?));
    scene.found(same && closed, format!("hung up: {closed}; {seen}"));
    Ok(())
}

#[then(regex = r#"^planted, where it does not say that it was all, "(.+)" does not hang up$"#)]
async fn stays_open(scene: &mut Scene, authority: String) -> StepResult {
    let action = closing(scene, &authority, "converse proxy")?;
    let launch = scene.changed(|plan| plan.action = action).await?;
    let ((arrived, seen), closed) = (came_back(&launch, b"all of it"), is_closed(&launch));
    scene.control(ControlKind::Planted, arrived && !closed, format!("planted: hung up: {closed}; {seen}"));
    Ok(())
}

fn is_closed(launch: &Launch) -> bool {
    launch.report.lines.first().is_some_and(|line| line.detail["closed"] == true)
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
    let (lines, strange) = lines_beside(scene.last()?, &own, &host)?;
    scene.found(lines > 0 && strange == 0, format!("{lines} lines, {strange} of them not the host's"));
    Ok(())
}

#[then(regex = r#"^planted, of a step that adds a line to "(.+)", one is no line of the host's "(.+)"$"#)]
async fn one_line_more(scene: &mut Scene, own: String, host: String) -> StepResult {
    let command = scene.shell(&format!("{}; code=$?; echo planted >>{own}; exit $code", scene.words))?;
    let launch = scene.changed(|plan| plan.action = Action::Run(command)).await?;
    let (lines, strange) = lines_beside(&launch, &own, &host)?;
    let seen = format!("planted: {lines} lines, {strange} of them not the host's");
    scene.control(ControlKind::Planted, lines > 1 && strange == 1, seen);
    Ok(())
}

/// How many lines a file of the worktree has, and how many of them a file of the host does not have.
fn lines_beside(launch: &Launch, own: &str, host: &str) -> Result<(usize, usize), String> {
    let own = writes::folder(launch, Some("demo"))?.join(own);
    let own = std::fs::read_to_string(own).unwrap_or_default(); // the step may have made none: no line then
    let host = std::fs::read_to_string(host).map_err(|e| format!("{host}: {e}"))?;
    let known: BTreeSet<&str> = host.lines().collect();
    Ok((own.lines().count(), own.lines().filter(|line| !known.contains(line)).count()))
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
