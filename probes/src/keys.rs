//! `keys`: every key that /proc/keys shows, asked for by its number: keyrings are linked into this process's own keyring
//! first, because whoever has a keyring may read what is in it (keyrings(7), "possession"). The process keyring goes with
//! this process, so nothing of it is left.
//!
//! `add-key NAME TEXT`: adds a key `user` to the session keyring.

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use crate::action::Action;
use crate::json::Json;
use crate::keyring::{MAX_PAYLOAD, kernel};
use crate::read;
use crate::seen::{Seen, or_errno};
use crate::words::{Usage, Words};

/// KEY_SPEC_PROCESS_KEYRING and KEY_SPEC_SESSION_KEYRING of linux/keyctl.h.
const PROCESS: i32 = -2;
const SESSION: i32 = -3;
const MAX_SHOWN: usize = 200;

/// Asks for all of them.
pub struct Keys;

impl Keys {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [] = words.exactly([])?;
        Ok(Self)
    }
}

impl Action for Keys {
    fn target(&self) -> String {
        String::new()
    }

    fn run(&self) -> Seen {
        let numbers = match numbers() {
            Ok(numbers) => numbers,
            Err(error) => return error.into(),
        };
        let linked: Vec<io::Result<()>> = numbers.iter().map(|key| kernel::link(*key, PROCESS)).collect();
        let keys = numbers.iter().zip(linked).take(MAX_SHOWN).map(|(key, linked)| {
            let text = |bytes: Vec<u8>| Json::from(&bytes[..bytes.len().min(MAX_PAYLOAD)]);
            let describe = kernel::describe(*key);
            let ring = describe.as_ref().is_ok_and(|text| text.starts_with(b"keyring;"));
            let payload = kernel::read(*key).map(|bytes| if ring { Json::count(bytes.len() / 4) } else { text(bytes) });
            Json::object([
                ("key", Json::Number((*key).into())),
                ("describe", or_errno(describe.map(text))),
                ("link", or_errno(linked.map(|()| Json::from("ok")))),
                ("payload", or_errno(payload)),
            ])
        });
        Seen::ok(Json::object([("count", Json::count(numbers.len())), ("keys", Json::list(keys))]))
    }
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
        let name = CString::new(name.into_vec()).map_err(|_| Usage("a NAME has no NUL".to_owned()))?;
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
