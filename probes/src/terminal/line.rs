//! FD as a word: the number of a descriptor that is open, or the path of a terminal, which then is opened without
//! becoming the controlling one; and the calls on it.

#![allow(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;

/// A terminal, as named.
pub enum Line {
    Number(RawFd),
    Path(OsString),
}

impl Line {
    pub fn parse(word: &OsStr) -> Self {
        let number = word.to_str().and_then(|word| word.parse().ok());
        number.filter(|number| *number >= 0).map_or_else(|| Self::Path(word.to_owned()), Self::Number)
    }

    pub fn open(&self) -> io::Result<Open> {
        match self {
            Self::Number(number) => Ok(Open { number: *number, _file: None }),
            Self::Path(path) => {
                let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
                let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
                Ok(Open { number: file.as_raw_fd(), _file: Some(file) })
            }
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Path(path) => write!(f, "{}", path.to_string_lossy()),
        }
    }
}

/// A descriptor, which may turn out not to be open, or to be no terminal.
pub struct Open {
    pub number: RawFd,
    _file: Option<File>,
}

/// What an ioctl is given.
pub enum Given<'a, T> {
    Number(i32),
    Place(&'a mut T),
}

impl Open {
    /// `high` sets bit 32 of the request, which the kernel does not look at, and a careless filter does.
    ///
    /// # Safety
    /// What is given must be what the request reads or writes.
    pub unsafe fn ioctl<T>(&self, request: libc::Ioctl, high: bool, given: Given<T>) -> io::Result<()> {
        let request = u64::from(high) << 32 | request;
        // SAFETY: the caller's promise; a place outlives the call.
        let answer = unsafe {
            match given {
                Given::Number(number) => libc::syscall(libc::SYS_ioctl, self.number, request, number),
                Given::Place(place) => libc::syscall(libc::SYS_ioctl, self.number, request, &raw mut *place),
            }
        };
        Errno::result(answer)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_a_descriptor_and_the_rest_a_path() {
        assert!(matches!(Line::parse("0".as_ref()), Line::Number(0)));
        for word in ["/dev/tty", "-1", "", "x"] {
            assert!(matches!(Line::parse(word.as_ref()), Line::Path(path) if path == word), "{word}");
        }
    }
}
