//! Other processes: what they show of themselves, and what can be done to them.

#[cfg(target_os = "linux")]
mod kcmp;
#[cfg(target_os = "linux")]
mod memory;
pub mod pid;
#[cfg(target_os = "linux")]
pub mod pidfd;
mod pids;
mod processes;
#[cfg(target_os = "linux")]
mod ptrace;
pub mod signal;
mod status;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("processes", |words| boxed(processes::Processes::parse(words))),
    ("pids", |words| boxed(pids::Pids::parse(words))),
    ("status", |words| boxed(status::Status::parse(words))),
    ("kill", |words| boxed(signal::Kill::parse(words))),
    ("flood", |words| boxed(signal::Flood::parse(words))),
    #[cfg(target_os = "linux")]
    ("ptrace", |words| boxed(ptrace::Ptrace::parse(words))),
    #[cfg(target_os = "linux")]
    ("memory", |words| boxed(memory::Memory::parse(words))),
    #[cfg(target_os = "linux")]
    ("pidfd", |words| boxed(pidfd::Pidfd::parse(words))),
    #[cfg(target_os = "linux")]
    ("kcmp", |words| boxed(kcmp::Kcmp::parse(words))),
];
