//! What a scenario puts on the user's host before its first launch, and again before a planted control.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::lab::home;

/// Something that a scenario puts on the user's host.
#[derive(Clone, Debug)]
pub enum Furnished {
    /// A file with a secret.
    Secret(PathBuf),
    /// A file with this text.
    File(PathBuf, String),
    /// A symbolic link, and where it leads.
    Link(PathBuf, PathBuf),
    /// A folder with mode 000.
    Closed(PathBuf),
}

impl Furnished {
    /// Makes it, in place of what is there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make(&self) -> io::Result<()> {
        match self {
            Self::Secret(path) => home::canary(path),
            Self::File(path, text) => {
                fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
                fs::write(path, text)
            }
            Self::Link(path, target) => {
                fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
                fs::remove_file(path).or_else(|e| if e.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(e) })?;
                symlink(target, path)
            }
            Self::Closed(path) => {
                fs::create_dir_all(path)?;
                fs::set_permissions(path, fs::Permissions::from_mode(0o000))
            }
        }
    }
}
