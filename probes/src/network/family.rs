//! `socket-type KIND [--high]`: makes a socket of a family that a step seldom needs, and uses it for nothing. With
//! `--high`, the family's number has a bit that the kernel does not look at.

#![allow(unsafe_code)]

use std::ffi::c_int;

use crate::action::Action;
use crate::descriptor;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// BTPROTO_HCI of bluetooth.h.
const HCI: c_int = 1;

/// A name, and what socket(2) is asked for: family, type and protocol.
const KINDS: [(&str, [c_int; 3]); 9] = [
    ("vsock", [libc::AF_VSOCK, libc::SOCK_STREAM, 0]),
    ("netlink", [libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE]),
    ("raw", [libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP]),
    ("raw6", [libc::AF_INET6, libc::SOCK_RAW, libc::IPPROTO_ICMPV6]),
    ("packet", [libc::AF_PACKET, libc::SOCK_RAW, 0]),
    ("icmp", [libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP]),
    ("bluetooth", [libc::AF_BLUETOOTH, libc::SOCK_RAW, HCI]),
    ("alg", [libc::AF_ALG, libc::SOCK_SEQPACKET, 0]),
    ("xdp", [libc::AF_XDP, libc::SOCK_RAW, 0]),
];

/// Makes a socket.
pub struct SocketType {
    high: bool,
    name: &'static str,
    asked: [c_int; 3],
}

impl SocketType {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let high = words.flag("--high");
        let [kind] = words.exactly(["KIND"])?;
        match KINDS.into_iter().find(|(name, _)| kind == *name) {
            Some((name, asked)) => Ok(Self { high, name, asked }),
            None => Err(Usage(format!("KIND is one of {}, not {kind:?}", KINDS.map(|(name, _)| name).join(", ")))),
        }
    }
}

impl Action for SocketType {
    fn target(&self) -> String {
        self.name.to_owned()
    }

    fn run(&self) -> Seen {
        let [family, kind, protocol] = self.asked;
        let family = u64::from(self.high) << 32 | u64::from(family.cast_unsigned());
        let kind = kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: plain numbers only; the answer is a new descriptor.
        Seen::of(unsafe { descriptor::made(libc::syscall(libc::SYS_socket, family, kind, protocol)) })
    }
}
