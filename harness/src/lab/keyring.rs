//! The keyrings of whoever calls a factory: a session keyring of the lab's own with a key in it, and a key in the user
//! keyring, which the session keyring links to, as pam_keyinit(8) leaves it.
//!
//! Started as root, the user keyring of the lab's uid is the host kernel's. The key in it is taken out at the end, and
//! expires by itself if the lab is killed; it must never be a key of anybody else.
#![allow(unsafe_code)] // keyctl(2) and add_key(2), each with its SAFETY sentence

use std::ffi::{CStr, CString, c_long};
use std::io;
use std::sync::LazyLock;

use super::home;

/// The key in the session keyring.
pub const OF_SESSION: &str = "lab-session";
/// The key in the user keyring: another one in each run, because two runs as root share that keyring.
pub static OF_USER: LazyLock<String> =
    LazyLock::new(|| format!("lab-user-{}", home::token().unwrap_or_default().trim_start_matches(home::TOKEN)));

/// How long a key may live: longer than any run.
const SECONDS: u32 = 3600;

// linux/keyctl.h
const SESSION: i32 = -3;
const USER: i32 = -4;
const RING_ID: c_long = 0;
const JOIN_SESSION: c_long = 1;
const LINK: c_long = 8;
const UNLINK: c_long = 9;
const SEARCH: c_long = 10;
const SET_TIMEOUT: c_long = 15;

/// The keys, until this is dropped.
#[derive(Debug)]
pub struct Keys {
    user: Option<i32>,
}

impl Keys {
    /// Joins a session keyring and adds the keys. What this thread starts afterwards has them. Where keyctl(2) is refused
    /// there are none ([`refused`]).
    ///
    /// # Errors
    /// When a key cannot be added although keyctl(2) is there.
    pub fn add() -> io::Result<Self> {
        match keyctl(JOIN_SESSION, 0, 0, 0) {
            Err(e) if is_refusal(&e) => return Ok(Self { user: None }),
            joined => joined?,
        };
        keyctl(LINK, number(USER), number(SESSION), 0)?; // first: only who possesses a key may set its timeout
        let mut keys = Self { user: None };
        expire(add(CString::new(OF_SESSION)?.as_c_str(), SESSION)?)?;
        let user = add(CString::new(OF_USER.as_str())?.as_c_str(), USER)?;
        keys.user = Some(user); // from here on it is taken out whatever happens
        expire(user)?;
        Ok(keys)
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        if let Some(key) = self.user {
            // What cannot be taken out expires.
            let _ = keyctl(UNLINK, number(key), number(USER), 0);
        }
    }
}

/// Why this host has no keyrings at all, if so: a fact that is only read.
pub fn refused() -> Option<String> {
    keyctl(RING_ID, number(SESSION), 0, 0).err().filter(is_refusal).map(|e| format!("keyctl(2) is refused here: {e}"))
}

/// Whether a key of this name is in the lab's session keyring.
///
/// # Errors
/// When the keyring cannot be searched.
pub fn has(name: &str) -> io::Result<bool> {
    search(name).map(|key| key.is_some())
}

/// Takes a key out of the lab's session keyring.
///
/// # Errors
/// When it is not there.
pub fn remove(name: &str) -> io::Result<()> {
    let key = search(name)?.ok_or(io::ErrorKind::NotFound)?;
    keyctl(UNLINK, number(key), number(SESSION), 0).map(drop)
}

fn search(name: &str) -> io::Result<Option<i32>> {
    let name = CString::new(name)?;
    // The texts live until the call returns: see `keyctl`.
    match keyctl(SEARCH, number(SESSION), c"user".as_ptr() as c_long, name.as_ptr() as c_long) {
        Ok(key) => Ok(Some(key)),
        Err(e) if e.raw_os_error() == Some(libc::ENOKEY) => Ok(None),
        Err(e) => Err(e),
    }
}

fn add(name: &CStr, ring: i32) -> io::Result<i32> {
    let payload = home::token()?;
    let (start, length) = (payload.as_ptr(), payload.len());
    // SAFETY: both texts end with NUL, and the kernel reads of the payload what it is told; all outlive the call.
    let key = unsafe { libc::syscall(libc::SYS_add_key, c"user".as_ptr(), name.as_ptr(), start, length, number(ring)) };
    i32::try_from(key).ok().filter(|key| *key >= 0).ok_or_else(io::Error::last_os_error)
}

fn expire(key: i32) -> io::Result<()> {
    keyctl(SET_TIMEOUT, number(key), c_long::from(SECONDS), 0).map(drop)
}

fn keyctl(operation: c_long, one: c_long, two: c_long, three: c_long) -> io::Result<i32> {
    // SAFETY: the operations above take numbers; JOIN_SESSION also a null name, SEARCH also two texts that end with NUL,
    // which its one caller keeps alive. None of them writes to memory of this process.
    let result = unsafe { libc::syscall(libc::SYS_keyctl, operation, one, two, three, 0) };
    i32::try_from(result).ok().filter(|n| *n >= 0).ok_or_else(io::Error::last_os_error)
}

fn number(key: i32) -> c_long {
    c_long::from(key)
}

/// A filter of a container, or a kernel without keyrings.
fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOSYS))
}
