//! Agents that lie ready outside, as their own installer lays them down: `~/.local/share/NAME/versions/VERSION`, a program.
//! They are shown in the lab, read-only, where a scenario uses them (the tag `@agent:NAME`); `ci/agents` brings them.

use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::HOME;
use super::programs::Folder;

/// Where `ci/agents` puts them, in the checkout.
const READY: &str = "target/agents";
/// Where an installer puts them, in the home.
const SHARE: &str = ".local/share";

/// The folder of an agent in the lab.
pub fn place(name: &str) -> PathBuf {
    Path::new(HOME).join(SHARE).join(name)
}

/// Those of these agents that lie ready in a checkout.
pub fn ready<'a>(root: &Path, names: impl Iterator<Item = &'a str>) -> Vec<Folder> {
    let mut folders: Vec<Folder> =
        names.map(|name| Folder { name: name.to_owned(), path: root.join(READY).join(name) }).collect();
    folders.sort_by(|a, b| a.name.cmp(&b.name));
    folders.dedup_by(|a, b| a.name == b.name);
    folders.retain(|folder| folder.path.is_dir());
    folders
}

/// The program of an agent in the lab, if it is there.
pub fn program(name: &str) -> Option<PathBuf> {
    let versions = std::fs::read_dir(place(name).join("versions")).ok()?;
    versions.flatten().map(|entry| entry.path()).filter(|path| super::is_program(path)).max()
}

/// Makes a folder with a link to it, for PATH: the home's own agents are others. Called as the lab's user.
///
/// # Errors
/// When it is not there, or the link cannot be made.
pub fn link(name: &str, folder: &Path) -> io::Result<()> {
    let program = program(name).ok_or_else(|| io::Error::other(format!("{name} is not installed; `ci/agents`")))?;
    std::fs::create_dir_all(folder)?;
    symlink(program, folder.join(name))
}
