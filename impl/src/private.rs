//! Where kusaw keeps what no step may ever see: the secret store, its keys, and what signing needs. Whatever makes one of
//! these, and whatever hides them, asks here.

use std::path::PathBuf;

use crate::reach;

/// The secret store.
pub const STORE: &str = "store";

/// The keys that the store is encrypted with.
pub const KEYS: &str = "keys";

/// What signing needs.
pub const SIGNING: &str = "signing";

/// All of them, with their names in messages.
pub const ALL: [(&str, &str); 3] =
    [(STORE, "the secret store"), (KEYS, "the keys of the secret store"), (SIGNING, "the place for signing")];

/// kusaw's data folder, `${XDG_DATA_HOME:-~/.local/share}/kusaw`; `None` without a home.
pub fn data() -> Option<PathBuf> {
    Some(reach::base("XDG_DATA_HOME", ".local/share")?.join("kusaw"))
}

/// One of them: a folder in the data folder.
pub fn place(name: &str) -> Option<PathBuf> {
    Some(data()?.join(name))
}
