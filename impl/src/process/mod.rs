//! kusaw as a process among others: the signals it takes, the ends of its children, the step's stdio, programs
//! on PATH. Knows nothing of attempts and sandboxes, so that both can stand on it.

pub mod apart;
pub mod command;
pub mod grace;
pub mod path;
pub mod pidfd;
pub mod pump;
pub mod signals;
pub mod stdio;
pub mod terminal;
