//! The reference implementation of the OS sandbox around a step: settings say what an attempt may reach
//! (`reach`), a backend makes it so (`backend`), and whatever is missing ends in a refusal (`outcome`).
//! A step that requires the sandbox is never executed without it.

pub mod allow;
pub mod attempt;
pub mod backend;
pub mod builtin;
pub mod capability;
pub mod cli;
pub mod egress;
pub mod finding;
pub mod git;
pub mod handshake;
pub mod ignoring;
pub mod outcome;
pub mod private;
pub mod process;
pub mod provider;
pub mod reach;
pub mod remove;
pub mod secrets;
pub mod serve;
pub mod settings;
pub mod start;
pub mod stderr;
pub mod store;
pub mod user;
pub mod variables;
pub mod warning;
