//! The network and the sockets of this machine.

mod connect;
mod http;
mod resolve;
mod socket;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("connect", |words| boxed(connect::Connect::parse(words))),
    ("socket", |words| boxed(socket::Socket::parse(words))),
];
