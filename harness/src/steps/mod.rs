//! The step definitions: what the words of the features mean.
//!
//! Given fills the plan, When carries it out, Then judges what the host shows. No step knows any driver.

mod agents;
mod allowed;
mod allowlist;
mod arriving;
mod asking;
mod bystander;
mod clients;
mod commands;
mod conversing;
mod crash;
mod descriptors;
mod detached;
mod dying;
mod egress;
mod environment;
mod git;
mod git_acts;
mod git_outside;
mod injecting;
mod keyed;
mod keyrings;
mod kinds;
mod launching;
mod limits;
mod marks;
mod namespaces;
mod network;
mod outside;
mod passing;
mod per_repo;
mod processes;
mod protected;
mod records;
mod refused_calls;
mod repositories;
mod secrets;
mod serve;
mod session;
mod settings;
mod shared;
mod terminal;
mod totals;
mod tree;
mod tunnel;
mod weakened;
mod writes;
mod wrong;

/// What a step says when the harness itself is at fault; the verdict is then `error`.
pub type StepResult = Result<(), String>;
