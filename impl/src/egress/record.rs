//! The lines of `egress.log` and `events.jsonl` as types: what is in them is what docs/schemas/ says, and nothing else ever is:
//! no address a name led to, no path, no header, no key.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use serde::Serialize;

/// Bytes of a line in `egress.log`, without its end.
pub const LONGEST: usize = 300;

/// Stands for the beginning of a name that was cut.
const CUT: &str = "...";

/// A line of `egress.log`: the first time a host was blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Blocked {
    /// When (RFC 3339, UTC).
    pub t: String,
    /// The attempt.
    pub attempt: String,
    /// In normal form; `<malformed>` for all that are none; without its beginning where the line would be too long.
    pub host: String,
    /// The port that was asked for that first time.
    pub port: Option<u16>,
    /// How it came up: `connect`, `http` or `sni`.
    pub via: String,
    /// The reason's code.
    pub reason: String,
}

/// A line of `events.jsonl`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "type")]
pub enum Event {
    /// As the line of `egress.log`.
    #[serde(rename = "egress.blocked")]
    Blocked(Blocked),
    /// The last one.
    #[serde(rename = "egress.summary")]
    Summary(Summary),
}

/// What an attempt's outbound traffic came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    /// When (RFC 3339, UTC).
    pub t: String,
    /// The attempt.
    pub attempt: String,
    /// Whether the totals are those of the whole attempt.
    pub complete: bool,
    /// Different hosts that were blocked.
    pub blocked_distinct: u64,
    /// Times that one was.
    pub blocked_total: u64,
    /// Different hosts without a line of their own.
    pub blocked_suppressed: u64,
    /// Whether there were more different hosts than are told apart.
    pub distinct_capped: bool,
    /// Requests that named no host that could be judged.
    pub malformed: u64,
    /// Allowed hosts and injected providers that were not reached, or did not answer as they should.
    pub failures: Failures,
    /// Allowed hosts that were.
    pub allowed: Vec<Allowed>,
    /// Connections to allowed hosts that are not told apart any more.
    pub allowed_others: u64,
    /// Requests that a key was added to, by the name of the entry.
    pub injected: BTreeMap<String, u64>,
}

/// How often an allowed host or an injected provider was not reached, or did not answer as it should.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failures {
    /// The name has no address.
    pub dns: u64,
    /// No address took the connection.
    pub connect: u64,
    /// Nothing came in time.
    pub timeout: u64,
    /// What answered did not speak HTTP as it should, or broke off before its answer began.
    pub upstream: u64,
}

/// An allowed host that was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Allowed {
    /// In normal form.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// Tunnels and plain requests.
    pub connections: u64,
}

impl Blocked {
    /// With so much of the host that the line is not too long: its end, which says whose it is.
    pub fn cut(mut self) -> Blocked {
        let over = line(&self).len().saturating_sub(LONGEST + 1);
        if over > 0 {
            let from = (over + CUT.len()).min(self.host.len());
            let from = (from..=self.host.len()).find(|at| self.host.is_char_boundary(*at)).unwrap_or_default();
            self.host = format!("{CUT}{}", &self.host[from..]);
        }
        self
    }
}

/// A record as a line; whatever a name holds stays inside it.
pub fn line(record: &impl Serialize) -> String {
    // Strings and numbers always have a JSON form.
    serde_json::to_string(record).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocked(host: String) -> Blocked {
        let attempt = "x".repeat(64);
        let t = "2026-11-29T14:00:00.123Z".into();
        Blocked { t, attempt, host, port: Some(65_535), via: "connect".into(), reason: "port-not-allowed".into() }
    }

    #[test]
    fn a_long_host_keeps_its_end() {
        let long = blocked(format!("{}.evil.example", "a".repeat(240))).cut();
        assert_eq!(line(&long).len(), LONGEST + 1);
        assert!(long.host.starts_with("...aa") && long.host.ends_with(".evil.example"));
        assert_eq!(blocked("evil.example".into()).cut(), blocked("evil.example".into()));
    }

    #[test]
    fn nothing_in_a_host_leaves_its_line() {
        let line = line(&blocked("a\n{\"t\":\u{1b}[31m\"\\\u{2028}".into()).cut());
        assert_eq!(line.lines().count(), 1);
        assert!(!line.contains('\u{1b}') && serde_json::from_str::<serde_json::Value>(&line).is_ok());
    }

    /// `KUSAW_WRITE_SCHEMAS=1 cargo test -p kusaw schemas` writes them.
    #[test]
    fn the_published_schemas_are_those_of_the_types() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/schemas/");
        for (name, schema) in [("egress-log", schemars::schema_for!(Blocked)), ("events", schemars::schema_for!(Event))]
        {
            let path = format!("{folder}{name}.json");
            let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
            if std::env::var_os("KUSAW_WRITE_SCHEMAS").is_some() {
                std::fs::write(&path, &text).unwrap();
            }
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{path}");
        }
    }
}
