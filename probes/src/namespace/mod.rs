//! Namespaces: which ones a process is in, and entering and making others.

mod numbers;
mod setns;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("namespaces", |words| boxed(numbers::Namespaces::parse(words))),
    ("setns", |words| boxed(setns::Setns::parse(words))),
];
