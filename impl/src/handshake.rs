//! What a custom runner says of itself when it is asked: one JSON object with the hosts it needs. It is asked in a sandbox
//! that can connect to nothing, and what it names is never allowed by that: `validate` tells the user (W3).

use std::path::Path;

use serde::Deserialize;

use crate::attempt::trial::Trial;
use crate::egress::entry::Entry;
use crate::egress::grant::Grant;
use crate::outcome::End;
use crate::process::signals::Signals;
use crate::reach::Connect;
use crate::stderr::printable;

/// Hosts of one handshake that are looked at.
const HOSTS: usize = 200;

/// What a handshake says. Other keys are for other versions.
#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    egress: Vec<String>,
}

/// The hosts that the runner needs, or why it did not say. `factory` is what it can read besides the system.
pub fn ask(factory: &Path, argv: &[String], signals: &Signals) -> Result<Vec<Entry>, String> {
    let argv = argv.iter().map(Into::into).collect();
    let connect = Connect::Allowed(Grant::default());
    let trial = Trial { argv, read: vec![factory.into()], cwd: Some(factory.into()), connect, ..Trial::default() };
    let tried = trial.run(signals).map_err(|refusal| format!("it could not be started: {refusal}"))?;
    match tried.end {
        End::Exited(0) => hosts(&tried.said),
        End::Exited(code) => Err(format!("it ended with {code}")),
        End::Signalled(signal) => Err(format!("signal {signal} ended it")),
        End::Stopped(reason) => Err(format!("it was ended: {reason}")),
    }
}

/// The hosts in what a handshake printed.
fn hosts(said: &[u8]) -> Result<Vec<Entry>, String> {
    let bad = |e| format!("it is no JSON object with egress: {e}");
    // By way of a map: a structure would be read from a list as well.
    let object: serde_json::Map<_, _> = serde_json::from_slice(said).map_err(bad)?;
    let answer: Answer = serde_json::from_value(object.into()).map_err(bad)?;
    if answer.egress.len() > HOSTS {
        return Err(format!("it names more than {HOSTS} hosts"));
    }
    let entry = |host: &String| Entry::parse(host).map_err(|e| format!("{:?} is no host: {e}", printable(host, 80)));
    answer.egress.iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_or_what_is_wrong() {
        let said = |text: &str| hosts(text.as_bytes()).map(|all| all.iter().map(Entry::to_string).collect::<Vec<_>>());
        assert_eq!(
            said(r#"{"egress": ["A.example", "b.example:443"], "name": 1}"#).unwrap(),
            ["a.example", "b.example:443"]
        );
        assert_eq!(said("{}").unwrap(), [""; 0]);
        for bad in ["", "[]", "nonsense", r#"{"egress": "a"}"#, r#"{"egress": ["https://a"]}"#, r#"{"egress": [1]}"#] {
            assert!(said(bad).is_err(), "{bad}");
        }
        let many = format!(r#"{{"egress": [{}"a"]}}"#, r#""a","#.repeat(HOSTS));
        assert!(said(&many).is_err());
    }
}
