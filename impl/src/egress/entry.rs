//! The grammar of an allow entry: `host[:port]` with host = name, `*.name`, IPv4 or `[IPv6]`. An entry
//! that cannot be read exactly is a settings error; it never matches more than its letters say.
#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::host::{self, Host};

/// What one entry names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Entry {
    /// The hosts.
    pub hosts: Hosts,
    /// The port; `None` = any.
    pub port: Option<u16>,
}

/// Exactly one host, or all names below one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    #[error("this name has no ASCII form of its own; write the name that is meant (xn--..)")]
    Unicode,
    #[error("not a host name or address in its plain spelling")]
    Host,
}

impl Entry {
    /// The entry in `text`.
    pub fn parse(text: &str) -> Result<Entry, BadEntry> {
        refuse_lookalikes(text)?;
        let ascii = if text.is_ascii() { text.into() } else { to_ascii(text)? };
        let (host, port) = split(&ascii)?;
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
    /// Whether it allows all that `other` names. Where `other` names no port, one port is enough: the usual one is
    /// meant.
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

/// What somebody who wrote an entry may not have meant by it; it holds as written all the same.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// `*.com`.
    #[error("covers every name under {0}")]
    TopLevel(String),
    /// `localhost`.
    #[error("without a port a program must ask the proxy for it, and most do not for localhost: write localhost:PORT")]
    NoPort,
    /// A cloud's metadata service.
    #[error("is the metadata service of a cloud: whoever reaches it may get this machine's credentials")]
    Metadata,
    /// Not ASCII; with the converted entry.
    #[error("is compared as {0}")]
    Converted(String),
}

/// Metadata services; 169.254.170.2 is that of containers.
const METADATA: [&str; 7] = [
    "169.254.169.254",
    "169.254.170.2",
    "168.63.129.16",
    "100.100.100.200",
    "[fd00:ec2::254]",
    "metadata.google.internal",
    "metadata.goog",
];

/// What is to be told about the entry in `text`; nothing where it is none.
pub fn warnings(text: &str) -> Vec<Warning> {
    let Ok(entry) = Entry::parse(text) else { return Vec::new() };
    let mut warnings = Vec::new();
    match &entry.hosts {
        Hosts::Below(name) if !name.contains('.') => warnings.push(Warning::TopLevel(name.clone())),
        Hosts::Below(_) => {}
        Hosts::Exactly(host) => {
            if host.to_string() == "localhost" && entry.port.is_none() {
                warnings.push(Warning::NoPort);
            }
            if METADATA.contains(&host.to_string().as_str()) {
                warnings.push(Warning::Metadata);
            }
        }
    }
    if !text.is_ascii() {
        warnings.push(Warning::Converted(entry.to_string()));
    }
    warnings
}

/// Each entry once, in the order they were written.
pub fn merged(entries: impl IntoIterator<Item = Entry>) -> Vec<Entry> {
    let mut seen = HashSet::new();
    entries.into_iter().filter(|entry| seen.insert(entry.clone())).collect()
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
    Ok(())
}

/// Names beyond ASCII, converted once, here (UTS 46, non-transitional). Requests only ever carry A-labels. A name that
/// is mapped to a plain one was not what it looked like: a circled l before `ocalhost` is an error, not localhost.
fn to_ascii(text: &str) -> Result<String, BadEntry> {
    let (host, port) = split(text)?;
    let (star, name) = host.strip_prefix("*.").map_or(("", host), |name| ("*.", name));
    let name = name.strip_suffix('.').unwrap_or(name);
    let label = |label: &str| match label.is_ascii() {
        true => Ok(label.to_string()),
        false => match idna::domain_to_ascii(label) {
            Ok(ascii) if ascii.starts_with("xn--") && !ascii.contains('.') => Ok(ascii),
            _ => Err(BadEntry::Unicode),
        },
    };
    let labels: Vec<String> = name.split('.').map(label).collect::<Result<_, _>>()?;
    let port = port.map_or(String::new(), |port| format!(":{port}"));
    Ok(format!("{star}{}{port}", labels.join(".")))
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
mod tests;
