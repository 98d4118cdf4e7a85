//! One written entry of `allow_read` or `allow_write`, with the key it stands under. The factory's block and the step's
//! add up; which of them a step of these settings may write is known without looking at the host.

use std::path::{Path, PathBuf};

use super::inner;
use crate::git::worktree;
use crate::outcome::{Reason, Refusal};
use crate::provider::state::{is_there, variable};
use crate::provider::{self, Provider};
use crate::reach;
use crate::settings::{Sandbox, Settings, Step};

/// What an entry adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
    /// The same, for a place that no setting names: an agent has its login there.
    State,
}

/// One entry, as it was written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The key path, such as `steps.build.sandbox.allow_read`.
    pub key: String,
    /// What it adds.
    pub kind: Kind,
    /// The path, as it was written.
    pub written: String,
}

/// The entries of one block; `key` is that of the block.
fn of_block(block: &Sandbox, key: &str) -> Vec<Entry> {
    let lists = [("allow_read", Kind::Read, &block.allow_read), ("allow_write", Kind::Write, &block.allow_write)];
    let entries = lists.into_iter().flat_map(|(name, kind, list)| {
        let entry = move |written: String| Entry { key: format!("{key}.{name}"), kind, written };
        list.iter().map(move |path| entry(path.value.clone()))
    });
    entries.collect()
}

/// The entries of one attempt: the factory's, then the step's.
pub fn of_attempt(settings: &Settings, name: &str, step: &Step) -> Vec<Entry> {
    let of_step = step.block().map(|block| of_block(block, &format!("steps.{name}.sandbox")));
    of_block(&settings.sandbox, "sandbox").into_iter().chain(of_step.into_iter().flatten()).collect()
}

/// The state of the agent that runs a step, as far as it is there.
pub fn of_state(name: &str, step: &Step) -> Result<Vec<Entry>, Refusal> {
    let Some(provider) = provider::of(step) else { return Ok(Vec::new()) };
    let state = provider.state(&reach::home(), |name| variable(&step.env, name));
    let state = state.map_err(|e| Refusal {
        fix: Some(format!("set {} to an absolute path, or not at all", e.0)),
        ..Refusal::new(Reason::UnresolvedPath, format!("steps.{name}: {e}"))
    })?;
    let key = format!("steps.{name}, state of {}", provider.name);
    let entry =
        |place: PathBuf| Entry { key: key.clone(), kind: Kind::State, written: place.to_string_lossy().into_owned() };
    Ok(state.places.into_iter().filter(|place| is_there(place)).map(entry).collect())
}

/// The state of all agents, as kusaw's own variables have it: a step of another factory can write there.
pub fn all_state() -> Vec<Entry> {
    let state = |provider: &Provider| provider.state(&reach::home(), |name| std::env::var_os(name)).ok();
    let places = provider::ALL.iter().filter_map(state).flat_map(|state| state.places).filter(|place| is_there(place));
    let entry =
        |place: PathBuf| Entry { key: String::new(), kind: Kind::State, written: place.to_string_lossy().into_owned() };
    places.map(entry).collect()
}

/// Those of all steps of these settings, each path once a kind.
pub fn all(settings: &Settings) -> Vec<Entry> {
    let blocks = settings.steps.values().filter_map(Step::block);
    let mut all: Vec<Entry> =
        [&settings.sandbox].into_iter().chain(blocks).flat_map(|block| of_block(block, "")).collect();
    let state = settings.steps.iter().filter_map(|(name, step)| of_state(name, step).ok()).flatten();
    all.extend(state.chain(all_state()));
    let linked = inner::all_targets().into_iter().map(|target| target.to_string_lossy().into_owned());
    all.extend(linked.map(|written| Entry { key: String::new(), kind: Kind::Write, written }));
    all.iter_mut().for_each(|entry| entry.key.clear());
    all.sort();
    all.dedup();
    all
}

impl Entry {
    /// Where it is, absolute; `None` when it starts at a home that is not known.
    pub fn place(&self, factory: &Path, home: Option<&Path>) -> Option<PathBuf> {
        let known = home.is_some() || !self.written.starts_with('~');
        known.then(|| worktree::place(&self.written, factory, home))
    }
}
