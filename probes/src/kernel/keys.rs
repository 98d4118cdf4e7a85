//! `keys BEGINNING`: the keys that /proc/keys shows and whose names begin so, asked for by their numbers: each
//! keyring is linked into this process's own keyring first, because whoever has a keyring may read what is in it (keyrings(7),
//! "possession"). The process keyring goes with this process, so nothing of it is left. Of other keys, which can be
//! those of whoever started the suite, nothing is read and nothing told but their number.
//!
//! `add-key NAME TEXT`: adds a key `user` to the session keyring.

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;

use crate::action::Action;
use crate::files::read;
use crate::json::Json;
use crate::kernel::keyring::{MAX_PAYLOAD, kernel};
use crate::seen::{Seen, or_errno};
use crate::words::{Usage, Words, c_string};

/// KEY_SPEC_PROCESS_KEYRING and KEY_SPEC_SESSION_KEYRING of linux/keyctl.h.
const PROCESS: i32 = -2;
const SESSION: i32 = -3;
const MAX_SHOWN: usize = 200;

/// Asks for them.
pub struct Keys {
    beginning: OsString,
}

impl Keys {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [beginning] = words.exactly(["BEGINNING"])?;
        Ok(Self { beginning })
    }
}

impl Action for Keys {
    fn target(&self) -> String {
        self.beginning.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let numbers = match numbers() {
            Ok(numbers) => numbers,
            Err(error) => return error.into(),
        };
        let described = numbers.iter().filter_map(|key| Some((*key, kernel::describe(*key).ok()?)));
        let (rings, keys): (Vec<_>, Vec<_>) = described.partition(|(_, text)| text.starts_with(b"keyring;"));
        let named: Vec<_> = keys
            .into_iter()
            .filter(|(_, text)| name(text).starts_with(self.beginning.as_bytes()))
            .take(MAX_SHOWN)
            .collect();
        let mut payloads: Vec<_> = named.iter().map(|(key, _)| kernel::read(*key)).collect();
        let mut linked = 0_usize;
        // One at a time: with all of them the kernel's search may end before it comes to the key.
        for (ring, _) in rings {
            if kernel::link(ring, PROCESS).is_ok() {
                linked += 1;
                for ((key, _), payload) in named.iter().zip(&mut payloads).filter(|(_, payload)| payload.is_err()) {
                    *payload = kernel::read(*key);
                }
                let _ = kernel::unlink(ring, PROCESS); // it goes with the process at the latest
            }
        }
        let text = |bytes: &[u8]| Json::from(&bytes[..bytes.len().min(MAX_PAYLOAD)]);
        let named = named.iter().zip(payloads).map(|((key, describe), payload)| {
            let payload = or_errno(payload.map(|payload| text(&payload)));
            Json::object([("key", Json::Number((*key).into())), ("describe", text(describe)), ("payload", payload)])
        });
        let counts = [("count", Json::count(numbers.len())), ("linked", Json::count(linked))];
        Seen::ok(Json::object(counts.into_iter().chain([("keys", Json::list(named))])))
    }
}

/// The name of a key, as keyctl_describe(3) tells it: `TYPE;UID;GID;PERMISSIONS;NAME`.
fn name(describe: &[u8]) -> &[u8] {
    describe.splitn(5, |byte| *byte == b';').nth(4).unwrap_or_default()
}

/// The numbers in /proc/keys: the first word of a line, in hexadecimal.
fn numbers() -> io::Result<Vec<i32>> {
    let mut text = String::new();
    io::Read::read_to_string(&mut read::open("/proc/keys".as_ref(), 0)?, &mut text)?;
    Ok(text.lines().filter_map(|line| i32::from_str_radix(line.split_whitespace().next()?, 16).ok()).collect())
}

/// Adds a key.
pub struct AddKey {
    name: CString,
    text: OsString,
}

impl AddKey {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [name, text] = words.exactly(["NAME", "TEXT"])?;
        let name = c_string(name, "NAME")?;
        Ok(Self { name, text })
    }
}

impl Action for AddKey {
    fn target(&self) -> String {
        self.name.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        match kernel::add(&self.name, self.text.as_bytes(), SESSION) {
            Ok(key) => Seen::ok(Json::object([("key", Json::Number(key.into()))])),
            Err(error) => error.into(),
        }
    }
}
