//! The files of a launch: what a manifest renders before it, and settings that are spoilt on purpose.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::driver::{Manifest, Templates};
use crate::plan::{Plan, Spoilt};

/// Writes what the manifest asks for, and the settings file where a scenario writes or spoils it by hand.
///
/// # Errors
/// A template that is wrong, a file that cannot be written, or raw settings for a driver that has another language.
pub fn provide(manifest: &Manifest, plan: &Plan, settings: &Value, templates: &Templates) -> Result<(), String> {
    for (path, content) in &manifest.files {
        write(Path::new(&templates.render(path)?), templates.render(content)?.as_bytes())?;
    }
    let raw = plan.raw(settings);
    if raw.is_none() && plan.spoilt.is_none() {
        return Ok(());
    }
    let file = manifest.settings_file.as_ref().ok_or("the driver does not read the documentation's YAML")?;
    let file = PathBuf::from(templates.render(file)?);
    let spoil = || -> io::Result<()> {
        match &plan.spoilt {
            Some(Spoilt::Missing) => fs::remove_file(&file),
            Some(Spoilt::Folder) => fs::remove_file(&file).and_then(|()| fs::create_dir(&file)),
            Some(Spoilt::Unreadable) => fs::set_permissions(&file, Permissions::from_mode(0o000)),
            _ => fs::write(&file, raw.as_deref().unwrap_or_default()),
        }
    };
    spoil().map_err(|e| format!("{}: {e}", file.display()))
}

/// Puts a file in place of whatever an earlier launch of the scenario left there, in one step: a neighbour may be reading it.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let replace = || -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)?;
        if fs::symlink_metadata(path).is_ok_and(|there| there.is_dir()) {
            fs::remove_dir(path)?;
        }
        let aside = path.with_extension("aside");
        fs::write(&aside, bytes)?;
        fs::rename(&aside, path)
    };
    replace().map_err(|e| format!("{}: {e}", path.display()))
}
