//! The repositories of the chapter GIT: one with a history, and the kinds of repository that people have.
//!
//! Each scenario gets its own, in place of the lab's plain one. What is the same for many is made once in a run and copied.

mod history;
mod kinds;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use kinds::Kind;

use super::{SUITE, home};

/// Makes the repositories of a scenario, the first of this kind; where it lies, for the settings.
///
/// # Errors
/// When git cannot make it.
pub fn provide(nonce: &str, kind: Kind) -> io::Result<PathBuf> {
    home::provide_repositories(nonce)?;
    let demo = home::repository_of(nonce, home::REPOSITORY_NAMES[0]);
    let made = made(kind.format())?;
    fs::remove_dir_all(&demo)?;
    home::copy_repository(&made, &demo)?;
    identify(&home::repository_of(nonce, home::REPOSITORY_NAMES[1]))?;
    kind.shape(&demo)
}

/// A repository with a history in a format, which nobody changes: made when it is asked for first.
fn made(format: &[&str]) -> io::Result<PathBuf> {
    let name = format!("history{}", format.concat());
    let folder = Path::new(SUITE).join("repositories").join(name);
    if !folder.exists() {
        history::make(&folder, format)?;
    }
    Ok(folder)
}

/// Who commits there: the sandbox of nobody has to show the home for that.
fn identify(folder: &Path) -> io::Result<()> {
    home::git(folder, &["config", "user.name", "Dev"])?;
    home::git(folder, &["config", "user.email", "dev@devbox.example"])
}
