//! Programs on PATH. Empty and relative entries are never searched: they would search the worktree.

use std::env;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

/// The first `name` on PATH that can be executed.
pub fn find(name: &str) -> Option<PathBuf> {
    folders(&env::var_os("PATH")?).map(|folder| folder.join(name)).find(|file| executable(file))
}

/// What `program` is for a process in `folder`, as execvp has it: a path if it has a slash, else a name.
pub fn find_in(program: &OsStr, folder: &Path) -> Option<PathBuf> {
    match program.as_bytes().contains(&b'/') {
        true => Some(folder.join(program)).filter(|file| executable(file)),
        false => find(program.to_str()?),
    }
}

/// The entries of `path` that are searched.
pub fn folders(path: &OsStr) -> impl Iterator<Item = PathBuf> {
    env::split_paths(path).filter(|folder| folder.is_absolute())
}

/// PATH as it is searched, for a child.
pub fn searched() -> std::ffi::OsString {
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(folders(&path)).unwrap_or_default()
}

fn executable(file: &Path) -> bool {
    file.is_file() && access(file, AccessFlags::X_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_is_a_file_that_can_be_executed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("claude");
        fs::write(&file, "").unwrap();
        assert!(!executable(&file) && !executable(folder.path()) && !executable(&folder.path().join("nothere")));
        fs::set_permissions(&file, Permissions::from_mode(0o755)).unwrap();
        assert!(executable(&file));
    }
}
