//! The step definitions: what the words of the features mean.
//!
//! Given fills the plan, When carries it out, Then judges what the host shows. No step knows any driver.

mod agents;
mod allowed;
mod asking;
mod descriptors;
mod detached;
mod dying;
mod egress;
mod environment;
mod keyrings;
mod launching;
mod marks;
mod passing;
mod processes;
mod protected;
mod records;
mod repositories;
mod secrets;
mod settings;
mod terminal;
mod tree;
mod weakened;
mod writes;

/// What a step says when the harness itself is at fault; the verdict is then `error`.
pub type StepResult = Result<(), String>;
