//! Then: the keys in the caller's keyrings.

use cucumber::then;

use super::StepResult;
use super::secrets::secret;
use crate::lab::keyring;
use crate::scene::Scene;
use crate::verdict::{Control, ControlKind};

#[then("bare, the same probe reads the key")]
async fn bare_reads(scene: &mut Scene) -> StepResult {
    let bare = scene.bare(&scene.command()?).await?;
    let found = secret(&bare).filter(|_| bare.unfinished().is_none());
    let seen = found.clone().unwrap_or_else(|| format!("bare, no key: {}", bare.report.summary()));
    keep(scene, found.is_some(), seen);
    Ok(())
}

#[then(regex = r#"^the caller's session keyring has no key "(.+)"$"#)]
fn has_not(scene: &mut Scene, name: String) -> StepResult {
    let name = scene.expand_text(&name)?;
    let there = has(&name)?;
    scene.found_certain(!there, format!("the key {name} is in the caller's session keyring: {there}"));
    scene.searched = Some(name);
    Ok(())
}

#[then("bare, the same probe adds it there")]
async fn bare_adds(scene: &mut Scene) -> StepResult {
    let name = scene.searched.clone().ok_or("no key was searched for")?;
    let bare = scene.bare(&scene.command()?).await?;
    let there = has(&name)?;
    if there {
        keyring::remove(&name).map_err(|e| format!("the key {name}: {e}"))?;
    }
    keep(scene, there, format!("bare, {}; there: {there}", bare.report.summary()));
    Ok(())
}

/// Whether a key is there; where keyrings are refused, none is.
fn has(name: &str) -> Result<bool, String> {
    if keyring::refused().is_some() {
        Ok(false)
    } else {
        keyring::has(name).map_err(|e| format!("the key {name}: {e}"))
    }
}

fn keep(scene: &mut Scene, shown: bool, seen: String) {
    let moot = keyring::refused().filter(|_| !shown);
    scene.controls.push(Control { kind: ControlKind::Bare, shown, seen, moot });
}
