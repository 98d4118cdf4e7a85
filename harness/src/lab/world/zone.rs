//! The zone of the world: pure, from a name and how often it was asked for to the answer.
//!
//! Below `test`, the label before it is the script, and the one before that the scenario (`s12`), so that no two scenarios
//! share a name: `s12.rebind.test`, `a.s12.pub.test`. Below `example` and at the providers' names there are three origins that
//! scenarios share. All else does not exist.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use super::site;
use crate::lab::network;

/// What the server does with a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// These addresses, in this order; a question for the other family gets an empty answer.
    Addresses(Vec<IpAddr>),
    /// Another name, and its addresses.
    Alias(String, Vec<IpAddr>),
    /// The addresses, later.
    Late(Vec<IpAddr>, Duration),
    /// There is no such name.
    Nobody,
    /// The server has failed.
    Failed,
    /// Bytes that are no message.
    Garbled,
    /// An answer to a question that nobody asked.
    Misplaced(Vec<IpAddr>),
}

/// How late a late answer is, well within the patience of the lab's resolver, which is 2 s.
const LATE: Duration = Duration::from_millis(800);

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const LOOPBACK_6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// The answer for a name in lower case, without a dot at its end; `times` = how often it was asked for addresses of the same
/// family before.
pub fn answer(name: &str, times: usize) -> Answer {
    match name.strip_suffix(".test") {
        Some(below) => script(below, times).unwrap_or(Answer::Nobody),
        None => shared(name).map_or(Answer::Nobody, |address| Answer::Addresses(vec![address.into()])),
    }
}

/// The names that scenarios share.
fn shared(name: &str) -> Option<Ipv4Addr> {
    match name {
        "allowed.example" => Some(network::ALLOWED),
        "private.example" => Some(network::PRIVATE),
        "api.anthropic.com" | "api2.cursor.sh" => Some(network::PROVIDER),
        _ if name.ends_with(".example") && !name.starts_with("unknown.") => Some(network::BLOCKED),
        _ => None,
    }
}

fn script(below: &str, times: usize) -> Option<Answer> {
    let mut labels = below.rsplit('.');
    let (script, nonce) = (labels.next()?, labels.next()?);
    let scenario = scenario(nonce)?;
    let public = IpAddr::V4(site::public("pub", scenario)?);
    let fixed = |address: &str| address.parse().map(|address| Answer::Addresses(vec![address])).ok();
    Some(match script {
        "mixed" => Answer::Addresses(vec![public, LOOPBACK]),
        "mixed-back" => Answer::Addresses(vec![LOOPBACK, public]),
        "mixed-6" => Answer::Addresses(vec![public, LOOPBACK_6]),
        "mixed-private" => Answer::Addresses(vec![public, Ipv4Addr::new(10, 200, 0, 1).into()]),
        "rebind" => Answer::Addresses(vec![if times == 0 { public } else { LOOPBACK }]),
        "cname" => Answer::Alias(format!("{nonce}.target.test"), vec![public]),
        "cname-loopback" => Answer::Alias(format!("{nonce}.loopback.test"), vec![LOOPBACK]),
        "target" => Answer::Addresses(vec![public]),
        "slow" => Answer::Late(vec![public], LATE),
        "failed" => Answer::Failed,
        "garbled" => Answer::Garbled,
        "misplaced" => Answer::Misplaced(vec![public]),
        "v6" => Answer::Addresses(vec![site::public_6("pub", scenario)?.into()]),
        "both" => Answer::Addresses(vec![public, site::public_6("pub", scenario)?.into()]),
        "nat64" => Answer::Addresses(vec![nat64(site::public("pub", scenario)?)]),
        "own-public" => Answer::Addresses(vec![network::OURS_PUBLIC.into()]),
        "own" => Answer::Addresses(vec![network::OURS.into()]),
        "loopback" => Answer::Addresses(vec![LOOPBACK]),
        "loopback-6" => Answer::Addresses(vec![LOOPBACK_6]),
        "loopback-other" => fixed("127.8.9.10")?,
        "zero" => fixed("0.0.0.0")?,
        "zero-6" => fixed("::")?,
        "private-10" => fixed("10.200.0.1")?,
        "private-172" => fixed("172.16.0.1")?,
        "private-192" => fixed("192.168.0.1")?,
        "private-6" => fixed("fd12::1")?,
        "link-local" => fixed("169.254.7.7")?,
        "metadata" => fixed("169.254.169.254")?,
        "metadata-other" => fixed("168.63.129.16")?,
        "metadata-6" => fixed("fd00:ec2::254")?,
        "shared" => fixed("100.64.0.1")?,
        "mapped" => fixed("::ffff:127.0.0.1")?,
        "mapped-private" => fixed("::ffff:10.200.0.1")?,
        "nat64-loopback" => fixed("64:ff9b::7f00:1")?,
        "sixtofour" => fixed("2002:7f00:1::1")?,
        "multicast" => fixed("224.0.0.1")?,
        kind => Answer::Addresses(vec![site::public(kind, scenario)?.into()]),
    })
}

/// The number in a scenario's word: `s12`.
pub fn scenario(nonce: &str) -> Option<u16> {
    nonce.strip_prefix('s')?.parse().ok()
}

/// RFC 6052: the well-known prefix and an IPv4 address.
fn nat64(address: Ipv4Addr) -> IpAddr {
    let [a, b, c, d] = address.octets().map(u16::from);
    Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, a << 8 | b, c << 8 | d).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(name: &str, times: usize) -> String {
        match answer(name, times) {
            Answer::Addresses(list) => list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn names_that_scenarios_share() {
        for (name, is) in [
            ("allowed.example", "93.184.216.34"),
            ("h7.blocked.example", "93.184.216.35"),
            ("unknown.example", "Nobody"),
            ("example.org", "Nobody"),
        ] {
            assert_eq!(addresses(name, 0), is, "{name}");
        }
    }

    #[test]
    fn names_of_a_scenario() {
        for (name, is) in [
            ("s7.pub.test", "23.1.0.7"),
            ("a.b.s300.evil.test", "23.2.1.44"),
            ("s7.mixed.test", "23.1.0.7 127.0.0.1"),
            ("s7.mixed-back.test", "127.0.0.1 23.1.0.7"),
            ("s7.nat64.test", "64:ff9b::1701:7"),
            ("s7.v6.test", "2600:1::7"),
            ("s7.nx.test", "Nobody"),
            ("pub.test", "Nobody"),
            ("x.pub.test", "Nobody"),
            ("s7.test", "Nobody"),
        ] {
            assert_eq!(addresses(name, 0), is, "{name}");
        }
    }

    #[test]
    fn a_rebinding_name_changes_after_the_first_look_up() {
        assert_eq!([0, 1, 2].map(|times| addresses("s7.rebind.test", times)), ["23.1.0.7", "127.0.0.1", "127.0.0.1"]);
    }
}
