//! The network and the sockets of this machine.

mod base_url;
mod bytes;
mod connect;
mod converse;
#[cfg(target_os = "linux")]
mod datagram;
mod every_way;
#[cfg(target_os = "linux")]
mod family;
mod hello;
mod http;
mod proxy;
mod resolve;
mod socket;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("connect", |words| boxed(connect::Connect::parse(words))),
    #[cfg(target_os = "linux")]
    ("datagram", |words| boxed(datagram::Datagram::parse(words))),
    ("every-way", |words| boxed(every_way::EveryWay::parse(words))),
    ("converse", |words| boxed(converse::Converse::parse(words))),
    ("hello", |words| boxed(hello::Hello::parse(words))),
    ("socket", |words| boxed(socket::Socket::parse(words))),
    #[cfg(target_os = "linux")]
    ("socket-type", |words| boxed(family::SocketType::parse(words))),
];
