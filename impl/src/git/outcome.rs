//! What became of one worktree's commits, as `outcome.json` has it.

use std::path::PathBuf;

use serde::Serialize;

use super::import::{self, Code};
use super::record::Record;
use super::store::Store;
use crate::stderr;

/// One worktree of an attempt. Names that a step has chosen are escaped.
#[derive(Debug, Clone, Serialize)]
pub struct RepoOutcome {
    /// The repo's name in the settings.
    pub repo: String,
    /// The attempt's own branch, without `refs/heads/`.
    pub branch: String,
    /// The commit it was made at.
    pub base: String,
    /// Where it stands now; the base, if nothing was imported.
    pub tip: String,
    /// Further branches that were imported.
    pub branches: Vec<String>,
    /// How many of its commits were signed.
    pub signed: usize,
    /// Names of what the step made besides: tags, stashes, branches elsewhere. Nothing of that is in the repository.
    pub left: Vec<String>,
    /// What was moved out of the worktree or taken off it.
    pub quarantined: Vec<String>,
    /// Why nothing was imported.
    pub rejected: Option<Rejection>,
}

/// Why nothing was imported.
#[derive(Debug, Clone, Serialize)]
pub struct Rejection {
    /// The stable code.
    pub reason: &'static str,
    /// What and where.
    pub detail: String,
    /// What the user can do about it.
    pub fix: String,
    /// Where the step's commits still are.
    pub kept: PathBuf,
}

/// So often an import is tried that could pass the next time.
const MOST_TRIES: u64 = 5;

impl RepoOutcome {
    /// Imports and says what came of it. What was imported is removed; what was rejected is kept, and looked at no more.
    /// `stop` says whether the user has asked kusaw to end: then the next run imports.
    pub fn of_import(store: &Store, record: &Record, stop: &dyn Fn() -> bool) -> RepoOutcome {
        let short = |name: &str| name.strip_prefix("refs/heads/").unwrap_or(name).to_string();
        let mut outcome = RepoOutcome {
            repo: record.repo.clone(),
            branch: short(&record.branch()),
            base: record.base.clone(),
            tip: record.base.clone(),
            branches: Vec::new(),
            signed: 0,
            left: Vec::new(),
            quarantined: Vec::new(),
            rejected: None,
        };
        match import::import(store, record, stop) {
            Ok(imported) => {
                outcome.tip = imported.tip;
                outcome.branches = imported.branches.iter().map(|(name, _)| short(name)).collect();
                outcome.signed = imported.signed;
                outcome.left = imported.left;
                outcome.quarantined = imported.quarantined;
                store.done().unwrap_or_else(|e| stderr::warn(format!("{}: {e}", store.root.display())));
            }
            Err(rejected) => {
                outcome.quarantined = rejected.quarantined;
                outcome.rejected = Some(Rejection {
                    reason: rejected.code.code(),
                    detail: rejected.detail,
                    fix: rejected.code.fix().into(),
                    kept: store.root.clone(),
                });
                // What may pass the next time is tried again by the next run, but not for ever.
                let is_asked = rejected.code == Code::Interrupted;
                if !is_asked && (!rejected.code.may_pass() || store.tries() >= MOST_TRIES) {
                    store.keep().unwrap_or_else(|e| stderr::warn(format!("{}: {e}", store.root.display())));
                }
            }
        }
        outcome
    }
}
