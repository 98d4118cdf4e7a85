//! Given and Then for ordinary work: odd names, odd places, and what a repository brings along.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use cucumber::{given, then};
use serde_json::json;

use super::StepResult;
use crate::driver::Templates;
use crate::lab::{HOME, home};
use crate::plan::Plan;
use crate::scene::{Kept, Scene};
use crate::state::State;

#[given(regex = r#"(?s)^the repository's folder is called "(.*)"$"#)]
fn repository_called(scene: &mut Scene, name: String) -> StepResult {
    let from = home::repository_of(&scene.nonce, "demo");
    let to = home::repository_of(&scene.nonce, &name);
    let moved = || home::provide_repositories(&scene.nonce).and_then(|()| std::fs::rename(&from, &to));
    moved().map_err(|e| format!("{}: {e}", to.display()))?;
    scene.plan.repository = Some(to.display().to_string());
    Ok(())
}

#[given("the repository's folder is a link to it")]
fn repository_linked(scene: &mut Scene) -> StepResult {
    let (from, to) = (home::repository_of(&scene.nonce, "demo"), home::repository_of(&scene.nonce, "door"));
    let link = || home::provide_repositories(&scene.nonce).and_then(|()| std::os::unix::fs::symlink(&from, &to));
    link().map_err(|e| format!("{}: {e}", to.display()))?;
    scene.plan.repository = Some(to.display().to_string());
    Ok(())
}

#[given(regex = r#"(?s)^the factory's folder is called "(.*)"$"#)]
fn factory_called(scene: &mut Scene, name: String) {
    scene.plan.folder = Some(name);
}

/// The files that a driver gets its settings from, in the repository: with the sandbox off and the home allowed.
#[given("the repository holds settings of its own that allow everything")]
fn own_settings(scene: &mut Scene) -> StepResult {
    let manifest = &Scene::context()?.manifest;
    let generous = json!({"mode": "off", "allow_read": ["~"], "allow_write": ["~"]});
    let plan = Plan { sandbox: Some(generous), ..scene.plan.clone() };
    let settings = plan.settings(|name| home::repository_of(&scene.nonce, name).display().to_string());
    let context = json!({"settings": settings, "home": HOME, "allow_read": [HOME], "allow_write": [HOME]});
    let templates = Templates::new(context);
    for (path, content) in &manifest.files {
        let path = PathBuf::from(templates.render(path)?);
        let file = path.file_name().map(|n| n.to_string_lossy().into_owned()).ok_or("a file without a name")?;
        home::commit(&scene.nonce, "demo", &file, &templates.render(content)?).map_err(|e| format!("{file}: {e}"))?;
    }
    home::commit(&scene.nonce, "demo", ".claude/settings.json", r#"{"sandbox": {"enabled": false}}"#)
        .map_err(|e| e.to_string())
}

#[then(regex = r#"^in the worktree, the file whose name is the bytes "([0-9a-f ]+)" holds "(.*)"$"#)]
fn named_by_bytes(scene: &mut Scene, bytes: String, text: String) -> StepResult {
    let bytes = bytes.split(' ').map(|byte| u8::from_str_radix(byte, 16)).collect::<Result<Vec<u8>, _>>();
    let path = PathBuf::from(OsString::from_vec(bytes.map_err(|e| format!("the feature's bytes: {e}"))?));
    super::writes::judge(scene, Kept { repo: Some("demo".to_owned()), path, state: State::Holds(text) })
}
