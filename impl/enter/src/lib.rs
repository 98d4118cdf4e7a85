//! What the launcher `kusaw` and the stage `kusaw-enter` say to each other over one inherited socketpair.
//! The job (argv, environment, working folder, ports) and the step's descriptors travel here and nowhere
//! else: nothing about the step may ever stand in an argv or environment that others can read.

pub mod channel;
pub mod job;
pub mod landlock;
pub mod message;
pub mod place;

pub use job::Job;
pub use message::{Message, Part};
