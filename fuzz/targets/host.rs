//! A host: its normal form is its own, and no name reads like a number.
#![no_main]

use kusaw::egress::address;
use kusaw::egress::host::Host;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(host) = Host::parse(text) else { return };
    assert_eq!(Host::parse(&host.to_string()), Ok(host.clone()));
    match host {
        Host::Address(ip) => {
            let _ = address::is_public(ip);
        }
        Host::Name(name) => {
            let last = name.rsplit('.').next().unwrap_or_default();
            assert!(!last.bytes().all(|b| b.is_ascii_digit()) && !name.bytes().any(|b| b.is_ascii_uppercase()));
        }
    }
});
