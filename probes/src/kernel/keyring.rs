//! `keyring [NAME]`: the keys of the session's, the user's and the user session's keyring, with what
//! they hold; and a search for the key `user` NAME. It asks the kernel (keyctl(2)) and no program, so
//! nothing is started to make a key that is not there.

#![allow(unsafe_code)]

use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;

use crate::action::Action;
use crate::json::Json;
use crate::seen::{Seen, errno, or_errno};
use crate::words::{Usage, Words};

/// KEY_SPEC_*_KEYRING of linux/keyctl.h, by keyctl(1)'s names for them.
const RINGS: [(&str, i32); 3] = [("@s", -3), ("@u", -4), ("@us", -5)];
const MAX_KEYS: usize = 64;
pub const MAX_PAYLOAD: usize = 256;

/// Looks for keys.
pub struct Keyring {
    name: Option<CString>,
}

impl Keyring {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let mut names = words.rest();
        let name = names.pop();
        match (names.is_empty(), name.map(OsString::into_vec).map(CString::new).transpose()) {
            (true, Ok(name)) => Ok(Self { name }),
            _ => Err(Usage("expected at most one NAME".to_owned())),
        }
    }

    /// One search through the keyrings that this process has, one through each by itself.
    fn searches(&self, facts: &mut Facts) -> Json {
        let Some(name) = &self.name else { return Json::Null };
        let each = RINGS.map(|(ring, number)| (ring, kernel::search(number, name)));
        let every = [("request_key", kernel::request_key(name))].into_iter().chain(each);
        Json::list(every.map(|(via, found)| {
            let found = facts.note(found);
            let payload = found.as_ref().map_or(Json::Null, |key| facts.payload(*key));
            Json::object([("via", Json::from(via)), ("key", or_errno(found.map(Json::count))), ("payload", payload)])
        }))
    }
}

impl Action for Keyring {
    fn target(&self) -> String {
        self.name.as_ref().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn run(&self) -> Seen {
        let mut facts = Facts::default();
        let rings = Json::list(RINGS.map(|(ring, number)| facts.ring(ring, number)));
        let search = self.searches(&mut facts);
        let detail = Json::object([("read", Json::Number(facts.read)), ("rings", rings), ("search", search)]);
        match facts.read {
            0 => Seen::failed(facts.first_error.unwrap_or_else(|| "ENOKEY".to_owned()), detail),
            _ => Seen::ok(detail),
        }
    }
}

/// What the whole action comes to.
#[derive(Default)]
struct Facts {
    /// Payloads that were read; those of keyrings are numbers of keys and do not count.
    read: i64,
    first_error: Option<String>,
}

impl Facts {
    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| {
            self.first_error.get_or_insert_with(|| errno(error));
        })
    }

    fn ring(&mut self, name: &str, number: i32) -> Json {
        let (symbol, keys) = match self.note(members(number)) {
            Ok(keys) => (Json::Null, keys),
            Err(error) => (Json::from(errno(&error)), Vec::new()),
        };
        let keys = keys.into_iter().map(|key| {
            let describe = kernel::describe(key);
            let ring = describe.as_ref().is_ok_and(|text| text.starts_with(b"keyring;"));
            let payload = if ring { Json::Null } else { self.payload(key) };
            Json::object([
                ("key", Json::Number(key.into())),
                ("describe", or_errno(describe.map(|text| Json::from(&text[..])))),
                ("payload", payload),
            ])
        });
        let keys = Json::list(keys);
        Json::object([("ring", Json::from(name)), ("errno", symbol), ("keys", keys)])
    }

    /// `{"text"}` or `{"errno"}`, so that no payload can be mistaken for an error.
    fn payload(&mut self, key: i32) -> Json {
        match self.note(kernel::read(key)) {
            Ok(mut bytes) => {
                bytes.truncate(MAX_PAYLOAD);
                self.read += 1;
                Json::object([("text", Json::from(&bytes[..]))])
            }
            Err(error) => Json::object([("errno", Json::from(errno(&error)))]),
        }
    }
}

/// The keys in a keyring and in the keyrings in it, each once.
fn members(ring: i32) -> io::Result<Vec<i32>> {
    let mut keys = numbers(&kernel::read(ring)?);
    let mut at = 0;
    while at < keys.len() && keys.len() < MAX_KEYS {
        if kernel::describe(keys[at]).is_ok_and(|text| text.starts_with(b"keyring;")) {
            let inner = numbers(&kernel::read(keys[at]).unwrap_or_default());
            keys.extend(inner.into_iter().filter(|key| !keys.contains(key)).collect::<Vec<_>>());
        }
        at += 1;
    }
    keys.truncate(MAX_KEYS);
    Ok(keys)
}

/// A keyring reads as the numbers of its keys.
fn numbers(bytes: &[u8]) -> Vec<i32> {
    bytes.as_chunks::<4>().0.iter().map(|four| i32::from_ne_bytes(*four)).collect()
}

#[cfg(target_os = "linux")]
pub mod kernel {
    use std::ffi::{CStr, c_long};
    use std::io;
    use std::ptr;

    // linux/keyctl.h
    const DESCRIBE: c_long = 6;
    const LINK: c_long = 8;
    const UNLINK: c_long = 9;
    const SEARCH: c_long = 10;
    const READ: c_long = 11;
    /// No key holds more (the type big_key: 1 MiB - 1). Into a buffer that is too small nothing is read.
    const MAX: usize = 1 << 20;

    pub fn describe(key: i32) -> io::Result<Vec<u8>> {
        let mut text = filled(DESCRIBE, key)?;
        text.pop_if(|byte| *byte == 0);
        Ok(text)
    }

    pub fn read(key: i32) -> io::Result<Vec<u8>> {
        filled(READ, key)
    }

    /// An operation that fills a buffer and says how long the whole is.
    fn filled(operation: c_long, key: i32) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0_u8; MAX];
        // SAFETY: the kernel writes at most as many bytes as it is told, into a buffer of that length.
        let length = unsafe { libc::syscall(libc::SYS_keyctl, operation, c_long::from(key), buffer.as_mut_ptr(), MAX) };
        buffer.truncate(usize::try_from(length).map_err(|_| io::Error::last_os_error())?);
        Ok(buffer)
    }

    pub fn search(ring: i32, name: &CStr) -> io::Result<i32> {
        let ring = c_long::from(ring);
        // SAFETY: both texts end with NUL and outlive the call; nothing is written.
        key(unsafe { libc::syscall(libc::SYS_keyctl, SEARCH, ring, c"user".as_ptr(), name.as_ptr(), 0_usize) })
    }

    pub fn request_key(name: &CStr) -> io::Result<i32> {
        let no_call_out = ptr::null::<u8>();
        // SAFETY: both texts end with NUL and outlive the call; the third may be null (request_key(2)).
        key(unsafe { libc::syscall(libc::SYS_request_key, c"user".as_ptr(), name.as_ptr(), no_call_out, 0_usize) })
    }

    /// Puts a key into a keyring.
    pub fn link(key: i32, ring: i32) -> io::Result<()> {
        // SAFETY: plain numbers only.
        let done = unsafe { libc::syscall(libc::SYS_keyctl, LINK, c_long::from(key), c_long::from(ring)) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    pub fn unlink(key: i32, ring: i32) -> io::Result<()> {
        // SAFETY: plain numbers only.
        let done = unsafe { libc::syscall(libc::SYS_keyctl, UNLINK, c_long::from(key), c_long::from(ring)) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Adds a key `user` to a keyring, or gives a new payload to the one that is there.
    pub fn add(name: &CStr, payload: &[u8], ring: i32) -> io::Result<i32> {
        let (start, length, ring) = (payload.as_ptr(), payload.len(), c_long::from(ring));
        // SAFETY: both texts end with NUL, and the kernel reads of the payload what it is told.
        key(unsafe { libc::syscall(libc::SYS_add_key, c"user".as_ptr(), name.as_ptr(), start, length, ring) })
    }

    fn key(number: c_long) -> io::Result<i32> {
        i32::try_from(number).ok().filter(|number| *number >= 0).ok_or_else(io::Error::last_os_error)
    }
}

/// Keys of this kind are Linux's.
#[cfg(not(target_os = "linux"))]
pub mod kernel {
    use std::ffi::CStr;
    use std::io;

    pub fn describe(_key: i32) -> io::Result<Vec<u8>> {
        Err(io::Error::from_raw_os_error(libc::ENOSYS))
    }

    pub fn read(key: i32) -> io::Result<Vec<u8>> {
        describe(key)
    }

    pub fn search(_ring: i32, name: &CStr) -> io::Result<i32> {
        request_key(name)
    }

    pub fn link(_key: i32, _ring: i32) -> io::Result<()> {
        Err(io::Error::from_raw_os_error(libc::ENOSYS))
    }

    pub fn unlink(key: i32, ring: i32) -> io::Result<()> {
        link(key, ring)
    }

    pub fn add(name: &CStr, _payload: &[u8], _ring: i32) -> io::Result<i32> {
        request_key(name)
    }

    pub fn request_key(_name: &CStr) -> io::Result<i32> {
        Err(io::Error::from_raw_os_error(libc::ENOSYS))
    }
}
