//! The step's terminal, where it has one: a pty of the sandbox's own devpts, whose master goes out to the launcher. A
//! terminal of the host is never inside.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

/// Both ends; held open, neither sees the other's end before the step is there.
pub struct Pty {
    pub master: OwnedFd,
    pub slave: OwnedFd,
}

/// TIOCGPTPEER opens the other end without a look at its name (Linux 4.13). Neither becomes this session's terminal.
pub fn make() -> Result<Pty, Errno> {
    let flags = OFlag::O_RDWR | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
    let master = open("/dev/ptmx", flags, Mode::empty())?;
    let unlocked: libc::c_int = 0;
    // SAFETY: the first call reads one int; the second takes a plain number and makes a descriptor that nobody else owns.
    let slave = unsafe {
        Errno::result(libc::ioctl(master.as_raw_fd(), libc::TIOCSPTLCK, &raw const unlocked))?;
        OwnedFd::from_raw_fd(Errno::result(libc::ioctl(master.as_raw_fd(), libc::TIOCGPTPEER, flags.bits()))?)
    };
    Ok(Pty { master, slave })
}

/// The step's 0, 1 and 2: the terminal where `is` says so, else the next of those given; all of them are used.
pub fn place(is: [bool; 3], given: Vec<OwnedFd>, pty: Option<&Pty>) -> Result<[OwnedFd; 3], Errno> {
    let mut given = given.into_iter();
    let mut next = |is| match is {
        true => pty.and_then(|pty| pty.slave.try_clone().ok()),
        false => given.next(),
    };
    match (is.map(&mut next), given.next()) {
        ([Some(stdin), Some(stdout), Some(stderr)], None) => Ok([stdin, stdout, stderr]),
        _ => Err(Errno::EBADMSG),
    }
}
