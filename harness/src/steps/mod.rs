//! The step definitions: what the words of the features mean.
//!
//! Given fills the plan, When carries it out, Then judges what the host shows. No step knows any driver.

mod agent_argv;
mod agent_state;
mod agent_token;
mod agents;
mod agreeing;
mod allowed;
mod allowlist;
mod arriving;
mod asking;
mod block;
mod bystander;
pub mod canary;
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
mod intake;
mod kept;
mod keyed;
mod keyrings;
mod kinds;
mod launching;
mod limits;
mod marks;
mod modelled;
mod namespaces;
mod network;
mod outcomes;
mod outside;
mod passing;
mod per_repo;
mod processes;
mod protected;
mod providers;
mod records;
mod refused_calls;
mod repositories;
mod secrets;
mod serve;
mod serve_outside;
mod session;
mod settings;
mod setup;
mod shared;
mod signing;
mod terminal;
mod totals;
mod tree;
mod tunnel;
mod weakened;
mod writes;
mod wrong;

/// What a step says when the harness itself is at fault; the verdict is then `error`.
pub type StepResult = Result<(), String>;
