//! An allow entry: printed and read again it is the same, and it allows what it names and never its own apex.
#![no_main]

use kusaw::egress::entry::{Entry, Hosts, warnings};
use kusaw::egress::host::Host;
use kusaw::egress::policy::Policy;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = warnings(text);
    let Ok(entry) = Entry::parse(text) else { return };
    assert_eq!(Entry::parse(&entry.to_string()), Ok(entry.clone()));
    let policy = Policy::new(&[entry.clone()]);
    let port = entry.port.unwrap_or(443);
    match entry.hosts {
        Hosts::Exactly(host) => assert!(policy.route(&host, port).is_ok()),
        Hosts::Below(name) => {
            assert!(policy.route(&Host::Name(name.clone()), port).is_err());
            if let Ok(below) = Host::parse(&format!("a.{name}")) {
                assert!(policy.route(&below, port).is_ok());
            }
        }
    }
});
