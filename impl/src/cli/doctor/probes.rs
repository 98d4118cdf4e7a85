//! P5 to P7: what allowlist mode promises, tried with the real launch and with what one step may reach, nothing added.
//! The blocked and the direct connections are judged from outside as well: by the log, and by listeners of this process
//! that nothing may reach.

use std::io;
use std::time::Instant;

use serde::Serialize;

use super::inside::{Order, Seen};
use super::watched::{self, Heard, PATIENCE, Watched};
use crate::attempt::trial::{Trial, Tried};
use crate::egress::entry::{Entry, Hosts};
use crate::egress::grant::Grant;
use crate::outcome::{End, Reason, Refusal};
use crate::process::signals::Signals;
use crate::reach::Connect;

/// On nobody's allowlist: names below .invalid do not exist (RFC 6761).
const BLOCKED: &str = "blocked-by-kusaw.invalid:443";

/// One of them.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// `P5`, `P6` or `P7`.
    pub id: &'static str,
    /// What is promised.
    pub promise: &'static str,
    /// What came of it.
    pub verdict: Verdict,
    /// What was seen, or why nothing was tried.
    pub seen: String,
}

/// Whether a promise was seen to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It was.
    Held,
    /// It was seen not to.
    Failed,
    /// There is nothing here to try it with.
    NotTried,
}

/// Tries them with this grant, or says why nothing could be tried.
pub fn try_all(grant: &Grant, signals: &Signals) -> Result<Vec<Probe>, Refusal> {
    let setup = |e: io::Error| Refusal::new(Reason::SetupFailed, e);
    let token = watched::token();
    let (watched, left_out) = Watched::all(&token).map_err(setup)?;
    let direct = watched.iter().map(|one| one.address).collect();
    let (allowed, none) = (one_host(grant), no_host(grant).into());
    let order = Order { allowed, none, blocked: BLOCKED.into(), direct, token };
    let tried = trial(&order, grant.clone())?.run(signals)?;
    let until = Instant::now() + PATIENCE;
    let arrived: Vec<Heard> = watched.iter().map(|one| one.heard(&order.token, until)).collect();
    let seen = seen(&tried).map_err(setup)?;
    Ok(judge(&order, &seen, &tried.log, &Outside { arrived, left_out }))
}

/// The first host that an entry stands for alone, with its port. This machine's own services are not asked: nobody says
/// that one runs.
pub fn one_host(grant: &Grant) -> Option<String> {
    grant.entries.iter().find_map(|entry| match entry {
        Entry { hosts: Hosts::Exactly(host), port } if host.to_string() != "localhost" => {
            Some(format!("{host}:{}", port.unwrap_or(443)))
        }
        _ => None,
    })
}

/// Why there is none to ask.
fn no_host(grant: &Grant) -> &'static str {
    let is_own = |entry: &Entry| matches!(&entry.hosts, Hosts::Exactly(host) if host.to_string() == "localhost");
    match grant.entries.as_slice() {
        [] => "no host is allowed: there is none to ask",
        entries if entries.iter().all(is_own) => {
            "only services of this machine are allowed (localhost): whether one answers now is its own affair"
        }
        _ => "no entry of the allowlist is one host: there is none to ask",
    }
}

fn trial(order: &Order, grant: Grant) -> Result<Trial, Refusal> {
    let setup = |what: String| Refusal::new(Reason::SetupFailed, what);
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let own = own.map_err(|e| setup(format!("own path: {e}")))?;
    let order = serde_json::to_string(order).map_err(|e| setup(format!("the doctor's order: {e}")))?;
    let argv = vec![own.clone().into_os_string(), "__doctor".into(), order.into()];
    Ok(Trial { argv, read: vec![own], connect: Connect::Allowed(grant), ..Trial::default() })
}

fn seen(tried: &Tried) -> io::Result<Seen> {
    match tried.end {
        End::Exited(0) => Ok(serde_json::from_slice(&tried.said)?),
        end => Err(io::Error::other(format!("the probes inside ended with {}", end.exit_code()))),
    }
}

/// What this process has seen of the connections past the proxy.
struct Outside {
    /// Of each address.
    arrived: Vec<Heard>,
    /// Addresses of this machine that were not tried, and why.
    left_out: Vec<String>,
}

fn judge(order: &Order, seen: &Seen, log: &[u8], outside: &Outside) -> Vec<Probe> {
    let held = |held| if held { Verdict::Held } else { Verdict::Failed };
    let told = |of: &Result<String, String>| of.clone().unwrap_or_else(|e| e);
    let p5 = match (&order.allowed, &seen.allowed) {
        (Some(host), Some(answer)) => (held(answer.as_deref() == Ok("200")), format!("{host}: {}", told(answer))),
        _ => (Verdict::NotTried, order.none.clone()),
    };
    let host = order.blocked.split(':').next().unwrap_or_default();
    let logged = String::from_utf8_lossy(log).lines().filter(|line| line.contains(host)).count();
    let refused = seen.blocked.as_deref() == Ok("403 not-allowed");
    let p6 = format!("{}: {}, lines in the log: {logged}", order.blocked, told(&seen.blocked));
    let direct: Vec<_> = order.direct.iter().zip(&seen.direct).zip(&outside.arrived).collect();
    let none = direct.len() == order.direct.len()
        && direct.iter().all(|((_, made), came)| made.is_err() && **came == Heard::Nothing);
    let each = direct.iter().map(|((address, made), came)| match made {
        Ok(()) => format!("{address}: it was made"),
        Err(e) => match came {
            Heard::Nothing => format!("{address}: {e}"),
            Heard::Token => format!("{address}: {e}, and yet it arrived"),
            Heard::Unclear => format!("{address}: {e}, but more connections came than can be looked at: try again"),
        },
    });
    let left_out = outside.left_out.iter().map(|what| format!("not tried: {what}"));
    let mut p7 = each.chain(left_out).collect::<Vec<_>>().join("; ");
    if direct.len() == 1 && outside.left_out.is_empty() {
        p7 += "; this machine has no other address to try";
    }
    let probe = |id, promise, (verdict, seen)| Probe { id, promise, verdict, seen };
    vec![
        probe("P5", "an allowed host answers through the proxy", p5),
        probe("P6", "a blocked host is refused and logged", (held(refused && logged == 1), p6)),
        probe("P7", "a direct connection fails", (held(none), p7)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(change: impl FnOnce(&mut Order, &mut Seen, &mut Vec<u8>, &mut Outside)) -> Vec<Probe> {
        let direct = ["127.0.0.1:1", "192.0.2.7:2"].map(|a| a.parse().unwrap()).to_vec();
        let mut order = Order {
            allowed: Some("a.example:443".into()),
            none: String::new(),
            blocked: BLOCKED.into(),
            direct,
            token: "t".into(),
        };
        let no = || Err("no".to_string());
        let mut seen =
            Seen { allowed: Some(Ok("200".into())), blocked: Ok("403 not-allowed".into()), direct: vec![no(), no()] };
        let mut log = b"{\"host\":\"blocked-by-kusaw.invalid\"}\n".to_vec();
        let mut outside = Outside { arrived: vec![Heard::Nothing; 2], left_out: Vec::new() };
        change(&mut order, &mut seen, &mut log, &mut outside);
        judge(&order, &seen, &log, &outside)
    }

    fn judged(change: impl FnOnce(&mut Order, &mut Seen, &mut Vec<u8>, &mut Outside)) -> [Verdict; 3] {
        let probes = told(change);
        [0, 1, 2].map(|n| probes[n].verdict)
    }

    #[test]
    fn each_of_them_can_fail() {
        use Verdict::{Failed, Held, NotTried};
        assert_eq!(judged(|_, _, _, _| {}), [Held; 3]);
        assert_eq!(judged(|order, _, _, _| order.allowed = None), [NotTried, Held, Held]);
        assert_eq!(judged(|_, seen, _, _| seen.allowed = Some(Ok("502 dns-failure".into()))), [Failed, Held, Held]);
        assert_eq!(judged(|_, seen, _, _| seen.allowed = Some(Err("refused".into()))), [Failed, Held, Held]);
        assert_eq!(judged(|_, seen, _, _| seen.blocked = Ok("502 dns-failure".into())), [Held, Failed, Held]);
        assert_eq!(judged(|_, _, log, _| log.clear()), [Held, Failed, Held]);
        assert_eq!(judged(|_, seen, _, _| seen.direct[0] = Ok(())), [Held, Held, Failed]);
        assert_eq!(judged(|_, seen, _, _| seen.direct[1] = Ok(())), [Held, Held, Failed], "by a route");
        for came in [Heard::Token, Heard::Unclear] {
            let verdicts = judged(|_, _, _, outside| outside.arrived[1] = came);
            assert_eq!(verdicts, [Held, Held, Failed], "whatever it says inside");
        }
        assert_eq!(judged(|_, seen, _, _| seen.direct.truncate(1)), [Held, Held, Failed], "one was not tried");
    }

    #[test]
    fn what_was_not_tried_is_told() {
        let alone = |left_out: &[&str]| {
            let probes = told(|order, seen, _, outside| {
                order.direct.truncate(1);
                seen.direct.truncate(1);
                outside.left_out = left_out.iter().map(|what| what.to_string()).collect();
            });
            probes[2].seen.clone()
        };
        assert_eq!(alone(&[]), "127.0.0.1:1: no; this machine has no other address to try");
        assert_eq!(alone(&["192.0.2.7: why"]), "127.0.0.1:1: no; not tried: 192.0.2.7: why");
    }

    #[test]
    fn a_host_is_asked_only_where_an_entry_is_one() {
        let host = |entries: &[&str]| {
            one_host(&Grant { entries: entries.iter().map(|e| Entry::parse(e).unwrap()).collect(), ..Grant::default() })
        };
        assert_eq!(host(&["*.a.example", "localhost:5432"]), None);
        assert_eq!(host(&["*.a.example", "b.example", "c.example:80"]).as_deref(), Some("b.example:443"));
        assert_eq!(host(&["[2001:db8::1]:80"]).as_deref(), Some("[2001:db8::1]:80"));
    }

    #[test]
    fn why_there_is_no_host_to_ask() {
        let why = |entries: &[&str]| {
            no_host(&Grant { entries: entries.iter().map(|e| Entry::parse(e).unwrap()).collect(), ..Grant::default() })
        };
        assert!(why(&[]).starts_with("no host is allowed"));
        assert!(why(&["localhost:5432", "localhost"]).contains("(localhost)"));
        assert!(why(&["localhost:5432", "*.a.example"]).starts_with("no entry"));
    }
}
