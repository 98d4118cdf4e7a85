//! The grammar of an allow entry: `host[:port]` with host = name, `*.name`, IPv4 or `[IPv6]`. An entry
//! that cannot be read exactly is a settings error; it never matches more than its letters say.
#![forbid(unsafe_code)]

use std::fmt;

use serde::{Deserialize, Serialize};

use super::host::{self, Host};

/// What one entry names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Entry {
    /// The hosts.
    pub hosts: Hosts,
    /// The port; `None` = any.
    pub port: Option<u16>,
}

/// Exactly one host, or all names below one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hosts {
    /// This host.
    Exactly(Host),
    /// One or more labels below this name, never the name itself, never an address.
    Below(String),
}

/// Why a text is no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message is the documentation")]
pub enum BadEntry {
    #[error("an entry is a host, not a URL")]
    Url,
    #[error("a star may only stand as *. before a name with a letter in its last part")]
    Star,
    #[error("the port is a number from 1 to 65535")]
    Port,
    #[error("an IPv6 address stands in brackets")]
    Brackets,
    #[error("ranges of addresses are not taken")]
    Range,
    #[error("write the name in its ASCII form (xn--..)")]
    Ascii,
    #[error("not a host name or address in its plain spelling")]
    Host,
}

impl Entry {
    /// The entry in `text`.
    pub fn parse(text: &str) -> Result<Entry, BadEntry> {
        refuse_lookalikes(text)?;
        let (host, port) = split(text)?;
        if let Some(name) = host.strip_prefix("*.") {
            return match Host::parse(name) {
                Ok(Host::Name(name)) if name != "localhost" && !name.contains('*') => {
                    Ok(Entry { hosts: Hosts::Below(name), port })
                }
                _ => Err(BadEntry::Star),
            };
        }
        if host.contains('*') {
            return Err(BadEntry::Star);
        }
        let host = Host::parse(host).map_err(|_| BadEntry::Host)?;
        Ok(Entry { hosts: Hosts::Exactly(host), port })
    }
}

impl Entry {
    /// Whether it allows all that `other` names. Where `other` names no port, one port is enough: the usual one is meant.
    pub fn covers(&self, other: &Entry) -> bool {
        let host = match (&self.hosts, &other.hosts) {
            (Hosts::Below(above), Hosts::Exactly(Host::Name(name)) | Hosts::Below(name)) => {
                name.strip_suffix(above.as_str()).is_some_and(|rest| rest.ends_with('.')) || other.hosts == self.hosts
            }
            (own, others) => own == others,
        };
        host && (self.port.is_none() || other.port.is_none() || self.port == other.port)
    }
}

impl fmt::Display for Entry {
    /// In normal form: what `parse` reads back as the same entry.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.hosts {
            Hosts::Exactly(host) => write!(f, "{host}")?,
            Hosts::Below(name) => write!(f, "*.{name}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl From<Entry> for String {
    fn from(entry: Entry) -> String {
        entry.to_string()
    }
}

impl TryFrom<String> for Entry {
    type Error = BadEntry;

    fn try_from(text: String) -> Result<Entry, BadEntry> {
        Entry::parse(&text)
    }
}

fn refuse_lookalikes(text: &str) -> Result<(), BadEntry> {
    if text.contains("://") || text.contains(['@', '?', '#']) {
        return Err(BadEntry::Url);
    }
    if let Some((_, after)) = text.split_once('/') {
        let range = !after.is_empty() && after.bytes().all(|b| b.is_ascii_digit());
        return Err(if range { BadEntry::Range } else { BadEntry::Url });
    }
    if text.is_ascii() { Ok(()) } else { Err(BadEntry::Ascii) }
}

fn split(text: &str) -> Result<(&str, Option<u16>), BadEntry> {
    let after_host = match text.find(']') {
        Some(end) => end + 1,
        None if text.matches(':').count() > 1 => return Err(BadEntry::Brackets),
        None => text.find(':').unwrap_or(text.len()),
    };
    let (host, rest) = text.split_at(after_host);
    match rest.strip_prefix(':') {
        None if rest.is_empty() => Ok((host, None)),
        None => Err(BadEntry::Host),
        Some(_) if host.is_empty() => Err(BadEntry::Host),
        Some(digits) => host::port(digits).map(|p| (host, Some(p))).ok_or(BadEntry::Port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_to_the_letter() {
        let name = |n: &str| Hosts::Exactly(Host::Name(n.into()));
        assert_eq!(Entry::parse("Example.COM."), Ok(Entry { hosts: name("example.com"), port: None }));
        assert_eq!(Entry::parse("localhost:5432"), Ok(Entry { hosts: name("localhost"), port: Some(5432) }));
        let below = Hosts::Below("example.com".into());
        assert_eq!(Entry::parse("*.example.com:8443"), Ok(Entry { hosts: below, port: Some(8443) }));
        for fine in ["1.2.3.4", "[::1]:8080", "[::1]", "*.com", "10.0.0.5:5432", "*.a.example:8443"] {
            assert_eq!(Entry::parse(fine).unwrap().to_string(), fine);
        }
    }

    #[test]
    fn an_entry_covers_what_it_allows() {
        let covers = |own: &str, other: &str| Entry::parse(own).unwrap().covers(&Entry::parse(other).unwrap());
        for (own, other) in [
            ("a.example", "A.example"),
            ("a.example", "a.example:443"),
            ("a.example:443", "a.example"),
            ("*.example", "a.example"),
            ("*.example", "*.a.example"),
            ("*.example", "*.example"),
        ] {
            assert!(covers(own, other), "{own} {other}");
        }
        for (own, other) in [
            ("a.example:443", "a.example:80"),
            ("*.a.example", "a.example"),
            ("*.a.example", "xa.example"),
            ("*.a.example", "*.example"),
            ("a.example", "*.a.example"),
        ] {
            assert!(!covers(own, other), "{own} {other}");
        }
    }

    #[test]
    fn what_is_no_entry_is_an_error() {
        for (text, why) in [
            ("", BadEntry::Host),
            ("*", BadEntry::Star),
            ("*.", BadEntry::Star),
            ("a.*.b", BadEntry::Star),
            ("*foo.com", BadEntry::Star),
            ("https://x", BadEntry::Url),
            ("x/path", BadEntry::Url),
            ("u:p@x", BadEntry::Url),
            ("host:", BadEntry::Port),
            (":443", BadEntry::Host),
            ("host:0", BadEntry::Port),
            ("host:0443", BadEntry::Port),
            ("host:65536", BadEntry::Port),
            ("10.0.0.0/8", BadEntry::Range),
            ("::1", BadEntry::Brackets),
            ("[fe80::1%lo]", BadEntry::Host),
            ("127.1", BadEntry::Host),
            ("*.localhost", BadEntry::Star),
            ("*.2.3.4", BadEntry::Star),
            ("*.4", BadEntry::Star),
            ("*.1.2.3.4", BadEntry::Star),
            ("bücher.example", BadEntry::Ascii),
            ("a..b", BadEntry::Host),
            (" a", BadEntry::Host),
            ("[::1]x", BadEntry::Host),
            ("*.*.a", BadEntry::Star),
        ] {
            assert_eq!(Entry::parse(text), Err(why), "{text:?}");
        }
    }
}
