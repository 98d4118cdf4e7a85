//! The probe's own process: how it was started, what it holds, what it starts, and how it ends.

mod argv;
mod daemon;
mod descriptors;
mod end;
mod environment;
mod exec;
pub mod ids;
mod linger;
#[cfg(target_os = "linux")]
mod memfd;
mod print;
mod sleep;
mod spawn;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("argv", |words| boxed(argv::Argv::parse(words))),
    ("env", |words| boxed(environment::Env::parse(words))),
    ("descriptors", |words| boxed(descriptors::Descriptors::parse(words))),
    ("exec", |words| boxed(exec::Exec::parse(words))),
    #[cfg(target_os = "linux")]
    ("memfd-exec", |words| boxed(memfd::MemfdExec::parse(words))),
    ("print", |words| boxed(print::Print::parse(words))),
    ("sleep", |words| boxed(sleep::Sleep::parse(words))),
    ("exit", |words| boxed(end::Exit::parse(words))),
    ("self-signal", |words| boxed(end::SelfSignal::parse(words))),
    ("ids", |words| boxed(ids::Ids::parse(words))),
    ("linger", |words| boxed(linger::Linger::parse(words))),
    ("daemon", |words| boxed(daemon::Daemon::parse(words))),
    ("spawn", |words| boxed(spawn::Spawn::parse(words))),
];
