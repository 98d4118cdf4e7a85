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
    let mut next = |is| match (is, pty) {
        (true, Some(pty)) => pty.slave.try_clone().map_err(|e| Errno::from_raw(e.raw_os_error().unwrap_or(libc::EIO))),
        (true, None) => Err(Errno::EBADMSG),
        (false, _) => given.next().ok_or(Errno::EBADMSG),
    };
    let all = [next(is[0])?, next(is[1])?, next(is[2])?];
    if given.next().is_none() { Ok(all) } else { Err(Errno::EBADMSG) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn null() -> OwnedFd {
        File::open("/dev/null").unwrap().into()
    }

    #[test]
    fn what_is_given_must_be_what_is_wanted() {
        let pty = Pty { master: null(), slave: null() };
        let placed = |is, given, pty| place(is, (0..given).map(|_| null()).collect(), pty).map(|_| ());
        assert_eq!(placed([false; 3], 3, None), Ok(()));
        assert_eq!(placed([true, true, false], 1, Some(&pty)), Ok(()));
        for (is, given, pty) in
            [([false; 3], 2, None), ([false; 3], 4, None), ([true; 3], 0, None), ([true; 3], 1, Some(&pty))]
        {
            assert_eq!(placed(is, given, pty), Err(Errno::EBADMSG), "{is:?} {given}");
        }
    }

    #[test]
    fn why_it_cannot_be_had_once_more_is_told() {
        // SAFETY: no descriptor has this number, and it is never closed: see below.
        let pty = Pty { master: null(), slave: unsafe { OwnedFd::from_raw_fd(i32::MAX) } };
        assert_eq!(place([true; 3], Vec::new(), Some(&pty)).map(|_| ()), Err(Errno::EBADF));
        std::mem::forget(pty);
    }
}
