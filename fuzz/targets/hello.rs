//! A ClientHello: bounded, and more bytes never take a verdict back.
#![no_main]

use kusaw::egress::sni::{Hello, MOST, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (mut scratch, mut other) = (Vec::new(), Vec::new());
    let whole = read(bytes, &mut scratch);
    assert!(bytes.len() < MOST || whole != Hello::NeedMore);
    let part = read(&bytes[..bytes.len() / 2], &mut other);
    assert!(part == Hello::NeedMore || part == whole);
});
