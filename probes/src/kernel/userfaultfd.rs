//! `userfaultfd [--kernel]`: asks to handle page faults of this process itself (userfaultfd(2)): those of its own code,
//! and with `--kernel` those of the kernel on its behalf too, which attacks use to stop the kernel halfway.

#![allow(unsafe_code)]

use std::ffi::c_int;

use crate::action::Action;
use crate::descriptor;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// UFFD_USER_MODE_ONLY of linux/userfaultfd.h.
const USER_MODE_ONLY: c_int = 1;

/// Asks.
pub struct Userfaultfd {
    kernel: bool,
}

impl Userfaultfd {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let kernel = words.flag("--kernel");
        let [] = words.exactly([])?;
        Ok(Self { kernel })
    }
}

impl Action for Userfaultfd {
    fn target(&self) -> String {
        String::new()
    }

    fn run(&self) -> Seen {
        let flags = libc::O_CLOEXEC | if self.kernel { 0 } else { USER_MODE_ONLY };
        // SAFETY: plain numbers only; the answer is a new descriptor.
        Seen::of(unsafe { descriptor::made(libc::syscall(libc::SYS_userfaultfd, flags)) })
    }
}
