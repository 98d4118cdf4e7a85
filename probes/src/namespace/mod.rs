//! Namespaces: which ones a process is in, and entering, making and using others.

mod hostname;
mod numbers;
mod setns;
mod unshare;
mod user;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("namespaces", |words| boxed(numbers::Namespaces::parse(words))),
    ("setns", |words| boxed(setns::Setns::parse(words))),
    ("unshare", |words| boxed(unshare::Unshare::parse(words))),
    ("userns", |words| boxed(user::Userns::parse(words))),
    ("sethostname", |words| boxed(hostname::SetHostname::parse(words))),
];
