//! What is to be seen inside, by place: an inner one hides an outer one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::entry::Kind;
use super::facts::Facts;

/// The places so far.
pub struct Shown<'a> {
    nodes: HashMap<PathBuf, Option<Kind>>,
    facts: &'a Facts,
}

impl<'a> Shown<'a> {
    /// What is decided without entries.
    pub fn new(facts: &'a Facts) -> Shown<'a> {
        let hidden = facts.hidden.iter().chain([&facts.temp]).map(|place| (place.clone(), None));
        Shown { nodes: [(PathBuf::from("/usr"), Some(Kind::Read))].into_iter().chain(hidden).collect(), facts }
    }

    /// Whether `path` is shown, as at least this.
    pub fn covers(&self, path: &Path, kind: Kind) -> bool {
        let nearest = path.ancestors().find_map(|above| self.nodes.get(above));
        nearest.is_some_and(|shown| shown.is_some_and(|shown| shown >= kind))
    }

    /// One more; the value is whether it takes a mount.
    pub fn add(&mut self, path: &Path, kind: Kind) -> bool {
        let opens = self.facts.hidden.iter().any(|hidden| hidden.starts_with(path) && self.nodes.contains_key(hidden));
        if !opens && self.covers(path, kind) {
            return false;
        }
        self.facts.hidden.iter().filter(|hidden| hidden.starts_with(path)).for_each(|hidden| {
            self.nodes.remove(hidden);
        });
        self.nodes.insert(path.into(), Some(kind));
        true
    }
}
