//! Then: whether a secret of the host arrived inside.

use cucumber::then;

use super::StepResult;
use crate::host;
use crate::lab::home::TOKEN;
use crate::launch::Launch;
use crate::scene::Scene;
use crate::text::line;
use crate::verdict::{Control, ControlKind};

#[then("no secret arrives")]
fn no_secret(scene: &mut Scene) -> StepResult {
    let found = scene.launches.iter().find_map(secret);
    let seen = match &found {
        Some(seen) => seen.clone(),
        None => scene.last()?.report.summary(),
    };
    scene.found_certain(found.is_none(), seen);
    Ok(())
}

#[then("the secret arrives")]
fn the_secret(scene: &mut Scene) -> StepResult {
    let launch = scene.last()?;
    let (held, seen) = match secret(launch) {
        Some(seen) => (true, seen),
        None => (false, format!("no secret: {}", told(launch))),
    };
    scene.found(held, seen);
    Ok(())
}

#[then("bare, the same probe gets the secret")]
async fn bare_secret(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let found = secret(&bare);
    let shown = found.is_some() && bare.unfinished().is_none();
    let moot = if shown { None } else { untraceable(&bare) };
    let seen = found.unwrap_or_else(|| format!("bare, no secret: {}", told(&bare)));
    scene.controls.push(Control { kind: ControlKind::Bare, shown, seen, moot });
    Ok(())
}

#[then(regex = r#"^bare, the probe "(.+)" gets the secret$"#)]
async fn bare_probe_secret(scene: &mut Scene, words: String) -> StepResult {
    let command = scene.probe(&words)?;
    let bare = scene.bare(&command).await?;
    let found = secret(&bare);
    scene.control(
        ControlKind::Bare,
        found.is_some() && bare.unfinished().is_none(),
        found.unwrap_or_else(|| told(&bare)),
    );
    Ok(())
}

/// Where the act itself is to be seen at work, and not only what is behind it.
#[then(regex = r#"^bare, the probe "(.+)" succeeds and gets the secret$"#)]
async fn bare_act_gets_secret(scene: &mut Scene, words: String) -> StepResult {
    let command = scene.probe(&words)?;
    let bare = scene.bare(&command).await?;
    let (found, all) = (secret(&bare), bare.report.lines.iter().all(|l| l.ok));
    let shown = found.is_some() && all && bare.unfinished().is_none();
    let seen = format!("{}; {}", found.unwrap_or_else(|| "bare, no secret".to_owned()), told(&bare));
    act(scene, shown, seen, &bare);
    Ok(())
}

#[then(regex = r#"^bare, the probe "(.+)" succeeds and writes "(.+)"$"#)]
async fn bare_act_writes(scene: &mut Scene, words: String, path: String) -> StepResult {
    let (command, path) = (scene.probe(&words)?, scene.expand(&path)?);
    let bare = scene.bare(&command).await?;
    let (there, all) = (std::fs::symlink_metadata(&path).is_ok(), bare.report.lines.iter().all(|l| l.ok));
    act(scene, there && all && bare.unfinished().is_none(), told(&bare), &bare);
    Ok(())
}

/// Where nobody may make a user namespace, or has no capabilities in one, the control is moot.
fn act(scene: &mut Scene, shown: bool, seen: String, bare: &Launch) {
    let asked = bare.report.lines.iter().any(|l| l.action == "userns");
    let moot = (asked && !shown).then(host::no_user_namespaces).flatten();
    scene.controls.push(Control { kind: ControlKind::Bare, shown, seen, moot });
}

#[then("the probe finds nothing there")]
fn nothing_there(scene: &mut Scene) -> StepResult {
    let report = &scene.last()?.report;
    let held = !report.lines.is_empty() && report.lines.iter().all(|l| !l.ok);
    let seen = report.summary();
    scene.found(held, seen);
    Ok(())
}

#[then("bare, the same probe finds it")]
async fn bare_finds(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let shown = !bare.report.lines.is_empty() && bare.report.lines.iter().all(|l| l.ok);
    scene.control(ControlKind::Bare, shown && bare.unfinished().is_none(), told(&bare));
    Ok(())
}

#[then(regex = r#"^"(.+)" is not there afterwards$"#)]
fn not_there(scene: &mut Scene, path: String) -> StepResult {
    let path = scene.expand(&path)?;
    let there = std::fs::symlink_metadata(&path).is_ok();
    scene.found_certain(!there, format!("{path} {}", if there { "was written" } else { "is not there" }));
    Ok(())
}

#[then(regex = r#"^bare, the same probe writes "(.+)"$"#)]
async fn bare_writes(scene: &mut Scene, path: String) -> StepResult {
    let path = scene.expand(&path)?;
    let bare = scene.bare(&scene.command()?).await?;
    let there = std::fs::symlink_metadata(&path).is_ok();
    scene.control(ControlKind::Bare, there && bare.unfinished().is_none(), told(&bare));
    Ok(())
}

#[then(regex = r"^it ran (free|confined)$")]
fn ran(scene: &mut Scene, how: String) -> StepResult {
    if scene.launches.is_empty() {
        return Err("nothing was launched".to_owned());
    }
    let wrong = scene.launches.iter().find(|l| secret(l).is_some() != (how == "free")).map(told);
    let seen = wrong.clone().unwrap_or_else(|| format!("{how}, {} times", scene.launches.len()));
    scene.found(wrong.is_none(), seen);
    Ok(())
}

/// Why a probe can do nothing to another process here, if it tried what only a tracer may, ptrace(2).
pub fn untraceable(bare: &Launch) -> Option<String> {
    const TRACING: [&str; 4] = ["ptrace", "memory", "pidfd", "kcmp"];
    let tried = bare.report.lines.iter().any(|l| TRACING.contains(&l.action.as_str()));
    tried.then(host::no_tracing).flatten()
}

/// The first token of a canary in what a launch printed, a listener that was reached, or a file in which a sweep found a
/// token.
pub fn secret(launch: &Launch) -> Option<String> {
    if let Some(token) = token(&launch.output()) {
        return Some(format!("the secret {token} arrived"));
    }
    // The listener may be slow to answer: that it could be connected to is what counts.
    if let Some(line) = launch.report.lines.iter().find(|l| l.action == "socket" && l.ok) {
        return Some(format!("the socket {} was reached", line.target));
    }
    let hits = launch.report.lines.iter().filter(|l| l.action == "sweep").filter_map(|l| l.detail.get("hits"));
    let own = launch.factory.display().to_string();
    hits.filter_map(|hits| hits.as_array())
        .flatten()
        .filter_map(|hit| hit.get("path").and_then(|p| p.as_str()))
        .find(|path| !path.starts_with(&own))
        .map(|path| format!("a secret stands in {path}"))
}

/// A whole token; its beginning alone stands in the argv of a sweep, which messages may repeat.
pub fn token(text: &str) -> Option<String> {
    text.match_indices(TOKEN).find_map(|(at, _)| {
        let rest: String = text[at + TOKEN.len()..].chars().take_while(char::is_ascii_hexdigit).collect();
        (!rest.is_empty()).then(|| format!("{TOKEN}{rest}"))
    })
}

/// What came of a launch, for a reader.
pub fn told(launch: &Launch) -> String {
    format!(
        "exit {:?}; {}; stdout: {}; stderr: {}",
        launch.exit,
        launch.report.summary(),
        line(&launch.stdout, 160),
        line(&launch.stderr, 160)
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_beginning_of_a_token_is_not_a_secret() {
        assert_eq!(super::token("sweep --find kusaw-canary- /"), None);
        assert_eq!(super::token("x kusaw-canary-0a1b\n").as_deref(), Some("kusaw-canary-0a1b"));
    }
}
