//! `shm KEY` reads the text in a System V segment, `shm-write KEY TEXT` writes one, `shm-make KEY TEXT` makes the
//! segment, for its owner alone, and leaves it there.

#![allow(unsafe_code)]

use std::ffi::{OsString, c_int, c_void};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use nix::errno::Errno;

use super::key::Key;
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// A page: the least that is attached, whatever the segment's size.
const PAGE: usize = 4096;

/// Reads it.
pub struct Shm {
    key: Key,
}

impl Shm {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [key] = words.exactly(["KEY"])?;
        Ok(Self { key: Key::parse(&key)? })
    }

    fn read(&self) -> io::Result<(c_int, Vec<u8>)> {
        let segment = Segment::there(self.key, libc::SHM_RDONLY)?;
        Ok((segment.id, segment.text()))
    }
}

impl Action for Shm {
    fn target(&self) -> String {
        self.key.to_string()
    }

    fn run(&self) -> Seen {
        match self.read() {
            Ok((id, text)) => Seen::ok(Json::object([
                ("id", Json::Number(id.into())),
                ("bytes", Json::count(text.len())),
                ("text", Json::from(&text[..])),
            ])),
            Err(error) => error.into(),
        }
    }
}

/// Writes into it.
pub struct ShmWrite {
    key: Key,
    text: OsString,
}

impl ShmWrite {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let (key, text) = key_and_text(words)?;
        Ok(Self { key, text })
    }
}

impl Action for ShmWrite {
    fn target(&self) -> String {
        self.key.to_string()
    }

    fn run(&self) -> Seen {
        Seen::of(Segment::there(self.key, 0).map(|segment| segment.write(self.text.as_bytes())))
    }
}

/// Makes it.
pub struct ShmMake {
    key: Key,
    text: OsString,
}

impl ShmMake {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let (key, text) = key_and_text(words)?;
        Ok(Self { key, text })
    }

    fn made(&self) -> io::Result<c_int> {
        let id = get(self.key, PAGE, libc::IPC_CREAT | libc::IPC_EXCL | 0o600)?;
        Segment::attached(id, 0)?.write(self.text.as_bytes());
        Ok(id)
    }
}

impl Action for ShmMake {
    fn target(&self) -> String {
        self.key.to_string()
    }

    fn run(&self) -> Seen {
        match self.made() {
            Ok(id) => Seen::ok(Json::object([("id", Json::Number(id.into()))])),
            Err(error) => error.into(),
        }
    }
}

fn key_and_text(words: Words) -> Result<(Key, OsString), Usage> {
    let [key, text] = words.exactly(["KEY", "TEXT"])?;
    if text.len() >= PAGE {
        return Err(Usage(format!("TEXT is shorter than {PAGE} bytes")));
    }
    Ok((Key::parse(&key)?, text))
}

fn get(key: Key, size: usize, flags: c_int) -> io::Result<c_int> {
    // SAFETY: plain numbers only.
    Ok(Errno::result(unsafe { libc::shmget(key.0, size, flags) })?)
}

/// A segment that is attached as long as this lives.
struct Segment {
    id: c_int,
    start: *mut c_void,
}

impl Segment {
    fn there(key: Key, flags: c_int) -> io::Result<Self> {
        Self::attached(get(key, 0, 0)?, flags)
    }

    fn attached(id: c_int, flags: c_int) -> io::Result<Self> {
        // SAFETY: without an address of ours, the kernel chooses a free one.
        let start = unsafe { libc::shmat(id, ptr::null(), flags) };
        if start.addr() == usize::MAX { Err(io::Error::last_os_error()) } else { Ok(Self { id, start }) }
    }

    /// What stands before the first NUL.
    fn text(&self) -> Vec<u8> {
        // SAFETY: a page can be read at the start. Others may write it meanwhile, so bytes are copied before they are
        // used.
        let bytes: [u8; PAGE] = unsafe { ptr::read_volatile(self.start.cast()) };
        bytes.into_iter().take_while(|byte| *byte != 0).collect()
    }

    /// Writes a text shorter than a page, and a NUL behind it.
    fn write(&self, text: &[u8]) {
        // SAFETY: a page can be written at the start of what is not attached for reading only, and the text with its
        // NUL is no longer (`key_and_text`).
        unsafe {
            ptr::copy_nonoverlapping(text.as_ptr(), self.start.cast(), text.len());
            self.start.cast::<u8>().add(text.len()).write(0);
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: attached here, and nothing of it is borrowed.
        unsafe { libc::shmdt(self.start) };
    }
}
