//! The settings: any bytes are settings or a complaint with a place.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(complaint) = kusaw::settings::read("kusaw.yaml".as_ref(), bytes) {
        assert!(!complaint.to_string().is_empty());
    }
});
