//! The repositories of the chapter GIT: one with a history, and the kinds of repository that people have.
//!
//! Each scenario gets its own, in place of the lab's plain one. What is the same for many is made once in a run and copied.

mod history;
mod kinds;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

pub use kinds::Kind;

use super::{SUITE, home};

/// Makes the repositories of a scenario, the first of this kind; where it lies, for the settings.
///
/// # Errors
/// When git cannot make it.
pub fn provide(nonce: &str, kind: Kind) -> io::Result<PathBuf> {
    let [demo, extra] = home::REPOSITORY_NAMES.map(|name| home::repository_of(nonce, name));
    let made = made(kind.format())?;
    if demo.exists() {
        fs::remove_dir_all(&demo)?;
    }
    home::copy_repository(&made, &demo)?;
    if !extra.exists() {
        home::provide_repositories(nonce)?;
        identify(&extra.join(".git"))?;
    }
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

/// Who commits in the repository of a git folder, by its config: no sandbox has to show the home for that.
fn identify(git: &Path) -> io::Result<()> {
    let mut config = fs::File::options().append(true).open(git.join("config"))?;
    config.write_all(b"[user]\n\tname = Dev\n\temail = dev@devbox.example\n")
}
