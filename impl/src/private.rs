//! Where kusaw keeps what no step may ever see: the secret store, its keys, and what signing needs. Whatever makes one of
//! these, and whatever hides them, asks here.

use std::path::PathBuf;

use crate::user;

/// Folders in the data folder, with their names in messages.
pub const ALL: [(&str, &str); 4] = [
    ("store", "the secret store"),
    ("keys", "the keys of the secret store"),
    ("signing", "the place for signing"),
    (AGENTS, "what kusaw has written down about agents"),
];

/// Of agents: which links in their state folders are followed.
pub const AGENTS: &str = "agents";

/// Where kusaw's data folder can be: `${XDG_DATA_HOME:-~/.local/share}/kusaw`, with the variables as they are here, or as
/// another session of the same user has them.
pub fn data() -> Vec<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let own = user::own().map(|own| own.home.clone());
    folders(variable("XDG_DATA_HOME"), [variable("HOME"), own])
}

/// The folders in each that no step may see, with their names in messages.
pub fn places() -> Vec<(PathBuf, &'static str)> {
    data().iter().flat_map(|data| ALL.map(|(name, what)| (data.join(name), what))).collect()
}

/// Those that are there and lie in something readable, by their real paths.
pub fn shown_by(read: &[PathBuf]) -> impl Iterator<Item = PathBuf> {
    let places = places().into_iter().filter_map(|(place, _)| place.canonicalize().ok());
    places.filter(|place| place.is_dir() && read.iter().any(|shown| place.starts_with(shown)))
}

fn folders(xdg: Option<PathBuf>, homes: [Option<PathBuf>; 2]) -> Vec<PathBuf> {
    let of_home = homes.into_iter().flatten().map(|home| home.join(".local/share"));
    let all = xdg.into_iter().chain(of_home).filter(|base| base.is_absolute()).map(|base| base.join("kusaw"));
    let mut folders: Vec<PathBuf> = Vec::new();
    for folder in all {
        if !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_folder_is_known_whatever_the_environment() {
        let of = |xdg: Option<&str>, home: Option<&str>| {
            folders(xdg.map(Into::into), [home.map(Into::into), Some("/h".into())])
        };
        let own = PathBuf::from("/h/.local/share/kusaw");
        assert_eq!(of(None, Some("/h")), std::slice::from_ref(&own));
        assert_eq!(of(Some(""), Some("")), std::slice::from_ref(&own));
        assert_eq!(of(Some("/x"), None), ["/x/kusaw".into(), own]);
    }
}
