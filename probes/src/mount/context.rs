//! `fsopen KIND`: makes a new file system of a kind (fsopen(2), fsconfig(2), fsmount(2)), and mounts it nowhere. It is
//! gone with the probe.

#![allow(unsafe_code)]

use std::ffi::{CString, c_int};
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;

use nix::errno::Errno;

use crate::action::Action;
use crate::descriptor;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words, c_string};

/// FSCONFIG_CMD_CREATE of linux/mount.h.
const CREATE: c_int = 6;

/// Makes a file system.
pub struct Fsopen {
    kind: CString,
}

impl Fsopen {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [kind] = words.exactly(["KIND"])?;
        Ok(Self { kind: c_string(kind, "KIND")? })
    }

    /// `call` is the one that is made.
    fn made(&self, call: &mut &str) -> io::Result<()> {
        // SAFETY: the kind ends with NUL and outlives the call; the answer is a new descriptor.
        let context = unsafe { descriptor::made(libc::syscall(libc::SYS_fsopen, self.kind.as_ptr(), 0))? };
        *call = "fsconfig";
        let none = ptr::null::<u8>();
        // SAFETY: this command takes no key and no value.
        Errno::result(unsafe { libc::syscall(libc::SYS_fsconfig, context.as_raw_fd(), CREATE, none, none, 0) })?;
        *call = "fsmount";
        // SAFETY: plain numbers only; the answer is a new descriptor.
        unsafe { descriptor::made(libc::syscall(libc::SYS_fsmount, context.as_raw_fd(), 0, 0))? };
        Ok(())
    }
}

impl Action for Fsopen {
    fn target(&self) -> String {
        self.kind.to_string_lossy().into_owned()
    }

    /// `call` is the one that failed.
    fn run(&self) -> Seen {
        let mut call = "fsopen";
        let made = self.made(&mut call);
        let failed = if made.is_ok() { Json::Null } else { Json::from(call) };
        Seen::tried(made, Json::object([("call", failed)]))
    }
}
