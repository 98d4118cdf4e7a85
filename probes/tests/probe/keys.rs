//! `keyring`, `keys`, `add-key`: the keys that a process has from whoever started it.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;

use serde_json::{Value, json};

use crate::one;

const JOIN_SESSION_KEYRING: i64 = 1;
const SESSION: i64 = -3;

/// Gives this thread, and so what it starts, a new session keyring with one key in it.
fn planted(name: &str, payload: &str) -> io::Result<i64> {
    let name = CString::new(name).unwrap();
    // SAFETY: a null name asks for an unnamed keyring, all texts outlive the calls, and the kernel
    // reads of the payload what it is told.
    let key = unsafe {
        match libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<u8>()) {
            -1 => -1,
            _ => {
                let payload = payload.as_bytes();
                let (start, length) = (payload.as_ptr(), payload.len());
                libc::syscall(libc::SYS_add_key, c"user".as_ptr(), name.as_ptr(), start, length, SESSION)
            }
        }
    };
    if key < 0 { Err(io::Error::last_os_error()) } else { Ok(key) }
}

fn via<'a>(seen: &'a Value, via: &str) -> &'a Value {
    seen["detail"]["search"].as_array().unwrap().iter().find(|it| it["via"] == via).unwrap()
}

#[test]
fn a_key_of_the_session_is_listed_searched_and_read() {
    let planted = planted("kusaw-probe:test", "EACCES, it says");
    let seen = one("keyring kusaw-probe:test");
    let rings = seen["detail"]["rings"].as_array().unwrap();
    assert_eq!(rings.iter().map(|ring| ring["ring"].as_str().unwrap()).collect::<Vec<_>>(), ["@s", "@u", "@us"]);
    let key = match planted {
        Ok(key) => key,
        // A container without keyrings (EPERM, ENOSYS) is told as such.
        Err(error) => {
            let errno = nix::errno::Errno::from_raw(error.raw_os_error().unwrap());
            assert_eq!(rings[0]["errno"], format!("{errno:?}"));
            return;
        }
    };
    assert_eq!(seen["ok"], true, "{seen}");
    let payload = json!({"text": "EACCES, it says"});
    let listed = &rings[0]["keys"].as_array().unwrap()[0];
    assert_eq!((&listed["key"], &listed["payload"]), (&json!(key), &payload));
    let describe = listed["describe"].as_str().unwrap();
    assert!(describe.starts_with("user;") && describe.ends_with(";kusaw-probe:test"), "{describe}");
    for way in ["request_key", "@s"] {
        assert_eq!(via(&seen, way), &json!({"via": way, "key": key, "payload": payload}));
    }
}

#[test]
fn no_key_is_an_error() {
    let planted = planted("kusaw-probe:another", "x");
    let seen = one("keyring kusaw-probe:absent");
    assert!(planted.is_err() || via(&seen, "request_key")["key"] == "ENOKEY", "{seen}");
    assert_eq!(via(&seen, "@s")["payload"], Value::Null);
    assert_eq!(one("keyring")["detail"]["search"], Value::Null);
}

#[test]
fn a_key_is_added_to_the_session_and_found_by_its_number() {
    if planted("kusaw-probe:first", "x").is_err() {
        return; // a container without keyrings; told by the test above
    }
    let added = one("add-key kusaw-probe:added its-payload");
    assert_eq!((&added["ok"], &added["target"]), (&json!(true), &json!("kusaw-probe:added")), "{added}");
    let key = &added["detail"]["key"];
    assert_eq!(via(&one("keyring kusaw-probe:added"), "@s")["key"], *key);
    let seen = one("keys kusaw-probe:add");
    let found = seen["detail"]["keys"].as_array().unwrap().iter().find(|it| it["key"] == *key).unwrap();
    assert_eq!(found["payload"], "its-payload");
    assert!(!seen.to_string().contains("kusaw-probe:first"), "a key that was not asked for is not told: {seen}");
}
