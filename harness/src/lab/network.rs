//! The lab's two network namespaces, joined by a veth pair: our host, and the world with routable-looking addresses.
//!
//! No packet can leave them: neither has a link to the real network. In the world whole networks are its own: the kernel
//! takes every address of a network that a route of type local leads to its loopback (ip-route(8)), so that each scenario has
//! addresses that no other one uses.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::process::Command;

use nix::unistd::Pid;

/// The DNS server of the world.
pub const DNS: Ipv4Addr = Ipv4Addr::new(9, 9, 9, 9);
/// The origin that is on the allowlist.
pub const ALLOWED: Ipv4Addr = Ipv4Addr::new(93, 184, 216, 34);
/// The origin behind every other name.
pub const BLOCKED: Ipv4Addr = Ipv4Addr::new(93, 184, 216, 35);
/// The origin of the agents' providers.
pub const PROVIDER: Ipv4Addr = Ipv4Addr::new(93, 184, 216, 36);

/// An address that no name may lead to (RFC 1918): the world's end of the veth pair.
pub const PRIVATE: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);
/// Our host's own address on that link.
pub const OURS: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 2);
/// Another one of our host, of those that are reached from everywhere: what listens on all addresses answers there too.
pub const OURS_PUBLIC: Ipv4Addr = Ipv4Addr::new(91, 9, 0, 2);

const PRIVATE_6: Ipv6Addr = Ipv6Addr::new(0xfd09, 0, 0, 0, 0, 0, 0, 1);
const OURS_6: Ipv6Addr = Ipv6Addr::new(0xfd09, 0, 0, 0, 0, 0, 0, 2);

/// Networks whose every address is the world's: public ones, and such as no name may lead to.
const NETWORKS: [&str; 7] = [
    "23.0.0.0/8",
    "10.200.0.0/16",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "169.254.0.0/16",
    "100.64.0.0/10",
    "168.63.129.16/32",
];
const NETWORKS_6: [&str; 5] = ["2600::/16", "fd12::/16", "fd00:ec2::/32", "64:ff9b::/96", "2002::/16"];

/// Makes the veth pair; its other end goes to the network namespace of `world`.
pub fn add_link(world: Pid) -> io::Result<()> {
    ip(&["link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", &world.to_string()])
}

/// Sets up our host's end. Its user may send echo requests, as systemd lets everybody: icmp(7), ping_group_range. `gid` is his
/// group, as the caller's user namespace numbers it.
pub fn join(gid: u32) -> io::Result<()> {
    ip(&["link", "set", "lo", "up"])?;
    std::fs::write("/proc/sys/net/ipv4/ping_group_range", format!("{gid} {gid}"))?;
    end(OURS, OURS_6)?;
    ip(&["addr", "add", &format!("{OURS_PUBLIC}/32"), "dev", "eth0"])?;
    ip(&["route", "add", "default", "via", &PRIVATE.to_string()])?;
    if has_ipv6() { ip(&["-6", "route", "add", "default", "via", &PRIVATE_6.to_string()]) } else { Ok(()) }
}

/// Sets up the world's end. Called in its namespace, while still privileged.
pub fn set_up_world() -> io::Result<()> {
    std::fs::write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")?; // of this network namespace only
    ip(&["link", "set", "lo", "up"])?;
    for address in [DNS, ALLOWED, BLOCKED, PROVIDER] {
        ip(&["addr", "add", &format!("{address}/32"), "dev", "lo"])?;
    }
    for network in NETWORKS {
        ip(&["route", "add", "local", network, "dev", "lo"])?;
    }
    if has_ipv6() {
        for network in NETWORKS_6 {
            ip(&["-6", "route", "add", "local", network, "dev", "lo"])?;
        }
    }
    end(PRIVATE, PRIVATE_6)
}

/// Whether this network namespace speaks IPv6; a kernel may be without.
pub fn has_ipv6() -> bool {
    let addresses = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    addresses.starts_with("00000000000000000000000000000001 ")
        || addresses.contains("\n00000000000000000000000000000001 ")
}

/// All addresses, IPv4's too where there is IPv6 (ipv6(7), IPV6_V6ONLY).
pub fn all_addresses() -> IpAddr {
    if has_ipv6() { Ipv6Addr::UNSPECIFIED.into() } else { Ipv4Addr::UNSPECIFIED.into() }
}

/// An end of the veth pair. `nodad`: an address is else not usable for a second.
fn end(address: Ipv4Addr, address_6: Ipv6Addr) -> io::Result<()> {
    ip(&["addr", "add", &format!("{address}/24"), "dev", "eth0"])?;
    if has_ipv6() {
        ip(&["-6", "addr", "add", &format!("{address_6}/64"), "dev", "eth0", "nodad"])?;
    }
    ip(&["link", "set", "eth0", "up"])
}

fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip")
        .args(arguments)
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .output()
        .map_err(|e| io::Error::new(e.kind(), format!("ip (package iproute2): {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("ip {}: {}", arguments.join(" "), text.trim())))
}
