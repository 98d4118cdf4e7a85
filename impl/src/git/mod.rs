//! A repository's git folder around one attempt. Before it: a linked worktree on a branch of its own, and a private store that
//! the step has in place of the real git folder. After it: what the step has committed is checked and imported, and nothing
//! else of what it did to the store leaves it.

pub mod command;
pub mod config;
pub mod folders;
pub mod identity;
pub mod import;
pub mod key;
pub mod lock;
pub mod objects;
pub mod outcome;
pub mod record;
pub mod recover;
pub mod refs;
pub mod store;
pub mod view;
pub mod worktree;
