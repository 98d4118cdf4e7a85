//! Given and Then: services of the host's localhost, programs that know nothing of a proxy, and what a step's network holds.

use cucumber::{given, then, when};
use serde_json::Value;

use super::StepResult;
use super::environment::detail;
use crate::lab::local::Local;
use crate::launch::Launch;
use crate::plan::{Action, Plan};
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::{Control, ControlKind};

const ORIGIN: &str = "kusaw-origin:";

/// Their ports are `{local-port}` and `{other-port}`.
#[given("services listen on the host's localhost")]
async fn services(scene: &mut Scene) -> StepResult {
    scene.local = Some(Local::start().await.map_err(|e| format!("services of the host: {e}"))?);
    Ok(())
}

#[given(regex = r#"^"(.+)" is allowed$"#)]
fn is_allowed(scene: &mut Scene, entry: String) -> StepResult {
    let entry = scene.expand_text(&entry)?;
    scene.plan.allow(&entry);
    Ok(())
}

#[then("bare, the same command reaches an origin")]
#[then("bare, the same probe reaches an origin")]
async fn bare_reaches(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let shown = bare.output().contains(ORIGIN);
    let moot = (!shown).then(|| no_family(&scene.command().unwrap_or_default())).flatten();
    scene.controls.push(Control { kind: ControlKind::Bare, shown, seen: told("bare", &bare), moot });
    Ok(())
}

#[then("no action gets an answer")]
fn no_answer(scene: &mut Scene) -> StepResult {
    let lines = &scene.last()?.report.lines;
    let (held, seen) = (!lines.is_empty() && lines.iter().all(|l| !l.ok), scene.last()?.report.summary());
    scene.found(held, seen);
    Ok(())
}

#[then("bare, the same probe gets one")]
async fn bare_answer(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let shown = !bare.report.lines.is_empty() && bare.report.lines.iter().all(|l| l.ok);
    let moot = (!shown).then(|| no_family(&scene.command().unwrap_or_default())).flatten();
    scene.controls.push(Control { kind: ControlKind::Bare, shown, seen: told("bare", &bare), moot });
    Ok(())
}

#[then("planted, with network allowlist no origin answers")]
async fn planted_allowlist(scene: &mut Scene) -> StepResult {
    let allowlist = |plan: &mut Plan| {
        plan.block().insert("network".into(), "allowlist".into());
    };
    let launch = scene.changed(allowlist).await?;
    planted_silence(scene, &launch);
    Ok(())
}

#[then("planted, with no host allowed no origin answers")]
async fn planted_no_host(scene: &mut Scene) -> StepResult {
    let launch = scene.changed(Plan::forget_hosts).await?;
    planted_silence(scene, &launch);
    Ok(())
}

fn planted_silence(scene: &mut Scene, launch: &Launch) {
    let shown = !launch.output().contains(ORIGIN) && launch.unfinished().is_none();
    scene.control(ControlKind::Planted, shown, told("planted", launch));
}

#[then(regex = r#"^it has no network interface but "(\w+)"$"#)]
fn interfaces(scene: &mut Scene, only: String) -> StepResult {
    let names = interface_names(scene.last()?);
    scene.found(names == [only.as_str()], format!("interfaces: {names:?}"));
    Ok(())
}

#[then("bare, there are others")]
async fn bare_interfaces(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let names = interface_names(&bare);
    scene.control(ControlKind::Bare, names.len() > 1, format!("bare: interfaces: {names:?}"));
    Ok(())
}

/// The names in /proc/net/dev, proc_net(5): two lines of headings, then a line each.
fn interface_names(launch: &Launch) -> Vec<String> {
    let text = detail(launch, "read", "text");
    let lines = text.as_str().unwrap_or_default().lines().skip(2);
    lines.filter_map(|l| l.split_once(':')).map(|(name, _)| name.trim().to_owned()).collect()
}

#[then("the proxy's variables name a proxy on loopback")]
fn on_loopback(scene: &mut Scene) -> StepResult {
    let (held, seen) = proxies(scene.last()?);
    scene.found(held, seen);
    Ok(())
}

#[then("planted, with network open they name none")]
async fn planted_open(scene: &mut Scene) -> StepResult {
    let open = |plan: &mut Plan| {
        plan.block().insert("network".into(), "open".into());
    };
    let launch = scene.changed(open).await?;
    let (held, seen) = proxies(&launch);
    scene.control(ControlKind::Planted, !held && !launch.report.lines.is_empty(), format!("planted: {seen}"));
    Ok(())
}

/// Whether every report of the environment has all four variables, with the URL of a proxy on loopback, and NO_PROXY as it is
/// documented.
fn proxies(launch: &Launch) -> (bool, String) {
    let reports: Vec<&Value> =
        launch.report.lines.iter().filter(|l| l.action == "env").filter_map(|l| l.detail.get("vars")).collect();
    let of = |vars: &Value, name: &str| vars.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_loopback = |url: String| {
        let authority = url.strip_prefix("http://").unwrap_or_default().trim_end_matches('/');
        let host = authority.rsplit_once(':').map_or("", |(place, _)| place.rsplit('@').next().unwrap_or(place));
        host == "localhost" || host == "[::1]" || host.starts_with("127.")
    };
    let all = |vars: &&Value| {
        ["HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"].iter().all(|name| is_loopback(of(vars, name)))
            && of(vars, "NO_PROXY") == "localhost,127.0.0.1,::1"
    };
    let shown: Vec<String> = reports.iter().map(|vars| vars.to_string()).collect();
    (!reports.is_empty() && reports.iter().all(all), line(shown.join("; ").as_bytes(), 400))
}

#[then("it is called on loopback")]
fn called_on_loopback(scene: &mut Scene) -> StepResult {
    let (held, seen) = is_called_on_loopback(scene.last()?);
    scene.found(held == Some(true), seen);
    Ok(())
}

/// The same probe, with the variable that names a proxy naming one in the world.
#[then("bare, a proxy elsewhere is not")]
async fn bare_elsewhere(scene: &mut Scene) -> StepResult {
    let proxy = format!("HTTPS_PROXY=http://{}:80", crate::lab::network::BLOCKED);
    let command = ["/usr/bin/env".to_owned(), proxy].into_iter().chain(scene.command()?).collect::<Vec<_>>();
    let bare = scene.bare(&command).await?;
    let (held, seen) = is_called_on_loopback(&bare);
    scene.control(ControlKind::Bare, held == Some(false), format!("bare: {seen}"));
    Ok(())
}

/// Whether the proxy that the probe called is on loopback; none = it called none.
fn is_called_on_loopback(launch: &Launch) -> (Option<bool>, String) {
    let address = detail(launch, "connect", "address");
    let is_loopback = |a: &str| a.starts_with("127.") || a.starts_with("[::1]:");
    (address.as_str().map(is_loopback), format!("the proxy's address: {address}"))
}

#[when(regex = r#"^while an attempt waits and then runs "(.+)", another runs "(.+)"$"#)]
async fn waits_and_then(scene: &mut Scene, then: String, other: String) -> StepResult {
    let waits = scene.shell(&format!("{}\n{then}", crate::waiting::WAITS))?;
    let other = scene.shell(&other)?;
    scene.run_while(waits, other).await
}

#[then(regex = r#"^in the first attempt, the origin "(\w+)" answers$"#)]
fn first_answers(scene: &mut Scene, name: String) -> StepResult {
    let launch = scene.launches.first().ok_or("nothing was launched")?;
    let (held, seen) = (launch.output().contains(&format!("{ORIGIN}{name}")), told("first", launch));
    scene.found(held, seen);
    Ok(())
}

#[then(regex = r#"^bare, the probe "(.+)" reaches an origin$"#)]
async fn bare_probe_reaches(scene: &mut Scene, words: String) -> StepResult {
    let bare = scene.bare(&scene.probe(&words)?).await?;
    scene.control(ControlKind::Bare, bare.output().contains(ORIGIN), told("bare", &bare));
    Ok(())
}

#[then(regex = r#"^planted, with "([^"]+)" allowed the same command reaches an origin$"#)]
async fn planted_entry(scene: &mut Scene, entry: String) -> StepResult {
    let (entry, command) = (scene.expand_text(&entry)?, scene.last()?.command.clone());
    let launch = scene
        .changed(|plan| {
            plan.allow(&entry);
            plan.action = Action::Run(command);
        })
        .await?;
    scene.control(ControlKind::Planted, launch.output().contains(ORIGIN), told("planted", &launch));
    Ok(())
}

/// The beginning of every address that a name of the features has, in either family.
const WORLD: [&str; 2] = ["93.184.216.", "2600:"];

#[then("no address of the world arrives")]
fn no_address(scene: &mut Scene) -> StepResult {
    let launch = scene.last()?;
    let (arrived, seen) = (WORLD.iter().any(|begin| launch.output().contains(begin)), told("inside", launch));
    scene.found_certain(!arrived, seen);
    Ok(())
}

#[then("bare, the same command gets one")]
async fn bare_address(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let shown = WORLD.iter().any(|begin| bare.output().contains(begin));
    scene.control(ControlKind::Bare, shown, told("bare", &bare));
    Ok(())
}

/// What a kernel without IPv6 cannot show.
fn no_family(command: &[String]) -> Option<String> {
    let asked = command.iter().any(|word| word.contains("[2600:") || word.contains("[::1]"));
    (asked && !crate::lab::network::has_ipv6()).then(|| "this kernel has no IPv6 (/proc/net/if_inet6)".to_owned())
}

fn told(which: &str, launch: &Launch) -> String {
    format!("{which}: exit {:?}; {}", launch.exit, line(launch.output().as_bytes(), 300))
}
