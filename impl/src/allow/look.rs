//! Looks for what cannot be seen in a path's name: sockets, which a read-only mount does not close, and a repository's git
//! folder. It follows no link, opens nothing but folders, and ends after so many names.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// How many names may still be looked at, and whether below folders too.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    left: usize,
    deep: bool,
}

impl Names {
    /// Whether it is worth telling that they were too few.
    pub fn tells(self) -> bool {
        self.deep
    }
}

/// A launch never walks: the entries' own folders, and of them no more than takes a few milliseconds.
pub const AT_LAUNCH: Names = Names { left: 2_000, deep: false };

/// For `validate`: all entries together.
pub const TO_VALIDATE: Names = Names { left: 200_000, deep: true };

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Pathname sockets.
    pub sockets: Vec<PathBuf>,
    /// Whether the folder itself is a checkout.
    pub git: bool,
    /// Not everything was looked at.
    pub stopped: bool,
}

/// Looks into the folder `place`; what cannot be listed is left out.
pub fn look(place: &Path, names: &mut Names) -> Found {
    let mut found = Found::default();
    let mut ahead = vec![place.to_path_buf()];
    while let Some(folder) = ahead.pop() {
        let Ok(list) = fs::read_dir(&folder) else { continue };
        for entry in list.flatten() {
            if names.left == 0 {
                found.stopped = true;
                return found;
            }
            names.left -= 1;
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_socket() {
                found.sockets.push(entry.path());
            }
            found.git |= entry.file_name() == ".git" && folder == place;
            if names.deep && kind.is_dir() {
                ahead.push(entry.path());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn sockets_are_found_and_the_look_ends() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/.git")).unwrap();
        let _kept = [at("s"), at("a/t")].map(|path| UnixListener::bind(path).unwrap());
        let look = |place: &Path, mut names: Names| look(place, &mut names);
        assert_eq!(look(folder.path(), AT_LAUNCH).sockets, [at("s")]);
        assert_eq!(look(folder.path(), TO_VALIDATE).sockets.len(), 2);
        assert!(look(&at("a"), AT_LAUNCH).git && !look(folder.path(), TO_VALIDATE).git);
        assert!(look(folder.path(), Names { left: 1, deep: true }).stopped);
    }
}
