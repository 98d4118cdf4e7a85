//! The one normal form of a host, for entries and requests alike: lower case, one trailing dot gone,
//! addresses parsed. A spelling that another resolver might read differently is refused, never repaired.
#![forbid(unsafe_code)]

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host in normal form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// A DNS name, lower case, without trailing dot.
    Name(String),
    /// An address; IPv4-mapped IPv6 is IPv4.
    Address(IpAddr),
}

/// The text is no host in an unambiguous spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a host name or address in its plain spelling")]
pub struct BadHost;

impl Host {
    /// `text` without port; IPv6 in brackets.
    pub fn parse(text: &str) -> Result<Host, BadHost> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(BadHost)?;
            let address: Ipv6Addr = inner.parse().map_err(|_| BadHost)?;
            return Ok(Host::Address(IpAddr::V6(address).to_canonical()));
        }
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        if !text.bytes().all(fits) {
            return Err(BadHost);
        }
        let name = text.strip_suffix('.').unwrap_or(text);
        let labels: Vec<&str> = name.split('.').collect();
        if name.len() > 253 || labels.iter().any(|l| l.is_empty() || l.len() > 63) {
            return Err(BadHost);
        }
        if labels.last().is_some_and(|l| numeric(l)) {
            // getaddrinfo reads 127.1, 0x7f.1 and 017700000001 as addresses; only the plain four are taken.
            let address: Ipv4Addr = text.parse().map_err(|_| BadHost)?;
            return Ok(Host::Address(address.into()));
        }
        Ok(Host::Name(name.to_ascii_lowercase()))
    }
}

/// Whether a last label makes a reader take the whole for a number (WHATWG "ends in a number").
fn numeric(label: &str) -> bool {
    let hex = label.strip_prefix("0x").or(label.strip_prefix("0X"));
    label.bytes().all(|b| b.is_ascii_digit()) || hex.is_some_and(|h| h.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// A port as decimal digits, 1 to 65535, no sign, no leading zero.
pub fn port(text: &str) -> Option<u16> {
    let plain = !text.is_empty() && !text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Host::Name(name) => f.write_str(name),
            Host::Address(IpAddr::V6(a)) => write!(f, "[{a}]"),
            Host::Address(a) => write!(f, "{a}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_normal_form_is_its_own(text in "\\PC{0,60}|[a-zA-Z0-9._-]{0,60}|\\[[0-9a-f:.]{0,40}\\]") {
            if let Ok(host) = Host::parse(&text) {
                prop_assert_eq!(Host::parse(&host.to_string()), Ok(host));
            }
        }
    }

    fn normal(text: &str) -> String {
        Host::parse(text).map_or("bad".into(), |h| h.to_string())
    }

    #[test]
    fn one_host_has_one_form() {
        for (text, form) in [
            ("EXAMPLE.com", "example.com"),
            ("example.com.", "example.com"),
            ("a_b.example.com", "a_b.example.com"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("1.2.3.4", "1.2.3.4"),
            ("[0:0:0:0:0:0:0:1]", "[::1]"),
            ("[::ffff:127.0.0.1]", "127.0.0.1"),
            ("localhost.", "localhost"),
        ] {
            assert_eq!(normal(text), form, "{text}");
        }
    }

    #[test]
    fn odd_spellings_are_refused() {
        let long = format!("{}.example", "a".repeat(64));
        let longer = "a.".repeat(127) + "example";
        for text in [
            "",
            ".",
            "example.com..",
            "a..b",
            ".a",
            "*.example.com",
            "exam%70le.com",
            "a%00.example.com",
            "bücher.example",
            "exa\u{ad}mple.com",
            "ⓛocalhost",
            "１２７.0.0.1",
            "127.1",
            "0x7f.1",
            "0x7f000001",
            "2130706433",
            "017700000001",
            "0177.0.0.1",
            "127.0.0.01",
            "127.0.0.1.",
            "0",
            "a.0x1",
            "a.1",
            "1.2.3.4.5",
            "::1",
            "[::1",
            "::1]",
            "[fe80::1%lo]",
            "[fe80::1%25lo]",
            "[::1%lo]",
            "[1.2.3.4]",
            "a b",
            "a\tb",
            "a\0b",
            "a/b",
            "u@h",
            &long,
            &longer,
        ] {
            assert_eq!(normal(text), "bad", "{text}");
        }
    }

    #[test]
    fn ports_are_plain_decimals() {
        assert_eq!(port("443"), Some(443));
        for bad in ["", "0", "65536", "+443", "00443", "-1", "4 43", "４"] {
            assert_eq!(port(bad), None, "{bad}");
        }
    }
}
