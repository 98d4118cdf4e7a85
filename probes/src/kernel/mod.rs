//! What the kernel keeps or offers that is neither a file nor a socket.

mod keyring;
mod keys;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("keyring", |words| boxed(keyring::Keyring::parse(words))),
    ("keys", |words| boxed(keys::Keys::parse(words))),
    ("add-key", |words| boxed(keys::AddKey::parse(words))),
];
