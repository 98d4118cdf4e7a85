//! Signals that reach kusaw while a step runs: taken in one place and passed on, never acted on behind
//! the step's back. Until they are taken, the default action applies. Only for the main thread.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};

use super::grace::Grace;

/// Those that ask the step to end, and kusaw with it: by themselves the others would end it without giving the terminal back.
const ASKING: &[Signal] = &[
    Signal::SIGTERM,
    Signal::SIGINT,
    Signal::SIGHUP,
    Signal::SIGXCPU,
    Signal::SIGALRM,
    Signal::SIGVTALRM,
    Signal::SIGPROF,
    Signal::SIGIO,
];

/// Would end kusaw where a step's output reaches the caller's limit on file sizes; a write then fails, and is told (setrlimit(2)).
const NOT_TAKEN: Signal = Signal::SIGXFSZ;

/// Those that are passed on besides.
const OTHERS: &[Signal] = &[Signal::SIGQUIT, Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGCONT, Signal::SIGWINCH];

/// Those that nohup(1) and shells have background commands ignore; then they are not taken either. Others that a careless
/// caller has ignored are taken: kusaw can always be asked to end.
const MAY_BE_IGNORED: &[Signal] = &[Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT];

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

/// The signals, readable as descriptors.
#[derive(Debug)]
pub struct Signals {
    all: SignalFd,
    asking: SignalFd,
}

impl Signals {
    /// Blocks them for this thread and all threads made from now on; to be called before any is made.
    pub fn take() -> nix::Result<Signals> {
        let is_taken = |signal: &Signal| !(MAY_BE_IGNORED.contains(signal) && is_ignored(*signal));
        let asking: SigSet = ASKING.iter().copied().filter(is_taken).collect();
        let all: SigSet = ASKING.iter().chain(OTHERS).copied().filter(is_taken).collect();
        let mut blocked = all;
        blocked.add(NOT_TAKEN);
        sigprocmask(SigmaskHow::SIG_BLOCK, Some(&blocked), None)?;
        let open = |set| SignalFd::with_flags(set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK);
        Ok(Signals { all: open(&all)?, asking: open(&asking)? })
    }

    /// The next one, if one is there.
    pub fn next(&self) -> nix::Result<Option<Taken>> {
        next(&self.all)
    }

    /// The next one that asks, if one is there; the others wait on.
    pub fn asked(&self) -> nix::Result<Option<Taken>> {
        next(&self.asking)
    }

    /// Can be read while one is there that asks.
    pub fn asking(&self) -> BorrowedFd<'_> {
        self.asking.as_fd()
    }

    /// Waits until one of `others` (the value says which) or a signal can be read; `TimedOut` when the grace is over.
    pub fn wait<const N: usize>(&self, others: [BorrowedFd; N], grace: &Grace) -> io::Result<[bool; N]> {
        let timeout = grace.left().ok_or(io::ErrorKind::TimedOut)?;
        let all = others.into_iter().chain([self.all.as_fd()]);
        let mut on: Vec<PollFd> = all.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match poll(&mut on, timeout) {
            Ok(_) => Ok(std::array::from_fn(|n| on[n].any().unwrap_or(true))),
            Err(Errno::EINTR) => Ok([false; N]),
            Err(e) => Err(e.into()),
        }
    }
}

fn is_ignored(signal: Signal) -> bool {
    // SAFETY: the first call changes nothing and fills `action`, for which all zero is a value.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal as i32, std::ptr::null(), &raw mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// The last one that asked this process to end, whoever has taken it: what is left to do is not begun any more.
pub fn has_asked() -> Option<i32> {
    Some(ASKED.load(Ordering::Relaxed)).filter(|number| *number != 0)
}

static ASKED: AtomicI32 = AtomicI32::new(0);

fn next(from: &SignalFd) -> nix::Result<Option<Taken>> {
    Ok(from.read_signal()?.map(|info| {
        let number = info.ssi_signo as i32;
        let asks_to_end = ASKING.iter().any(|s| *s as i32 == number);
        if asks_to_end {
            ASKED.store(number, Ordering::Relaxed);
        }
        Taken { number, asks_to_end, from_terminal: info.ssi_code == libc::SI_KERNEL }
    }))
}
