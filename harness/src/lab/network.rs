//! The lab's two network namespaces, joined by a veth pair: our host, and the world with routable-looking addresses.
//!
//! No packet can leave them: neither has a link to the real network.

use std::io;
use std::net::Ipv4Addr;
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

/// An address that no name may lead to (RFC 1918); nothing answers there.
pub const PRIVATE: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 1);

const HOST: &str = "10.9.0.2/24";
const WORLD: &str = "10.9.0.1";

/// Makes the veth pair; its other end goes to the network namespace of `world`.
pub fn add_link(world: Pid) -> io::Result<()> {
    ip(&["link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", &world.to_string()])
}

/// Sets up our host's end.
pub fn join() -> io::Result<()> {
    ip(&["link", "set", "lo", "up"])?;
    ip(&["addr", "add", HOST, "dev", "eth0"])?;
    ip(&["link", "set", "eth0", "up"])?;
    ip(&["route", "add", "default", "via", WORLD])
}

/// Sets up the world's end: its addresses lie on its loopback. Called in its namespace, while still privileged.
pub fn set_up_world() -> io::Result<()> {
    std::fs::write("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0")?; // of this network namespace only
    ip(&["link", "set", "lo", "up"])?;
    for address in [DNS, ALLOWED, BLOCKED, PROVIDER] {
        ip(&["addr", "add", &format!("{address}/32"), "dev", "lo"])?;
    }
    ip(&["addr", "add", &format!("{WORLD}/24"), "dev", "eth0"])?;
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
