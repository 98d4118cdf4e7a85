//! What the world has seen: every question to its DNS server, every connection and datagram that arrived.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::{site, zone};

/// The most that is kept of what a connection brought, in bytes.
const KEPT: usize = 16 << 10;

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// The name, in lower case, without a dot at its end.
    pub name: String,
    /// The type, as in `A`, `AAAA`.
    pub kind: String,
}

/// A connection, or a datagram.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrival {
    /// Where: the origin's own name.
    pub origin: String,
    /// The address that was dialled.
    pub to: SocketAddr,
    /// Whether it was a datagram.
    pub datagram: bool,
    /// Bytes that came.
    pub bytes: usize,
    /// The first of them, at most 16 KiB, as text.
    pub text: String,
    /// Heads of the HTTP requests that the origin found in them.
    pub requests: Vec<String>,
    /// Of a TLS client.
    pub hello: Option<Hello>,
}

impl Arrival {
    /// Whether it brought this word, as far as is kept: of what is inside TLS, the heads of requests.
    pub fn has(&self, word: &str) -> bool {
        self.text.contains(word) || self.requests.iter().any(|head| head.contains(word))
    }
}

/// How a TLS client began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The server name that it asked for.
    pub sni: Option<String>,
    /// SHA-256 of its first record, in hex.
    pub digest: String,
}

/// What the world has seen of one scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Questions for its names, in order.
    pub queries: Vec<Query>,
    /// Arrivals at its addresses and ports, in order.
    pub arrivals: Vec<Arrival>,
}

impl Account {
    /// How often a name was asked for. A resolver asks for both families: that is one look-up.
    pub fn look_ups(&self, name: &str) -> usize {
        let of = |kind: &str| self.queries.iter().filter(|q| q.name == name && q.kind == kind).count();
        of("A").max(of("AAAA"))
    }

    /// What arrived at an address; none = any that is the scenario's.
    pub fn at(&self, address: Option<IpAddr>) -> Vec<&Arrival> {
        let there = |a: &&Arrival| address.is_none_or(|address| a.to.ip().to_canonical() == address.to_canonical());
        self.arrivals.iter().filter(there).collect()
    }
}

/// The journal, shared by all that write to it.
#[derive(Clone, Debug, Default)]
pub struct Journal(Arc<Mutex<Account>>);

impl Journal {
    /// Notes a question; how often it was asked before.
    pub fn asked(&self, name: &str, kind: &str) -> usize {
        let query = Query { name: name.to_owned(), kind: kind.to_owned() };
        let queries = &mut self.lock().queries;
        let before = queries.iter().filter(|q| **q == query).count();
        queries.push(query);
        before
    }

    /// Notes a connection; what it brings is noted by the number.
    pub fn arrived(&self, origin: &str, to: SocketAddr, datagram: bool) -> usize {
        let (origin, to) = (origin.to_owned(), SocketAddr::new(to.ip().to_canonical(), to.port()));
        let arrivals = &mut self.lock().arrivals;
        let requests = Vec::new();
        arrivals.push(Arrival { origin, to, datagram, bytes: 0, text: String::new(), requests, hello: None });
        arrivals.len() - 1
    }

    /// Notes bytes of a connection.
    pub fn brought(&self, number: usize, bytes: &[u8]) {
        self.note(number, |arrival| {
            arrival.bytes += bytes.len();
            if arrival.text.len() < KEPT {
                arrival.text.push_str(&String::from_utf8_lossy(bytes));
            }
        });
    }

    /// Notes something else of a connection.
    pub fn note(&self, number: usize, change: impl FnOnce(&mut Arrival)) {
        if let Some(arrival) = self.lock().arrivals.get_mut(number) {
            change(arrival);
        }
    }

    /// How many requests for a path came to an origin of a scenario.
    pub fn asked_for(&self, site: &site::Site, path: &str) -> usize {
        let all = self.lock();
        let there = all.arrivals.iter().filter(|arrival| site::site(arrival.to.ip()) == *site);
        there.flat_map(|a| &a.requests).filter(|head| head.split_whitespace().nth(1) == Some(path)).count()
    }

    /// What concerns a scenario: its names, its addresses, its ports, datagrams and a shared provider's requests that name it,
    /// and what has one of its words, wherever that arrived.
    pub fn account(&self, scenario: u16, ports: &[u16], words: &[String]) -> Account {
        let nonce = format!("s{scenario}");
        let names = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == nonce);
        let all = self.lock();
        let own = |arrival: &&Arrival| {
            let address = arrival.to.ip();
            ports.contains(&arrival.to.port())
                || site::site(address).scenario == Some(scenario)
                || (arrival.datagram && names(&arrival.text))
                || words.iter().any(|word| arrival.has(word))
                || (site::is_shared_api(address) && arrival.requests.iter().any(|head| names(head)))
        };
        let asked = |query: &&Query| query.name.split('.').any(|label| zone::scenario(label) == Some(scenario));
        Account {
            queries: all.queries.iter().filter(asked).cloned().collect(),
            arrivals: all.arrivals.iter().filter(own).cloned().collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_are_told_apart() {
        let journal = Journal::default();
        assert_eq!([0, 1, 2].map(|_| journal.asked("s7.rebind.test", "A")), [0, 1, 2]);
        assert_eq!(journal.asked("s7.rebind.test", "AAAA"), 0);
        journal.asked("a.s70.pub.test", "A");
        let own = journal.arrived("pub", "[::ffff:23.1.0.7]:80".parse().unwrap(), false);
        journal.brought(own, b"GET / HTTP/1.1\r\n");
        journal.arrived("private", "10.200.0.1:4000".parse().unwrap(), false);
        let datagram = journal.arrived("blocked", "93.184.216.35:53".parse().unwrap(), true);
        journal.brought(datagram, b"s7 was here");
        let account = journal.account(7, &[4000], &[]);
        assert_eq!((account.look_ups("s7.rebind.test"), account.look_ups("s70.pub.test")), (3, 0));
        let told: Vec<_> = account.arrivals.iter().map(|a| (a.origin.as_str(), a.bytes)).collect();
        assert_eq!(told, [("pub", 16), ("private", 0), ("blocked", 11)]);
        assert_eq!(account.at(Some("23.1.0.7".parse().unwrap())).len(), 1);
        assert_eq!(journal.account(8, &[], &["nobody's".into()]), Account::default());
        assert_eq!(journal.account(8, &[], &["was here".into()]).arrivals.len(), 1);
        assert_eq!(journal.account(70, &[], &[]).queries.len(), 1);
    }
}
