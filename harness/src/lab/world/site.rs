//! Who is where in the world: pure, from an address to the origin that answers there, and back.
//!
//! A public origin has an address of its own for each scenario, `23.KIND.N`, whose last two bytes are the scenario's number: so
//! what arrives there can only be that scenario's. All others are told apart by the port ([`super::control`]).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::lab::network;

/// How an origin answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Every HTTP request with its own token.
    Token,
    /// Every HTTP request with its token and the request, head and body.
    Echo,
    /// TLS, and inside as [`Manner::Echo`].
    Tls,
    /// Server-sent events, a few, one after the other.
    Events,
    /// Upgrades to a WebSocket that echoes; any other request as [`Manner::Token`].
    WebSocket,
    /// Sends everybody on to the origin `evil` of the same scenario: 302, and 307 where the path is `/307`.
    Redirect,
    /// Says its token before it is asked, as SSH and mail servers do, and takes whatever comes.
    First,
    /// Takes whatever comes and says nothing.
    Sink,
    /// Sends every byte back.
    Parrot,
    /// Changes to another protocol although nobody asked for it, with 101, and says its token in that.
    Switch,
    /// Answers with thousands of interim responses, and no other.
    Interim,
    /// TLS, and inside the files and git repositories of the scenario's depot.
    Depot,
    /// The API of a provider ([`super::api`]); TLS where the client begins with it.
    Api,
}

/// The public origins: name, second byte of the address, manner.
const KINDS: [(&str, u8, Manner); 15] = [
    ("pub", 1, Manner::Token),
    ("evil", 2, Manner::Token),
    ("echo", 3, Manner::Echo),
    ("tls", 4, Manner::Tls),
    ("sse", 5, Manner::Events),
    ("ws", 6, Manner::WebSocket),
    ("redirect", 7, Manner::Redirect),
    ("first", 8, Manner::First),
    ("sink", 9, Manner::Sink),
    ("parrot", 10, Manner::Parrot),
    ("switch", 11, Manner::Switch),
    ("interim", 12, Manner::Interim),
    ("depot", 13, Manner::Depot),
    ("api", 14, Manner::Api),
    // As api, but nobody vouches for its certificate (tls).
    ("impostor", 15, Manner::Api),
];

/// An origin as its address tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its name, which its answers have.
    pub name: &'static str,
    /// How it answers.
    pub manner: Manner,
    /// The scenario that alone uses this address.
    pub scenario: Option<u16>,
}

/// The IPv4 address of a public origin of a scenario.
pub fn public(kind: &str, scenario: u16) -> Option<Ipv4Addr> {
    let [high, low] = scenario.to_be_bytes();
    number(kind).map(|kind| Ipv4Addr::new(23, kind, high, low))
}

/// The IPv6 address of a public origin of a scenario.
pub fn public_6(kind: &str, scenario: u16) -> Option<Ipv6Addr> {
    number(kind).map(|kind| Ipv6Addr::new(0x2600, kind.into(), 0, 0, 0, 0, 0, scenario))
}

fn number(kind: &str) -> Option<u8> {
    KINDS.iter().find(|(name, ..)| *name == kind).map(|(_, number, _)| *number)
}

/// Who is at an address of the world.
pub fn site(address: IpAddr) -> Site {
    match address.to_canonical() {
        IpAddr::V4(address) => site_4(address),
        IpAddr::V6(address) => site_6(address),
    }
}

/// Whether scenarios share the API at this address, so that only its requests tell whose they are.
pub fn is_shared_api(address: IpAddr) -> bool {
    address.to_canonical() == network::PROVIDER
}

fn site_4(address: Ipv4Addr) -> Site {
    let name = match (address, address.octets()) {
        (_, [23, kind, high, low]) => return of_kind(kind, u16::from_be_bytes([high, low])),
        (network::ALLOWED, _) => "allowed",
        (network::PROVIDER, _) => return Site { name: "provider", manner: Manner::Api, scenario: None },
        (network::BLOCKED, _) => "blocked",
        (_, [169, 254, 169, 254] | [168, 63, 129, 16]) => "metadata",
        (_, [169, 254, ..]) => "link-local",
        (_, [100, ..]) => "shared",
        _ => "private",
    };
    Site { name, manner: Manner::Token, scenario: None }
}

fn site_6(address: Ipv6Addr) -> Site {
    let name = match address.segments() {
        [0x2600, kind, .., scenario] => return of_kind(u8::try_from(kind).unwrap_or(0), scenario),
        [0x64, 0xff9b, .., high, low] => match Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)).octets() {
            [23, _, high, low] => {
                let scenario = Some(u16::from_be_bytes([high, low]));
                return Site { name: "nat64", manner: Manner::Token, scenario };
            }
            _ => "nat64",
        },
        [0x2002, ..] => "sixtofour",
        [0xfd00, 0x0ec2, ..] => "metadata",
        _ => "private",
    };
    Site { name, manner: Manner::Token, scenario: None }
}

fn of_kind(kind: u8, scenario: u16) -> Site {
    let known = KINDS.iter().find(|(_, number, _)| *number == kind);
    let (name, manner) = known.map_or(("nobody", Manner::Sink), |(name, _, manner)| (name, *manner));
    Site { name, manner, scenario: Some(scenario) }
}

/// What an origin says of itself.
pub fn token(site: &Site, address: IpAddr) -> String {
    format!("kusaw-origin:{}:{}", site.name, address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_scenario_leads_back_to_it() {
        for (kind, _, manner) in KINDS {
            for scenario in [1, 255, 256, 4711] {
                for address in [public(kind, scenario).unwrap().into(), public_6(kind, scenario).unwrap().into()] {
                    assert_eq!(site(address), Site { name: kind, manner, scenario: Some(scenario) }, "{address}");
                }
            }
        }
        assert_eq!(public("nosuch", 1), None);
    }

    #[test]
    fn every_special_address_has_a_name() {
        for (address, name) in [
            ("93.184.216.34", "allowed"),
            ("93.184.216.35", "blocked"),
            ("10.200.0.1", "private"),
            ("10.9.0.1", "private"),
            ("169.254.169.254", "metadata"),
            ("168.63.129.16", "metadata"),
            ("169.254.7.7", "link-local"),
            ("100.64.0.1", "shared"),
            ("fd00:ec2::254", "metadata"),
            ("fd12::1", "private"),
            ("64:ff9b::7f00:1", "nat64"),
            ("2002:7f00:1::1", "sixtofour"),
            ("::ffff:23.1.0.7", "pub"),
        ] {
            assert_eq!(site(address.parse().unwrap()).name, name, "{address}");
        }
        assert_eq!(site("64:ff9b::1701:7".parse().unwrap()).scenario, Some(7));
    }
}
