//! `exit CODE` and `self-signal SIGNAL`: end this process, so without a line of their own and without an end. What was
//! seen before is out already. A signal that does not end it is reported like any other action.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io;
use std::process;

use nix::errno::Errno;

use crate::action::Action;
use crate::process::signal;
use crate::seen::Seen;
use crate::words::{Usage, Words, number};

/// Ends with a code.
pub struct Exit {
    code: u8,
}

impl Exit {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [code] = words.exactly(["CODE"])?;
        Ok(Self { code: number(&code, "CODE", 0..=u8::MAX)? })
    }
}

impl Action for Exit {
    fn target(&self) -> String {
        self.code.to_string()
    }

    fn run(&self) -> Seen {
        process::exit(self.code.into())
    }
}

/// Ends by a signal.
pub struct SelfSignal {
    signal: c_int,
}

impl SelfSignal {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [signal] = words.exactly(["SIGNAL"])?;
        Ok(Self { signal: signal::parse(&signal)? })
    }
}

impl Action for SelfSignal {
    fn target(&self) -> String {
        self.signal.to_string()
    }

    fn run(&self) -> Seen {
        Seen::of(raised(self.signal))
    }
}

/// Whatever this process inherited, the signal is neither ignored nor blocked, and leaves no core file.
fn raised(signal: c_int) -> io::Result<()> {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit and the set outlive their calls; a set of zeros is one, and emptied before use. SIG_DFL is no
    // function of ours. Signals that cannot have another action (KILL, STOP) are refused, which changes nothing.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &raw const none);
        libc::signal(signal, libc::SIG_DFL);
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
        Errno::result(libc::raise(signal))?;
    }
    Ok(())
}
