//! kusaw-conformance: what an OS sandbox keeps from a coding agent, proven scenario by scenario.
//!
//! ```text
//! cli ─ reads features/, a driver's manifest, builds programs ─▶ lab ─ namespaces, root, network, home
//!                                                                 │
//!      features ─ engine (cucumber) ─ steps ─ plan ─ launch ──────┤ runs the driver, the probe, or both bare
//!                                      │                          │
//!                                   verdict ◀─ observe, probe ────┘ what the host and the world show
//!                                      └▶ record ─▶ summary, report
//! ```
//! The harness is a black box's judge: it never links to an implementation and never branches on a driver's name.

pub mod apart;
pub mod available;
pub mod caller;
pub mod catalogue;
pub mod cli;
pub mod diff;
pub mod driver;
pub mod ending;
pub mod engine;
pub mod features;
pub mod furnished;
pub mod git_folder;
pub mod host;
pub mod host_git;
pub mod junit;
pub mod keep;
pub mod lab;
pub mod launch;
pub mod lint;
pub mod living;
pub mod log_check;
pub mod moments;
pub mod observe;
pub mod outside;
pub mod page;
pub mod plan;
pub mod probe;
pub mod raw;
pub mod record;
pub mod report;
pub mod saboteurs;
pub mod scene;
pub mod seal;
pub mod search;
pub mod smoke;
pub mod state;
mod steps;
pub mod summary;
pub mod text;
pub mod traceability;
pub mod tree;
pub mod verdict;
pub mod waiting;
pub mod yaml;
