//! Judgements of a log of blocked hosts: pure functions of the entries that were read, so that a planted control can repeat
//! them on a log that was spoilt on purpose.

use crate::observe::Entries;

/// The type of the event that names a blocked host.
pub const BLOCKED: &str = "egress.blocked";

/// The type of the event that ends an attempt.
pub const SUMMARY: &str = "egress.summary";

/// What a log, or the events, must be.
#[derive(Clone, Debug)]
pub enum LogCheck {
    /// The egress.log names exactly these hosts, each once.
    Exactly(Vec<String>),
    /// The egress.log has so many lines, each another of these hosts.
    Among(usize, Vec<String>),
    /// The egress.log has at most so many lines, whatever they name.
    Lines(usize),
    /// The egress.blocked events name this one host, at least once, and no other.
    Event(String),
    /// There are so many egress.blocked events, each another of these hosts.
    Events(usize, Vec<String>),
    /// There is no egress.blocked event.
    NoEvent,
    /// There is one egress.summary event.
    Summary,
}

impl LogCheck {
    /// Whether it is about the events, not about the egress.log.
    pub fn of_events(&self) -> bool {
        matches!(self, Self::Event(_) | Self::Events(..) | Self::NoEvent | Self::Summary)
    }

    /// Whether the entries are as they must be, and what they are.
    pub fn judge(&self, entries: &Entries) -> (bool, String) {
        let hosts = entries.hosts(self.of_events().then_some(BLOCKED));
        let among = |count: usize, of: &[String]| {
            hosts.len() == count && are_distinct(&hosts) && hosts.iter().all(|h| of.contains(h))
        };
        let held = match self {
            Self::Exactly(wanted) => among(wanted.len(), wanted) && entries.lines.len() == wanted.len(),
            Self::Among(count, of) => among(*count, of) && entries.lines.len() == *count,
            Self::Lines(most) => entries.lines.len() <= *most,
            Self::Event(host) => !hosts.is_empty() && hosts.iter().all(|h| h == host),
            Self::Events(count, of) => among(*count, of),
            Self::NoEvent => hosts.is_empty(),
            Self::Summary => {
                let count = entries.count(SUMMARY);
                return (count == 1, format!("{count} egress.summary events"));
            }
        };
        let what = if self.of_events() { "events" } else { "egress.log" };
        let shown = if hosts.len() > 5 { format!("{} hosts", hosts.len()) } else { hosts.join(", ") };
        (held, format!("{what}: [{shown}], {} lines", entries.lines.len()))
    }
}

fn are_distinct(hosts: &[String]) -> bool {
    let mut sorted: Vec<&String> = hosts.iter().collect();
    sorted.sort();
    sorted.dedup();
    sorted.len() == hosts.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(hosts: &[&str]) -> Entries {
        Entries { lines: hosts.iter().map(|h| (None, Some((*h).to_owned()))).collect() }
    }

    fn events(hosts: &[&str]) -> Entries {
        let blocked = hosts.iter().map(|h| (Some(BLOCKED.to_owned()), Some((*h).to_owned())));
        let summary = [(Some("egress.summary".to_owned()), None)];
        Entries { lines: blocked.chain(summary).collect() }
    }

    fn owned(hosts: &[&str]) -> Vec<String> {
        hosts.iter().map(|h| (*h).to_owned()).collect()
    }

    #[test]
    fn a_log_is_exact_in_number_and_name() {
        let check = LogCheck::Exactly(owned(&["a", "b"]));
        for (hosts, held) in [
            (&["b", "a"][..], true),
            (&["a"], false),
            (&["a", "a"], false),
            (&["a", "b", "b"], false),
            (&["a", "b", "c"], false),
            (&[], false),
        ] {
            assert_eq!(check.judge(&log(hosts)).0, held, "{hosts:?}");
        }
        let unreadable = Entries { lines: vec![(None, None)] };
        assert!(!LogCheck::Exactly(Vec::new()).judge(&unreadable).0, "a line without a host is a line too many");
    }

    #[test]
    fn a_capped_log_names_different_hosts_of_those_asked_for() {
        let check = LogCheck::Among(2, owned(&["a", "b", "c"]));
        for (hosts, held) in
            [(&["a", "c"][..], true), (&["a", "a"], false), (&["a", "d"], false), (&["a", "b", "c"], false)]
        {
            assert_eq!(check.judge(&log(hosts)).0, held, "{hosts:?}");
        }
    }

    #[test]
    fn there_is_one_summary() {
        let mut two = events(&[]);
        two.lines.extend(events(&[]).lines);
        assert!(!LogCheck::Summary.judge(&two).0);
        assert!(!LogCheck::Summary.judge(&log(&["a"])).0);
    }

    #[test]
    fn events_are_counted_beside_the_summary() {
        for (check, hosts, held) in [
            (LogCheck::Summary, &["a"][..], true),
            (LogCheck::NoEvent, &[][..], true),
            (LogCheck::NoEvent, &["a"], false),
            (LogCheck::Event("a".into()), &["a", "a"], true),
            (LogCheck::Event("a".into()), &["a", "b"], false),
            (LogCheck::Event("a".into()), &[], false),
            (LogCheck::Events(1, owned(&["a"])), &["a"], true),
            (LogCheck::Events(1, owned(&["a"])), &["a", "a"], false),
        ] {
            assert_eq!(check.judge(&events(hosts)).0, held, "{check:?} {hosts:?}");
        }
    }
}
