//! Signals that reach kusaw while a step runs: taken in one place and passed on, never acted on behind
//! the step's back. Only for the main thread, and only while `run` holds them.

use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// Those that are passed on; the first three ask the step to end.
const PASSED_ON: &[Signal] = &[
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGQUIT,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGCONT,
    Signal::SIGWINCH,
];

/// One signal.
#[derive(Debug, Clone, Copy)]
pub struct Taken {
    /// Its number.
    pub number: i32,
    /// Whether a grace begins with it.
    pub asks_to_end: bool,
    /// Whether the terminal sent it to the whole foreground group.
    pub from_terminal: bool,
}

/// The signals, readable as a descriptor.
#[derive(Debug)]
pub struct Signals(SignalFd);

/// Blocks them for this thread and all threads made from now on; to be called before any is made.
pub fn hold() -> nix::Result<()> {
    sigprocmask(SigmaskHow::SIG_BLOCK, Some(&set()), None)
}

impl Signals {
    /// Takes what was held.
    pub fn take() -> nix::Result<Signals> {
        hold()?;
        SignalFd::with_flags(&set(), SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK).map(Signals)
    }

    /// The next one, if one is there.
    pub fn next(&self) -> nix::Result<Option<Taken>> {
        Ok(self.0.read_signal()?.map(|info| {
            let number = info.ssi_signo as i32;
            Taken {
                number,
                asks_to_end: PASSED_ON[..3].iter().any(|s| *s as i32 == number),
                from_terminal: info.ssi_code == libc::SI_KERNEL,
            }
        }))
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn set() -> SigSet {
    PASSED_ON.iter().copied().collect()
}
