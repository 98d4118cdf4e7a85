//! `datagram [--connected] [--icmp] ADDRESS:PORT`: sends one datagram, and waits a moment for one that comes back. With
//! `--icmp` it is an echo request of icmp(7), which an ordinary user may send where ping_group_range lets him; the port
//! counts for nothing then. ADDRESS is a literal: no name is looked up.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use crate::action::Action;
use crate::descriptor;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

const PATIENCE: Duration = Duration::from_millis(800);
const TEXT: &[u8] = b"kusaw-probe";
const MAX_REPLY: usize = 2048;

/// Echo requests of RFC 792 and RFC 4443; the kernel fills in checksum and identifier.
const ECHO: [u8; 8] = [8, 0, 0, 0, 0, 0, 0, 1];
const ECHO_6: [u8; 8] = [128, 0, 0, 0, 0, 0, 0, 1];

/// Sends a datagram.
pub struct Datagram {
    connected: bool,
    icmp: bool,
    target: String,
    address: SocketAddr,
}

impl Datagram {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let (connected, icmp) = (words.flag("--connected"), words.flag("--icmp"));
        let [target] = words.exactly(["ADDRESS:PORT"])?;
        let target = target.to_string_lossy().into_owned();
        let address = target.parse().map_err(|_| Usage(format!("expected ADDRESS:PORT, got {target:?}")))?;
        Ok(Self { connected, icmp, target, address })
    }

    fn exchange(&self) -> io::Result<Vec<u8>> {
        let socket = if self.icmp { self.icmp_socket()? } else { UdpSocket::bind(any(&self.address))? };
        socket.set_read_timeout(Some(PATIENCE))?;
        let head: &[u8] = match (self.icmp, self.address.is_ipv4()) {
            (false, _) => &[],
            (true, true) => &ECHO,
            (true, false) => &ECHO_6,
        };
        let bytes = [head, TEXT].concat();
        if self.connected {
            socket.connect(self.address)?;
            socket.send(&bytes)?;
        } else {
            socket.send_to(&bytes, self.address)?;
        }
        let mut reply = [0; MAX_REPLY];
        let length = socket.recv(&mut reply)?;
        Ok(reply[head.len().min(length)..length].to_vec())
    }

    /// Only the descriptor counts: std's datagram socket sends and receives on any.
    fn icmp_socket(&self) -> io::Result<UdpSocket> {
        let (family, protocol): (c_int, c_int) = if self.address.is_ipv4() {
            (libc::AF_INET, libc::IPPROTO_ICMP)
        } else {
            (libc::AF_INET6, libc::IPPROTO_ICMPV6)
        };
        // SAFETY: plain numbers only; the answer is a new descriptor.
        let made = unsafe { descriptor::made(libc::syscall(libc::SYS_socket, family, libc::SOCK_DGRAM, protocol)) };
        made.map(UdpSocket::from)
    }
}

impl Action for Datagram {
    fn target(&self) -> String {
        self.target.clone()
    }

    fn run(&self) -> Seen {
        match self.exchange() {
            Ok(reply) => Seen::ok(Json::object([("reply", Json::from(&reply[..]))])),
            Err(error) => error.into(),
        }
    }
}

fn any(like: &SocketAddr) -> SocketAddr {
    if like.is_ipv4() { ([0; 4], 0).into() } else { ([0_u16; 8], 0).into() }
}
