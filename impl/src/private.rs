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

/// One of them: a folder in the data folder.
pub fn place(name: &str) -> Option<PathBuf> {
    Some(data()?.join(name))
}
