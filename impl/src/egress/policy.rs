//! The decision: may this attempt connect to this host and port, and to which addresses. One pure value,
//! no I/O: the proxy asks `route` before it resolves and `vet` after; only what `vet` returns is dialled.
#![forbid(unsafe_code)]

use std::collections::{BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::address;
use super::entry::{Entry, Hosts};
use super::host::Host;

/// Why a request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the codes are those of docs/contract.md")]
pub enum Denial {
    NotAllowed,
    PortNotAllowed,
    PrivateAddress,
    OwnListener,
    SniMismatch,
    BadHost,
    BadRequest,
    /// A transfer coding that is not `chunked` alone.
    BadCoding,
    /// A head that is larger than the limits.
    BadSize,
    /// A head that did not come in time.
    BadPace,
    BadScheme,
    BadMethod,
    AttemptEnded,
    Limit,
}

/// How an allowed host is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// Resolve this name once, then ask `vet`.
    Resolve(String),
    /// These addresses, in order; nothing is resolved.
    Dial(Vec<SocketAddr>),
}

/// The allowlist of one attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    exact: HashMap<Host, Ports>,
    below: HashMap<String, Ports>,
    listeners: BTreeSet<SocketAddr>,
}

const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

impl Policy {
    /// The policy of these entries.
    pub fn new(entries: &[Entry]) -> Policy {
        let mut policy = Policy::default();
        for entry in entries {
            let ports = match &entry.hosts {
                Hosts::Exactly(host) => policy.exact.entry(host.clone()).or_default(),
                Hosts::Below(name) => policy.below.entry(name.clone()).or_default(),
            };
            ports.add(entry.port);
        }
        policy
    }

    /// Never leads to these, whatever is listed: what this program itself listens on. On Linux all of it lies inside the
    /// attempts' network namespaces and the set is empty; a port for each attempt on the host's loopback belongs here.
    pub fn refusing(mut self, listeners: impl IntoIterator<Item = SocketAddr>) -> Policy {
        self.listeners.extend(listeners.into_iter().map(|l| SocketAddr::new(l.ip().to_canonical(), l.port())));
        self
    }

    /// Whether `host` may be asked for at all, and how to reach it.
    pub fn route(&self, host: &Host, port: u16) -> Result<Route, Denial> {
        let route = self.listed(host, port)?;
        match &route {
            Route::Dial(addresses) if addresses.iter().any(|a| self.is_own(a)) => Err(Denial::OwnListener),
            _ => Ok(route),
        }
    }

    fn is_own(&self, address: &SocketAddr) -> bool {
        self.listeners.contains(&SocketAddr::new(address.ip().to_canonical(), address.port()))
    }

    fn listed(&self, host: &Host, port: u16) -> Result<Route, Denial> {
        match host {
            Host::Name(name) if name == "localhost" => self.localhost(host, port),
            Host::Name(name) => match self.match_name(host, name, port) {
                Match::Allowed => Ok(Route::Resolve(name.clone())),
                Match::OtherPort => Err(Denial::PortNotAllowed),
                Match::None => Err(Denial::NotAllowed),
            },
            Host::Address(address) => match self.match_address(*address, port) {
                Match::Allowed => Ok(Route::Dial(vec![SocketAddr::new(*address, port)])),
                Match::OtherPort => Err(Denial::PortNotAllowed),
                Match::None if address::is_public(*address) => Err(Denial::NotAllowed),
                Match::None => Err(Denial::PrivateAddress),
            },
        }
    }

    /// What of an answer may be dialled: all of it, or, if any address is not public and not itself
    /// named with this port, nothing. `own` are the addresses of this machine's interfaces, never public.
    pub fn vet(&self, addresses: &[IpAddr], own: &[IpAddr], port: u16) -> Result<Vec<SocketAddr>, Denial> {
        let is_own = |a: &IpAddr| own.iter().any(|own| own.to_canonical() == a.to_canonical());
        let public = |a: &IpAddr| address::is_public(*a) && !is_own(a);
        let fine = |a: &IpAddr| public(a) || self.match_address(*a, port) == Match::Allowed;
        if !addresses.iter().all(fine) {
            return Err(Denial::PrivateAddress);
        }
        let dial: Vec<_> = addresses.iter().map(|a| SocketAddr::new(*a, port)).collect();
        if dial.iter().any(|a| self.is_own(a)) { Err(Denial::OwnListener) } else { Ok(dial) }
    }

    /// `localhost` is never resolved: it is the two loopback addresses, as far as entries name them.
    fn localhost(&self, host: &Host, port: u16) -> Result<Route, Denial> {
        let named = |a: &IpAddr| self.match_address(*a, port) == Match::Allowed;
        let dial: Vec<_> = LOOPBACK.into_iter().filter(named).map(|a| SocketAddr::new(a, port)).collect();
        let some_port = LOOPBACK.iter().any(|a| self.match_address(*a, port) == Match::OtherPort);
        match (dial.is_empty(), some_port || self.exact.contains_key(host)) {
            (false, _) => Ok(Route::Dial(dial)),
            (true, true) => Err(Denial::PortNotAllowed),
            (true, false) => Err(Denial::NotAllowed),
        }
    }

    fn match_name(&self, host: &Host, name: &str, port: u16) -> Match {
        let exact = self.exact.get(host).map(|p| p.matches(port));
        let above = name.match_indices('.').map(|(dot, _)| &name[dot + 1..]);
        let below = above.filter_map(|name| self.below.get(name)).map(|p| p.matches(port));
        exact.into_iter().chain(below).max().unwrap_or(Match::None)
    }

    fn match_address(&self, address: IpAddr, port: u16) -> Match {
        let address = address.to_canonical();
        let literal = self.exact.get(&Host::Address(address));
        // Users write either: the entry localhost names both loopback addresses too.
        let word = LOOPBACK.contains(&address).then(|| self.exact.get(&Host::Name("localhost".into()))).flatten();
        literal.into_iter().chain(word).map(|p| p.matches(port)).max().unwrap_or(Match::None)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    None,
    OtherPort,
    Allowed,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Ports {
    any: bool,
    these: BTreeSet<u16>,
}

impl Ports {
    fn add(&mut self, port: Option<u16>) {
        match port {
            Some(port) => drop(self.these.insert(port)),
            None => self.any = true,
        }
    }

    fn matches(&self, port: u16) -> Match {
        if self.any || self.these.contains(&port) { Match::Allowed } else { Match::OtherPort }
    }
}

impl Denial {
    /// The stable code, in the header `X-Kusaw-Egress` and in the records.
    pub fn code(self) -> &'static str {
        match self {
            Denial::NotAllowed => "not-allowed",
            Denial::PortNotAllowed => "port-not-allowed",
            Denial::PrivateAddress => "private-address",
            Denial::OwnListener => "self",
            Denial::SniMismatch => "sni-mismatch",
            Denial::BadHost => "bad-host",
            Denial::BadRequest | Denial::BadCoding | Denial::BadSize | Denial::BadPace => "bad-request",
            Denial::BadScheme => "bad-scheme",
            Denial::BadMethod => "bad-method",
            Denial::AttemptEnded => "attempt-ended",
            Denial::Limit => "limit",
        }
    }

    /// The HTTP status: 403 for a host that is not allowed (never 407, which clients retry), 400 for a
    /// request that is wrong in itself.
    pub fn status(self) -> u16 {
        match self {
            Denial::NotAllowed | Denial::PortNotAllowed | Denial::PrivateAddress => 403,
            Denial::OwnListener | Denial::SniMismatch | Denial::AttemptEnded => 403,
            Denial::BadHost | Denial::BadRequest | Denial::BadScheme | Denial::BadMethod => 400,
            Denial::BadPace => 408,
            Denial::BadSize => 431,
            Denial::BadCoding => 501,
            Denial::Limit => 503,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries, host and port as written, verdict.
    const ROWS: &[(&[&str], &str, u16, &str)] = &[
        (&["example.com"], "EXAMPLE.com", 443, "allow"),
        (&["Example.COM."], "example.com", 443, "allow"),
        (&["example.com"], "example.com.", 443, "allow"),
        (&["*.example.com"], "a.example.com", 443, "allow"),
        (&["*.example.com"], "a.b.example.com", 443, "allow"),
        (&["*.example.com"], "example.com", 443, "not-allowed"),
        (&["*.example.com"], "aexample.com", 443, "not-allowed"),
        (&["example.com"], "example.com.evil.net", 443, "not-allowed"),
        (&["example.com:443"], "example.com", 443, "allow"),
        (&["example.com:443"], "example.com", 8443, "port-not-allowed"),
        (&["example.com"], "example.com", 22, "allow"),
        (&["example.com:80"], "example.com", 80, "allow"),
        (&["example.com:443"], "example.com", 80, "port-not-allowed"),
        (&["*.example.com:8443"], "a.example.com", 8443, "allow"),
        (&["xn--bcher-kva.example"], "xn--bcher-kva.example", 443, "allow"),
        (&["paypal.example"], "xn--pypal-4ve.example", 443, "not-allowed"),
        (&["a_b.example.com"], "a_b.example.com", 443, "allow"),
        (&["1.2.3.4"], "1.2.3.4", 443, "allow"),
        (&["example.com"], "93.184.216.34", 443, "not-allowed"),
        (&[], "0.0.0.0", 80, "private-address"),
        (&[], "[::1]", 80, "private-address"),
        (&["[::1]:8080"], "[::1]", 8080, "allow"),
        (&["[::1]"], "[0:0:0:0:0:0:0:1]", 80, "allow"),
        (&["127.0.0.1"], "[::ffff:127.0.0.1]", 80, "allow"),
        (&[], "[::ffff:127.0.0.1]", 80, "private-address"),
        (&[], "[64:ff9b::7f00:1]", 80, "private-address"),
        (&[], "[2002:7f00:1::]", 80, "private-address"),
        (&["169.254.169.254"], "169.254.169.254", 80, "allow"),
        (&["localhost"], "localhost", 5432, "allow"),
        (&["localhost:5432"], "localhost", 5433, "port-not-allowed"),
        (&["localhost:5432"], "127.0.0.1", 5432, "allow"),
        (&["localhost:5432"], "[::1]", 5432, "allow"),
        (&["127.0.0.1:5432"], "localhost", 5432, "allow"),
        (&["localhost"], "localhost.", 80, "allow"),
        (&["localhost"], "foo.localhost", 80, "not-allowed"),
        (&["example.com"], "localhost", 80, "not-allowed"),
    ];

    fn policy(entries: &[&str]) -> Policy {
        let entries: Vec<_> = entries.iter().map(|e| Entry::parse(e).unwrap()).collect();
        Policy::new(&entries)
    }

    #[test]
    fn entries_decide_by_host_and_port() {
        for (entries, host, port, verdict) in ROWS {
            let got = policy(entries).route(&Host::parse(host).unwrap(), *port);
            let got = got.map_or_else(Denial::code, |_| "allow");
            assert_eq!(got, *verdict, "{entries:?}: {host}:{port}");
        }
    }

    #[test]
    fn one_private_answer_refuses_the_whole_set() {
        let vet = |entries: &[&str], answer: &[&str]| {
            let addresses: Vec<_> = answer.iter().map(|a| a.parse().unwrap()).collect();
            let own = ["93.184.216.99".parse().unwrap(), "::ffff:93.184.216.98".parse().unwrap()];
            policy(entries).vet(&addresses, &own, 5432).map(|v| v.len()).map_err(Denial::code)
        };
        assert_eq!(vet(&["x.example"], &["93.184.216.34", "2606:2800:220:1::1"]), Ok(2));
        assert_eq!(vet(&["x.example"], &["93.184.216.34", "127.0.0.1"]), Err("private-address"));
        assert_eq!(vet(&["m.example"], &["169.254.169.254"]), Err("private-address"));
        assert_eq!(vet(&["*.example"], &["64:ff9b::5db8:d822"]), Ok(1));
        assert_eq!(vet(&["db.corp", "10.0.0.5:5432"], &["10.0.0.5"]), Ok(1));
        assert_eq!(vet(&["db.corp", "10.0.0.5:80"], &["10.0.0.5"]), Err("private-address"));
        assert_eq!(vet(&["x.example"], &["93.184.216.99"]), Err("private-address"), "an interface of this machine");
        assert_eq!(vet(&["x.example"], &["93.184.216.98"]), Err("private-address"), "and one written as IPv6");
        assert_eq!(vet(&["x.example", "93.184.216.99:5432"], &["93.184.216.99"]), Ok(1), "named itself");
        assert_eq!(vet(&["x.example"], &["::ffff:127.0.0.1"]), Err("private-address"));
    }

    #[test]
    fn localhost_is_dialled_only_as_far_as_it_is_named() {
        let dial = |entries: &[&str]| policy(entries).route(&Host::Name("localhost".into()), 5432);
        let to = |a: &[&str]| Ok(Route::Dial(a.iter().map(|a| a.parse().unwrap()).collect()));
        assert_eq!(dial(&["localhost"]), to(&["127.0.0.1:5432", "[::1]:5432"]));
        assert_eq!(dial(&["127.0.0.1:5432"]), to(&["127.0.0.1:5432"]));
    }

    /// A bound against going through the whole list each time, which takes many times as long.
    #[test]
    fn a_large_list_is_decided_at_once() {
        let entries: Vec<_> = (0..100_000).map(|n| Entry::parse(&format!("h{n}.example")).unwrap()).collect();
        let policy = Policy::new(&entries);
        let host = Host::parse("h99999.example").unwrap();
        let start = std::time::Instant::now();
        (0..10_000).for_each(|_| assert!(policy.route(&host, 443).is_ok()));
        assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    }
}
