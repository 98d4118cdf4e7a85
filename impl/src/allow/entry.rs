//! One written entry of `allow_read` or `allow_write`, with the key it stands under. The factory's block and the step's
//! add up; which of them a step of these settings may write is known without looking at the host.

use std::path::{Path, PathBuf};

use crate::git::worktree;
use crate::settings::{Sandbox, Settings, Step};

/// What an entry adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Reading.
    Read,
    /// Reading and writing.
    Write,
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

/// Those of all steps of these settings, each path once a kind.
pub fn all(settings: &Settings) -> Vec<Entry> {
    let blocks = settings.steps.values().filter_map(Step::block);
    let mut all: Vec<Entry> =
        [&settings.sandbox].into_iter().chain(blocks).flat_map(|block| of_block(block, "")).collect();
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
