//! What a path on the host must be: judged by looking at it, after the launch.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A regular file that its owner can execute.
    Executable,
    /// A regular file that runs as whoever starts it: its set-user-id and set-group-id bits are off.
    Ordinary,
    /// Nothing is there.
    Gone,
    /// A file with exactly this text.
    Holds(String),
    /// A file whose last line ends in this text.
    EndsIn(String),
}

impl State {
    /// The state that words of a feature describe.
    ///
    /// # Errors
    /// When they describe none.
    pub fn parse(words: &str) -> Result<Self, String> {
        let quoted = |prefix: &str| words.strip_prefix(prefix)?.strip_prefix('"')?.strip_suffix('"').map(str::to_owned);
        Ok(match words {
            "is a file" => Self::File,
            "is a folder" => Self::Folder,
            "is a link" => Self::Link,
            "is executable" => Self::Executable,
            "is a file without set-id bits" => Self::Ordinary,
            "is gone" => Self::Gone,
            _ => match (quoted("holds "), quoted("ends in ")) {
                (Some(text), _) => Self::Holds(text),
                (_, Some(text)) => Self::EndsIn(text),
                _ => return Err(format!("nobody knows what \"{words}\" is")),
            },
        })
    }

    /// Whether the path is so, and what it is.
    pub fn judge(&self, path: &Path) -> (bool, String) {
        let Ok(meta) = fs::symlink_metadata(path) else {
            return (*self == Self::Gone, format!("{} is not there", path.display()));
        };
        let text = || fs::read_to_string(path).unwrap_or_default();
        let held = match self {
            Self::File => meta.is_file(),
            Self::Folder => meta.is_dir(),
            Self::Link => meta.is_symlink(),
            Self::Executable => meta.is_file() && meta.permissions().mode() & 0o100 != 0,
            Self::Ordinary => meta.is_file() && meta.permissions().mode() & 0o6000 == 0,
            Self::Gone => false,
            Self::Holds(wanted) => meta.is_file() && text() == *wanted,
            Self::EndsIn(wanted) => meta.is_file() && text().trim_end().ends_with(wanted.as_str()),
        };
        (held, format!("{}: {:?}, {} bytes", path.display(), meta.file_type(), meta.len()))
    }
}

/// Every path with this name below `folder`, but not what lies below one; links not followed; what cannot be listed is
/// passed by.
pub fn named(name: &str, folder: &Path, skip: &[&Path]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if skip.iter().any(|s| path.starts_with(s)) {
                continue;
            }
            if entry.file_name() == name {
                found.push(path);
            } else if entry.file_type().is_ok_and(|t| t.is_dir()) {
                folders.push(path);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_states() {
        let folder = std::env::temp_dir().join(format!("kusaw-place-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("file");
        fs::write(&file, "xy").unwrap();
        let is = |words: &str, path: &Path| State::parse(words).unwrap().judge(path).0;
        assert!(is("is a file", &file) && is("holds \"xy\"", &file) && is("ends in \"y\"", &file));
        assert!(!is("holds \"x\"", &file) && !is("is gone", &file) && !is("is a folder", &file));
        assert!(is("is gone", &folder.join("nothing")) && !is("is executable", &file) && is("is a folder", &folder));
        assert!(State::parse("is odd").is_err());
        assert_eq!(named("file", &folder, &[]), std::slice::from_ref(&file));
        assert!(named("file", &folder, &[&file]).is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
