//! Reads the facts of this host that the entries are judged by, and where entries lead.

use std::collections::HashMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::entry::{self, Entry, Kind};
use super::facts::{Asked, Facts};
use super::look::Look;
use super::protected::Guards;
use super::walk::{Walk, as_far_as_real, walk};
use crate::backend::bubblewrap;
use crate::outcome::{Reason, Refusal};
use crate::private;
use crate::reach;
use crate::serve::place;
use crate::settings::{self, Settings};
use nix::errno::Errno;
use nix::unistd::geteuid;

/// Where entries lead. To each path is gone once.
pub struct Ways<'a> {
    /// A real path.
    factory: &'a Path,
    home: Option<PathBuf>,
    gone: HashMap<PathBuf, Rc<Walk>>,
}

impl<'a> Ways<'a> {
    /// None gone yet; `factory` is a real path.
    pub fn new(factory: &'a Path) -> Ways<'a> {
        Ways { factory, home: reach::own_home(), gone: HashMap::new() }
    }

    /// The entries, each with its way.
    pub fn ask(&mut self, entries: Vec<Entry>) -> Vec<Asked> {
        let nowhere = || Walk { places: Vec::new(), links: Vec::new(), end: Err(Errno::ENOENT) };
        let asked = entries.into_iter().map(|entry| {
            let walk = match entry.place(self.factory, self.home.as_deref()) {
                Some(place) => self.gone.entry(place).or_insert_with_key(|place| Rc::new(walk(place))).clone(),
                None => Rc::new(nowhere()),
            };
            Asked { entry, walk }
        });
        asked.collect()
    }

    /// The facts for these settings; `look` finds other factories in what can be written, as far as it reaches.
    pub fn facts(&mut self, settings: &Settings, look: &mut Look) -> Facts {
        let temp = std::env::temp_dir();
        let all = self.ask(entry::all(settings));
        let (mut writes, factory) = (all.clone(), self.factory);
        writes.retain(|one| one.entry.kind >= Kind::Write);
        let mut guards = Guards::of(factory, settings, &temp);
        for end in writes.iter().filter_map(|one| one.walk.end.as_ref().ok()) {
            let above = end.path.ancestors().filter(|above| *above != factory && above.join(settings::FILE).is_file());
            above.for_each(|above| guards.add_other(above));
        }
        let temp = as_far_as_real(&temp);
        let mut facts = Facts {
            guards: guards.all,
            attempts: all.iter().flat_map(|one| &one.walk.places).filter(|place| is_attempts(place)).cloned().collect(),
            hidden: bubblewrap::hidden(),
            is_root: geteuid().is_root(),
            hide: private_places().into_iter().chain([temp.clone(), factory.join(place::FOLDER)]).collect(),
            home: self.home.as_ref().map(|home| as_far_as_real(home)),
            temp,
            ..Facts::default()
        };
        facts.attempts.insert(factory.join("attempts"));
        // Outer ones first: what lies in one that is writable does not count by where it leads.
        writes
            .sort_by_key(|one| one.entry.place(factory, self.home.as_deref()).map(|place| place.components().count()));
        let mut inner = Guards::default();
        for one in writes {
            let Some(place) = facts.place(&one) else { continue };
            look.at(&place).factories.iter().for_each(|found| inner.add_other(found));
            facts.writable.insert(place);
        }
        facts.guards.extend(inner.all);
        facts
    }
}

/// Whether a place is the folder of attempts of some factory.
fn is_attempts(place: &Path) -> bool {
    place.ends_with("attempts") && place.with_file_name(settings::FILE).exists()
}

/// What must not be seen: kusaw's data folder as a whole, so that nothing made in it later appears, and what links lead to out
/// of it.
fn private_places() -> Vec<PathBuf> {
    let inner = private::places().into_iter().map(|(place, _)| as_far_as_real(&place)).filter(|place| place.exists());
    private::data().iter().map(|data| as_far_as_real(data)).chain(inner).collect()
}

/// Makes the folders that are to be hidden, where they are not there: nothing can be laid over what is missing, and what is
/// made while a step runs would be seen.
pub fn provide(hidden: &[PathBuf]) -> Result<(), Refusal> {
    hidden.iter().filter(|place| !place.exists()).try_for_each(|place| {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(place);
        made.map_err(|e| Refusal::new(Reason::SetupFailed, format!("{}: {e}", place.display())))
    })
}
