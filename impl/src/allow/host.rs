//! Reads the facts of this host that the entries are judged by, and where entries lead.

use std::path::{Path, PathBuf};

use super::entry::{self, Entry};
use super::facts::{Asked, Facts};
use super::protected::Guards;
use super::walk::{Walk, as_far_as_real, walk};
use crate::backend::bubblewrap;
use crate::private;
use crate::settings::Settings;
use nix::errno::Errno;

/// The user's home, if it is known.
pub fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())
}

/// Where the entries lead.
pub fn ask(entries: Vec<Entry>, factory: &Path) -> Vec<Asked> {
    let home = home();
    let nowhere = || Walk { places: Vec::new(), links: Vec::new(), end: Err(Errno::ENOENT) };
    let asked = entries.into_iter().map(|entry| {
        let walk = entry.place(factory, home.as_deref()).map_or_else(nowhere, |place| walk(&place));
        Asked { entry, walk }
    });
    asked.collect()
}

/// The facts for these settings; `factory` is a real path.
pub fn facts(factory: &Path, settings: &Settings) -> Facts {
    let temp = std::env::temp_dir();
    let mut guards = Guards::of(factory, settings, &temp);
    let temp = as_far_as_real(&temp);
    let mut facts = Facts {
        attempts: factory.join("attempts"),
        hidden: bubblewrap::hidden(),
        hide: private_places(),
        home: home().map(|home| as_far_as_real(&home)),
        ..Facts::default()
    };
    facts.hide.push(temp.clone());
    facts.temp = temp;
    let mut writes = ask(entry::all_writes(settings), factory);
    writes.iter().for_each(|one| guards.add_factories(&one.walk, factory));
    facts.guards = guards.all;
    // Outer ones first: what lies in one that is writable does not count by where it leads.
    let home = home();
    writes.sort_by_key(|one| one.entry.place(factory, home.as_deref()).map(|place| place.components().count()));
    for one in writes {
        let place = facts.place(&one);
        facts.writable.extend(place);
    }
    facts
}

/// What must not be seen and is there: kusaw's data folder as a whole, so that nothing made in it later appears, and what
/// links lead to out of it.
fn private_places() -> Vec<PathBuf> {
    let inner = private::ALL.iter().filter_map(|(name, _)| private::place(name));
    let places = private::data().into_iter().chain(inner).map(|place| as_far_as_real(&place));
    places.filter(|place| place.exists()).collect()
}
