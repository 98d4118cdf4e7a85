//! Where records lie: a file, the folder that a run wrote, or a folder of such folders.

use std::path::{Path, PathBuf};

/// The name of a record.
const NAME: &str = "run.ndjson";

/// The records at a path: of a folder of runs that of each, by name, else the path itself. None = a folder without any.
pub fn found(path: &Path) -> Vec<PathBuf> {
    if !path.is_dir() || path.join(NAME).exists() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten();
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|folder| folder.join(NAME).is_file());
    folders.sort();
    folders
}

/// That a folder has none.
pub fn none_in(path: &Path) -> String {
    format!("{}: no {NAME} is in it, nor in a folder of it; `conformance run` makes one", path.display())
}
