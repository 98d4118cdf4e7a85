//! P5 to P7: what allowlist mode promises, tried with the real launch. The blocked and the direct connection are judged from
//! outside as well: by the log, and by a listener of this process that nothing may have reached.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};

use serde::Serialize;

use super::inside::Seen;
use crate::attempt::trial::{Trial, Tried};
use crate::egress::entry::{Entry, Hosts};
use crate::egress::grant::Grant;
use crate::outcome::{End, Reason, Refusal};
use crate::process::signals::Signals;
use crate::reach::Connect;

/// On nobody's allowlist: names below .invalid do not exist (RFC 6761).
const BLOCKED: &str = "blocked-by-kusaw.invalid";

/// One of them.
#[derive(Debug, Serialize)]
pub struct Probe {
    /// `P5`, `P6` or `P7`.
    pub id: &'static str,
    /// What is promised.
    pub promise: &'static str,
    /// Whether it was seen to hold.
    pub ok: bool,
    /// What was seen.
    pub seen: String,
}

/// Tries them with this grant, or says why nothing could be tried.
pub fn try_all(grant: &Grant, signals: &Signals) -> Result<Vec<Probe>, Refusal> {
    let setup = |e: io::Error| Refusal::new(Reason::SetupFailed, e);
    let listen = || TcpListener::bind(("127.0.0.1", 0)).and_then(|l| Ok((l.local_addr()?, l)));
    let ((local, origin), (direct, watched)) = (listen().map_err(setup)?, listen().map_err(setup)?);
    // The control: from outside the same connection comes about.
    TcpStream::connect(direct).and_then(|_| watched.accept()).map_err(setup)?;
    watched.set_nonblocking(true).map_err(setup)?;
    let mut grant = grant.clone();
    let named = grant.entries.iter().find_map(named);
    let allowed = named.clone().unwrap_or_else(|| format!("127.0.0.1:{}", local.port()));
    if named.is_none() {
        grant.entries.extend(Entry::parse(&allowed).ok());
    }
    let tried = trial(&allowed, direct, grant)?.run(signals)?;
    drop(origin);
    let arrived = watched.accept().is_ok();
    judge(&allowed, arrived, &tried).map_err(setup)
}

/// The first name an entry stands for alone, with its port.
fn named(entry: &Entry) -> Option<String> {
    match &entry.hosts {
        Hosts::Exactly(host) if host.to_string() != "localhost" => {
            Some(format!("{host}:{}", entry.port.unwrap_or(443)))
        }
        _ => None,
    }
}

fn trial(allowed: &str, direct: SocketAddr, grant: Grant) -> Result<Trial, Refusal> {
    let own = std::env::current_exe().and_then(|path| path.canonicalize());
    let own = own.map_err(|e| Refusal::new(Reason::SetupFailed, format!("own path: {e}")))?;
    let words = ["__doctor", allowed, &format!("{BLOCKED}:443"), &direct.to_string()].map(Into::into);
    let argv = [own.clone().into_os_string()].into_iter().chain(words).collect();
    Ok(Trial { argv, read: vec![own], connect: Connect::Allowed(grant), ..Trial::default() })
}

fn judge(allowed: &str, arrived: bool, tried: &Tried) -> io::Result<Vec<Probe>> {
    if tried.end != End::Exited(0) {
        return Err(io::Error::other(format!("the probes inside ended with {}", tried.end.exit_code())));
    }
    let seen: Seen = serde_json::from_slice(&tried.said)?;
    let log = String::from_utf8_lossy(&tried.log);
    let logged = log.lines().filter(|line| line.contains(BLOCKED)).count();
    let answered = |of: &Result<String, String>| of.clone().unwrap_or_else(|e| e);
    let probe = |id, promise, ok, seen| Probe { id, promise, ok, seen };
    Ok(vec![
        probe(
            "P5",
            "an allowed host answers through the proxy",
            seen.allowed.as_deref() == Ok("200"),
            format!("{allowed}: {}", answered(&seen.allowed)),
        ),
        probe(
            "P6",
            "a blocked host is refused and logged",
            seen.blocked.as_deref() == Ok("403 not-allowed") && logged == 1,
            format!("{BLOCKED}:443: {}, lines in the log: {logged}", answered(&seen.blocked)),
        ),
        probe(
            "P7",
            "a direct connection fails",
            seen.direct.is_err() && !arrived,
            seen.direct.err().unwrap_or_else(|| "it was made".into()),
        ),
    ])
}
