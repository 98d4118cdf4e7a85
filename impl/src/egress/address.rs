//! Which addresses are not the public internet: private, loopback, link-local and all other special
//! ranges, also where an IPv4 address is wrapped in an IPv6 one. When in doubt an address is not public.
#![forbid(unsafe_code)]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether a step may be led to this address by a name alone.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => public_v4(v4),
        IpAddr::V6(v6) => public_v6(v6),
    }
}

fn public_v4(address: Ipv4Addr) -> bool {
    let bits = u32::from(address);
    let within = |(net, length): &(Ipv4Addr, u32)| (bits ^ u32::from(*net)) >> (32 - length) == 0;
    !SPECIAL_V4.iter().any(within)
}

fn public_v6(address: Ipv6Addr) -> bool {
    let bits = u128::from(address);
    let within = |net: &str, length: u32| {
        let net = net.parse::<Ipv6Addr>().map_or(0, u128::from);
        (bits ^ net) >> (128 - length) == 0
    };
    if let Some((_, _, shift)) = WRAPPED.iter().find(|(net, length, _)| within(net, *length)) {
        return public_v4(Ipv4Addr::from((bits >> shift) as u32));
    }
    !SPECIAL_V6.iter().any(|(net, length)| within(net, *length))
}

const fn net(a: u8, b: u8, c: u8, d: u8, length: u32) -> (Ipv4Addr, u32) {
    (Ipv4Addr::new(a, b, c, d), length)
}

/// The IANA special-purpose registry, multicast, and two metadata addresses that lie outside of it.
const SPECIAL_V4: &[(Ipv4Addr, u32)] = &[
    net(0, 0, 0, 0, 8),
    net(10, 0, 0, 0, 8),
    net(100, 64, 0, 0, 10),
    net(127, 0, 0, 0, 8),
    net(169, 254, 0, 0, 16),
    net(172, 16, 0, 0, 12),
    net(192, 0, 0, 0, 24),
    net(192, 0, 2, 0, 24),
    net(192, 88, 99, 0, 24),
    net(192, 168, 0, 0, 16),
    net(198, 18, 0, 0, 15),
    net(198, 51, 100, 0, 24),
    net(203, 0, 113, 0, 24),
    net(224, 0, 0, 0, 4),
    net(240, 0, 0, 0, 4),
    net(168, 63, 129, 16, 32),
    net(100, 100, 100, 200, 32),
];

/// Prefix, length, and how far the wrapped IPv4 address lies from the right: NAT64 and 6to4. A public
/// address inside stays allowed, since networks without IPv4 need NAT64.
const WRAPPED: &[(&str, u32, u32)] = &[("64:ff9b::", 96, 0), ("2002::", 16, 80), ("::ffff:0:0:0", 96, 0)];

const SPECIAL_V6: &[(&str, u32)] = &[
    // Unspecified, loopback and the deprecated IPv4-compatible form.
    ("::", 96),
    ("64:ff9b:1::", 48),
    // Discard-only, and the dummy prefix beside it.
    ("100::", 63),
    // Protocol assignments: Teredo, benchmarking, ORCHID and ORCHIDv2 among them; what is global in there is no origin.
    ("2001::", 23),
    ("2001:db8::", 32),
    ("3fff::", 20),
    ("5f00::", 16),
    ("fc00::", 7),
    ("fe80::", 10),
    ("fec0::", 10),
    ("ff00::", 8),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_addresses_are_not_public() {
        for text in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.19.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "168.63.129.16",
            "100.100.100.200",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:0:127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a00:1::",
            "2001::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "3fff::1",
            "100::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    /// The first and last address of each block that the IANA special-purpose registries (as of 2025-10) call not globally
    /// reachable, or to which that does not apply.
    #[test]
    fn no_special_purpose_block_is_public() {
        let registries = include_str!("iana_special_purpose.txt");
        let mut blocks = 0;
        for line in registries.lines().filter(|l| !l.starts_with('#')) {
            let (block, _) = line.split_once(' ').unwrap();
            let (net, length) = block.split_once('/').unwrap();
            let (net, length): (IpAddr, u32) = (net.parse().unwrap(), length.parse().unwrap());
            let last = match net {
                IpAddr::V4(v4) => IpAddr::V4((u32::from(v4) | u32::MAX.checked_shr(length).unwrap_or(0)).into()),
                IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) | u128::MAX.checked_shr(length).unwrap_or(0)).into()),
            };
            // Wrapped public addresses are judged by what they wrap: 2002:: and 64:ff9b:: have their own tests.
            assert!(!is_public(net) && (block == "2002::/16" || !is_public(last)), "{block}");
            blocks += 1;
        }
        assert_eq!(blocks, 35);
    }

    #[test]
    fn the_neighbours_of_special_ranges_are_public() {
        for text in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "93.184.216.34",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:2800:220:1::1",
            "2a00:1450::1",
            "64:ff9b::5db8:d822",
            "2002:5db8:d822::",
            "2001:200::1",
            "2001:4860:4860::8888",
            "::ffff:93.184.216.34",
        ] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }
}
