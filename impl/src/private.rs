//! Where kusaw keeps what no step may ever see: the secret store, its keys, and what signing needs. Whatever makes one of
//! these, and whatever hides them, asks here.

use std::path::PathBuf;

use crate::reach;

/// Folders in the data folder, with their names in messages.
pub const ALL: [(&str, &str); 3] =
    [("store", "the secret store"), ("keys", "the keys of the secret store"), ("signing", "the place for signing")];

/// kusaw's data folder, `${XDG_DATA_HOME:-~/.local/share}/kusaw`; `None` without a home.
pub fn data() -> Option<PathBuf> {
    Some(reach::base("XDG_DATA_HOME", ".local/share")?.join("kusaw"))
}

/// Those that are there and lie in something readable, by their real paths.
pub fn shown_by(read: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let places = ALL.iter().filter_map(|(name, _)| place(name)?.canonicalize().ok());
    places.filter(|place| place.is_dir() && read.iter().any(|shown| place.starts_with(shown)))
}

/// One of them: a folder in the data folder.
pub fn place(name: &str) -> Option<PathBuf> {
    Some(data()?.join(name))
}
