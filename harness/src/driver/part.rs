//! What the harness provides for a driver.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

/// What the harness puts into the lab for a driver: a program or file into `/opt/driver/bin`, a folder as
/// `/opt/driver/NAME`, or a set-user-ID program into `/opt/driver/set-user-id`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A binary target of this workspace, built with cargo.
    #[serde(default)]
    pub cargo: Option<String>,
    /// Whether that binary is linked statically (`ci/static.toml`).
    #[serde(default, rename = "static")]
    pub is_static: bool,
    /// A file, relative to the root of the checkout; one that begins with `./`, to the folder of the manifest.
    #[serde(default)]
    pub file: Option<PathBuf>,
    /// A folder, relative as `file` is; inside it is read-only. Without it the driver is blocked.
    #[serde(default)]
    pub folder: Option<PathBuf>,
    /// The command that makes that folder and installs what the driver needs; told where something is missing.
    #[serde(default)]
    pub made_by: Option<String>,
    /// A program of the system that its package makes set-user-ID root. The lab shows the system without such bits, so it
    /// gets this one as a copy, where root starts the suite; a suite that a user starts cannot show it, and the driver is
    /// blocked.
    #[serde(default)]
    pub set_user_id: Option<String>,
}

impl Part {
    /// Its name in the lab: the last part of its path.
    pub fn name(&self) -> String {
        let path = self.file.as_deref().or(self.folder.as_deref());
        let file = || path.and_then(Path::file_name).map(|n| n.to_string_lossy().into_owned());
        self.cargo.clone().or_else(|| self.set_user_id.clone()).or_else(file).unwrap_or_default()
    }

    /// Makes a path that begins with `./` one in the folder of the manifest, which may lie anywhere.
    pub fn beside(&mut self, manifest: &Path) {
        let folder = manifest.parent().unwrap_or(Path::new(""));
        for path in [&mut self.file, &mut self.folder].into_iter().flatten().filter(|path| path.starts_with(".")) {
            *path = folder.join(&path);
        }
    }

    /// Whether it is one thing, and complete.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let kinds = [self.cargo.is_some(), self.file.is_some(), self.folder.is_some(), self.set_user_id.is_some()];
        if kinds.iter().filter(|k| **k).count() != 1 {
            return Err("provide: an entry has one of cargo:, file:, folder: and set_user_id:".to_owned());
        }
        if self.set_user_id.as_ref().is_some_and(|name| name.is_empty() || name.contains('/')) {
            return Err("provide: set_user_id: is the name of a program of the system, not a path".to_owned());
        }
        if (self.folder.is_some() || self.set_user_id.is_some()) != self.made_by.is_some() {
            return Err(format!("provide: {}: a folder or set_user_id:, and only those, has made_by:", self.name()));
        }
        if self.folder.is_some() && matches!(self.name().as_str(), "" | "bin" | "set-user-id") {
            return Err("provide: a folder has a name other than bin and set-user-id, where programs lie".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::driver::Manifest;

    #[test]
    fn only_what_begins_with_a_dot_is_beside_the_manifest() {
        let of = |file: &str| {
            let text = format!("name: n\nkind: sandbox\nplatforms: [linux]\nprovide: [{{file: {file}}}]\n");
            let mut part = Manifest::parse(&text).unwrap().provide.remove(0);
            part.beside(std::path::Path::new("/my/box.yaml"));
            part.file.unwrap()
        };
        assert_eq!(of("./box"), std::path::Path::new("/my/box"));
        assert_eq!(of("harness/letter/letter"), std::path::Path::new("harness/letter/letter"));
    }

    #[test]
    fn a_part_is_one_thing_and_a_folder_says_who_makes_it() {
        let check = |part: &str| {
            let manifest =
                Manifest::parse(&format!("name: n\nkind: sandbox\nplatforms: [linux]\nprovide: [{part}]\n")).unwrap();
            (manifest.provide[0].name(), manifest.provide[0].check())
        };
        assert_eq!(check("{folder: target/peers/x, made_by: ci/peers x}"), ("x".to_owned(), Ok(())));
        assert_eq!(check("{file: a/letter}"), ("letter".to_owned(), Ok(())));
        assert_eq!(check("{set_user_id: jail, made_by: ci/peers jail}"), ("jail".to_owned(), Ok(())));
        for wrong in [
            "{}",
            "{cargo: a, file: b}",
            "{folder: a/x}",
            "{file: a, made_by: b}",
            "{folder: a/bin, made_by: b}",
            "{set_user_id: /usr/bin/jail, made_by: b}",
            "{set_user_id: jail}",
        ] {
            assert!(check(wrong).1.is_err(), "{wrong}");
        }
    }
}
