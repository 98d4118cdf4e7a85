//! The import against stores as steps leave them, made by hand: what is imported, what is refused, and what of a refused one
//! is in the repository (nothing).
#![allow(missing_docs, clippy::unwrap_used)]

mod bounds;
mod crash;
mod ground;
mod odd;
mod ordinary;
mod refused;
mod signing;
mod traps;
mod trees;
mod worktree;
