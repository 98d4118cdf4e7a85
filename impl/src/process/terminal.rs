//! kusaw's own terminal, where its stdin is one: what is typed goes to a terminal that the step has for itself, and what the
//! step writes there comes back. The step never holds this one: it could type into it, and stay on it. Meanwhile keys are
//! not acted on here but inside, as bytes, and every way out gives the user's modes back.
#![allow(unsafe_code)]

use std::fs::{File, TryLockError};
use std::io::{self, PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, Termios, cfmakeraw, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};

use super::pump::{Teller, put};
use crate::stderr;

/// Between two looks whether kusaw has come to the foreground: nobody tells.
const LOOK: Duration = Duration::from_millis(200);

/// Told once to who types and sees nothing of it.
const ANOTHER: &str = "another kusaw has this terminal: this step gets what is typed when that one has ended; start it on a \
    terminal of its own, or with </dev/null if it is to read nothing";

/// Passed on before the step is there to read: its terminal takes more than this without waiting, and not any amount.
const BEFORE: usize = 4096;

/// The terminal of the user.
#[derive(Debug)]
pub struct Terminal {
    /// Which of kusaw's 0, 1 and 2 it is.
    pub is: [bool; 3],
    own: Arc<Own>,
    to: Option<File>,
    /// The step's terminal. Its threads alone keep it: when they have ended, it hangs up.
    master: Weak<File>,
}

#[derive(Debug)]
struct Own {
    fd: OwnedFd,
    /// Opened once more, to be locked, and read without waiting.
    again: Option<File>,
    modes: Mutex<Modes>,
    /// Tells the one who reads keys to look again whether they are ours.
    look: (PipeReader, PipeWriter),
}

/// Whose modes it has.
#[derive(Debug)]
enum Modes {
    /// The user's, until kusaw is in the foreground.
    Users,
    /// Those in which keys are bytes; the user's are kept.
    Keys(Termios),
    /// The user's again, for good.
    Over,
}

impl Terminal {
    /// The one that stdin is, if it is one.
    pub fn of_stdin() -> io::Result<Option<Terminal>> {
        let Some(device) = device(io::stdin().as_fd()) else { return Ok(None) };
        let also = |fd| self::device(fd) == Some(device);
        let is = [true, also(io::stdout().as_fd()), also(io::stderr().as_fd())];
        let fd = io::stdin().as_fd().try_clone_to_owned()?;
        // After su(1) it may be another user's: then it cannot be opened. Without waiting, which stdin itself must not be set
        // to: others have it too.
        let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
        let again = File::options().read(true).write(true).custom_flags(flags).open("/proc/self/fd/0").ok();
        let to = match is {
            [_, true, _] => io::stdout().as_fd().try_clone_to_owned()?.into(),
            [_, _, true] => io::stderr().as_fd().try_clone_to_owned()?.into(),
            // `</dev/tty`: what is typed is to be seen as well.
            _ => again.as_ref().map_or_else(|| fd.try_clone().map(File::from), File::try_clone)?,
        };
        let own = Own { fd, again, modes: Mutex::new(Modes::Users), look: pipe()? };
        Ok(Some(Terminal { is, own: own.into(), to: Some(to), master: Weak::new() }))
    }

    /// Connects it with the step's, which gets its modes and size; `teller` is told when all is shown.
    pub fn connect(&mut self, master: OwnedFd, teller: Teller) -> io::Result<()> {
        let Some(to) = self.to.take() else { return Ok(()) };
        let master = Arc::new(File::from(master));
        self.master = Arc::downgrade(&master);
        // In the background they are those of a shell that edits a line.
        if self.own.is_ours() {
            tcsetattr(&master, SetArg::TCSANOW, &tcgetattr(&self.own.fd)?)?;
        }
        self.own.resize(&master);
        self.own.take_over(&master, BEFORE)?;
        let (own, keys) = (self.own.clone(), master.clone());
        thread::Builder::new().name("kusaw-keys".into()).spawn(move || pass_keys(&own, &keys))?;
        thread::Builder::new().name("kusaw-screen".into()).spawn(move || {
            show(&master, to, &teller);
            teller.done();
        })?;
        Ok(())
    }

    /// The window has another size: the kernel tells those inside.
    pub fn resize(&self) {
        self.master.upgrade().iter().for_each(|master| self.own.resize(master));
    }

    /// kusaw had been stopped: the shell has set modes of its own meanwhile, and may still be in front.
    pub fn resume(&self) {
        self.own.take_over_again();
        self.resize();
        let _ = (&self.own.look.1).write_all(b"x");
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.own.give_back();
    }
}

impl Own {
    /// Whether the terminal is this process's to read and set: in the foreground, and with no other kusaw on it, which would
    /// take these modes for the user's. One that is nobody's (ENOTTY) is ours, and so is one that is gone: a read tells.
    fn is_ours(&self) -> bool {
        self.is_in_front() && !self.is_anothers()
    }

    fn is_in_front(&self) -> bool {
        tcgetpgrp(&self.fd).map_or(true, |group| group == getpgrp())
    }

    fn is_anothers(&self) -> bool {
        self.again.as_ref().is_some_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// In the foreground, and once: turns all keys into bytes. What was typed before was for the step, lines and ends; while
    /// there is more of it than `most` bytes, the rest is left for the next call.
    fn take_over(&self, master: &File, most: usize) -> nix::Result<()> {
        if !matches!(*self.modes(), Modes::Users) || !self.is_ours() {
            return Ok(());
        }
        let users = tcgetattr(&self.fd)?;
        let waiting = || poll(&mut [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN)], PollTimeout::ZERO) == Ok(1);
        let mut passed = 0;
        // In other modes an end of the input would be a NUL byte.
        while users.local_flags.contains(LocalFlags::ICANON) && waiting() {
            if passed >= most {
                return Ok(());
            }
            match self.pass_on(master) {
                Ok(n) if n > 0 => passed += n,
                _ => break,
            }
        }
        let mut modes = self.modes();
        if let Modes::Users = *modes {
            tcsetattr(&self.fd, SetArg::TCSANOW, &raw(&users))?;
            *modes = Modes::Keys(users);
        }
        Ok(())
    }

    /// What has been typed, or the next of it: bytes, or a line, or that the input ends here. The value is how many bytes;
    /// none once the terminal is the user's again for good: what is typed then is for whoever comes next.
    fn pass_on(&self, mut master: &File) -> io::Result<usize> {
        let mut typed = [0; 4096];
        let Some(n) = self.read_unless_over(&mut typed)? else { return Ok(0) };
        master.write_all(&typed[..n])?;
        Ok(n)
    }

    fn read_unless_over(&self, typed: &mut [u8]) -> io::Result<Option<usize>> {
        // Held meanwhile: whoever ends kusaw waits for this, and for nothing that the step has to take.
        let modes = self.modes();
        if let Modes::Over = *modes {
            return Ok(None);
        }
        let from = self.again.as_ref().map_or(self.fd.as_fd(), |again| again.as_fd());
        match nix::unistd::read(from, typed)? {
            0 if device(from).is_none() => Err(io::ErrorKind::UnexpectedEof.into()),
            0 => {
                typed[0] = tcgetattr(from)?.control_chars[SpecialCharacterIndices::VEOF as usize];
                Ok(Some(1))
            }
            n => Ok(Some(n)),
        }
    }

    fn take_over_again(&self) {
        if let (Modes::Keys(users), true) = (&*self.modes(), self.is_ours()) {
            let _ = tcsetattr(&self.fd, SetArg::TCSANOW, &raw(users));
        }
    }

    /// In the background the shell has done it.
    fn give_back(&self) {
        if let (Modes::Keys(users), true) = (std::mem::replace(&mut *self.modes(), Modes::Over), self.is_ours()) {
            let _ = tcsetattr(&self.fd, SetArg::TCSANOW, &users);
        }
    }

    fn resize(&self, master: &File) {
        // SAFETY: both calls have a whole winsize, which the first one fills.
        unsafe {
            let mut size: libc::winsize = std::mem::zeroed();
            if libc::ioctl(self.fd.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) == 0 {
                libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ, &raw const size);
            }
        }
    }

    /// Waits for a key; `false` is only time to look again.
    fn wait(&self) -> bool {
        let mut on = [self.fd.as_fd(), self.look.0.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let _ = poll(&mut on, PollTimeout::NONE);
        let [key, look] = on.map(|on| on.any().unwrap_or(true));
        if look {
            let _ = (&self.look.0).read(&mut [0; 64]);
        }
        key && !look
    }

    fn modes(&self) -> MutexGuard<'_, Modes> {
        self.modes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn raw(modes: &Termios) -> Termios {
    let mut raw = modes.clone();
    cfmakeraw(&mut raw);
    raw
}

/// Until one of the terminals is gone. Never reads in the background: that would stop kusaw.
fn pass_keys(own: &Own, master: &File) {
    let (mut was_away, mut is_told) = (false, false);
    loop {
        if !own.is_ours() {
            was_away = true;
            if !is_told && own.is_in_front() && own.is_anothers() {
                is_told = true;
                stderr::warn(ANOTHER);
            }
            thread::sleep(LOOK);
            continue;
        }
        if std::mem::take(&mut was_away) {
            own.take_over_again();
            own.resize(master);
        }
        let _ = own.take_over(master, usize::MAX);
        if !own.wait() || !own.is_ours() {
            was_away = true;
            continue;
        }
        match own.pass_on(master) {
            Ok(0) => return,
            Err(e) if !matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) && own.is_ours() => {
                break;
            }
            _ => {}
        }
    }
    if device(own.fd.as_fd()).is_none() {
        // Hung up: nobody sits before the step. To the process, so that it is taken as any other signal.
        let _ = kill(Pid::this(), Signal::SIGHUP);
    }
}

/// Until nobody inside has the step's terminal. What cannot be shown is taken all the same: the step goes on.
fn show(mut master: &File, mut to: File, teller: &Teller) {
    let mut buffer = vec![0; 64 << 10];
    let (mut is_seen, mut has_failed) = (true, false);
    loop {
        match master.read(&mut buffer) {
            Ok(n) if n > 0 => {
                has_failed = false;
                is_seen = is_seen && put(&mut to, &buffer[..n], teller.moved()).is_ok();
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            // Where Ctrl-C ends the step at once, Linux tells of the end (EIO) before it hands out what was written last: seen
            // 8 times in 12,000. The next read has it.
            _ if !has_failed => has_failed = true,
            _ => return,
        }
    }
}

/// Which device a terminal is, also by the name /dev/tty; `None` if it is no terminal.
fn device(fd: BorrowedFd) -> Option<u32> {
    let mut device = 0;
    // SAFETY: the kernel writes one unsigned int.
    let is = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCGDEV, &raw mut device) } == 0;
    is.then_some(device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::pty::openpty;

    /// Whoever reads it next must find it.
    #[test]
    fn what_is_typed_when_it_is_over_is_left() {
        let (users, steps) = (openpty(None, None).unwrap(), openpty(None, None).unwrap());
        let modes = Mutex::new(Modes::Users);
        let own = Own { fd: users.slave, again: None, modes, look: pipe().unwrap() };
        let (mut keys, master) = (File::from(users.master), File::from(steps.master));
        keys.write_all(b"one\ntwo\n").unwrap();
        assert_eq!(own.pass_on(&master).unwrap(), 4);
        own.give_back();
        assert_eq!(own.pass_on(&master).unwrap(), 0);
        let mut left = [0; 64];
        let n = nix::unistd::read(&own.fd, &mut left).unwrap();
        assert_eq!(&left[..n], b"two\n");
    }
}
