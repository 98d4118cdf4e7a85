//! This machine's own addresses, read anew each time: an interface may come at any moment (a VPN, a container's bridge).

use std::io;
use std::net::IpAddr;

use nix::ifaddrs::getifaddrs;

/// Those of its interfaces, each once.
///
/// # Errors
/// Where the kernel does not tell.
pub fn addresses() -> io::Result<Vec<IpAddr>> {
    let mut found = Vec::new();
    for address in getifaddrs()?.filter_map(|interface| interface.address) {
        let v4 = address.as_sockaddr_in().map(|a| IpAddr::from(a.ip()));
        let ip = v4.or_else(|| address.as_sockaddr_in6().map(|a| IpAddr::from(a.ip())));
        found.extend(ip.filter(|ip| !found.contains(ip)));
    }
    Ok(found)
}
