//! The step's stdin, stdout and stderr. A pipe or /dev/null goes in as it is; a file, socket or terminal
//! of the host never does (the step could reopen, truncate or chmod it): it is pumped through a pipe, or, where stdin is a
//! terminal, the step gets a terminal of its own for it.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::statfs::fstatfs;
use nix::unistd::pipe2;

use super::pump::{Teller, copy};
use super::signals::Signals;
use super::terminal::Terminal;
use crate::stderr;

/// How long nobody may take any of the output that is left after the step's end.
const STALLED: Duration = Duration::from_secs(10);

/// How long what is left may take in all: a pipe holds no more than a slow reader takes in that time.
const FOREIGN: Duration = Duration::from_secs(60);

/// Between two looks at the signals meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// The descriptors for the step, and what stays behind them.
#[derive(Debug)]
pub struct Stdio {
    /// Of 0, 1 and 2 those that are no terminal of the step's own.
    pub fds: Vec<OwnedFd>,
    pumps: Pumps,
}

/// The output pumps that still run, and the terminal.
#[derive(Debug)]
pub struct Pumps {
    count: usize,
    done: Receiver<()>,
    teller: Teller,
    terminal: Option<Terminal>,
}

impl Stdio {
    /// Looks at kusaw's own three and starts pumps where they are needed.
    pub fn prepare() -> io::Result<Stdio> {
        let mut pumps = Pumps::new(Terminal::of_stdin()?);
        let [stdin, stdout, stderr] = pumps.terminal();
        let mut fds = Vec::new();
        if !stdin {
            let own = io::stdin().as_fd().try_clone_to_owned()?;
            fds.push(if passes(own.as_fd())? { own } else { pump_in(own.into())? });
        }
        if !stdout {
            fds.push(pumps.output(io::stdout().as_fd())?);
        }
        if !stderr {
            // `>log 2>&1`: one pipe for both, or the lines would change their order.
            let both =
                fds.last().filter(|_| !stdout && same(io::stdout().as_fd(), io::stderr().as_fd()).unwrap_or(false));
            let fd = both.map(OwnedFd::try_clone).transpose()?;
            fds.push(fd.map_or_else(|| pumps.output(io::stderr().as_fd()), Ok)?);
        }
        Ok(Stdio { fds, pumps })
    }

    /// Stdin and stderr at /dev/null, and what is said on stdout: a pipe's worth is kept, whoever says more waits.
    pub fn told() -> io::Result<(Stdio, File)> {
        let null = || File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
        let (said, stdout) = pipe2(OFlag::O_CLOEXEC)?;
        Ok((Stdio { fds: vec![null()?, stdout, null()?], pumps: Pumps::new(None) }, File::from(said)))
    }

    /// Which of 0, 1 and 2 are to be a terminal.
    pub fn terminal(&self) -> [bool; 3] {
        self.pumps.terminal()
    }

    /// Gives the descriptors away; what stays here are the pumps.
    pub fn split(self) -> (Vec<OwnedFd>, Pumps) {
        (self.fds, self.pumps)
    }
}

impl Pumps {
    fn new(terminal: Option<Terminal>) -> Pumps {
        let (teller, done) = Teller::new();
        Pumps { count: 0, done, teller, terminal }
    }

    fn terminal(&self) -> [bool; 3] {
        self.terminal.as_ref().map_or([false; 3], |terminal| terminal.is)
    }

    /// The master of the step's terminal is here.
    pub fn connect(&mut self, master: OwnedFd) -> io::Result<()> {
        let Some(terminal) = &mut self.terminal else { return Ok(()) };
        terminal.connect(master, self.teller.clone())?;
        self.count += 1;
        Ok(())
    }

    /// A signal that is about kusaw's terminal and not only the step's. Whether it is to be passed on all the same.
    pub fn heed(&self, signal: i32) -> bool {
        let Some(terminal) = &self.terminal else { return true };
        match signal {
            // The kernel tells those inside.
            libc::SIGWINCH => terminal.resize(),
            libc::SIGCONT => terminal.resume(),
            _ => {}
        }
        signal != libc::SIGWINCH
    }

    fn output(&mut self, fd: BorrowedFd) -> io::Result<OwnedFd> {
        let own = fd.try_clone_to_owned()?;
        if passes(fd)? {
            return Ok(own);
        }
        let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
        self.count += 1;
        let teller = self.teller.clone();
        thread::Builder::new().name("kusaw-output".into()).spawn(move || {
            copy(&mut File::from(reader), &mut File::from(own), teller.moved());
            teller.done();
        })?;
        Ok(writer)
    }

    /// Waits until the output has flowed. Its writers must be dead: then every pump comes to its end, unless the
    /// reader takes nothing for too long, a step has given a descriptor to somebody who writes on, or a signal asks kusaw to
    /// end; what is lost then is told.
    pub fn drain(self, signals: &Signals) {
        let began = Instant::now();
        let (mut before, mut since) = (self.teller.moved().load(Ordering::Relaxed), began);
        for _ in 0..self.count {
            while self.done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let moved = self.teller.moved().load(Ordering::Relaxed);
                if moved != before {
                    (before, since) = (moved, Instant::now());
                }
                if matches!(signals.asked(), Ok(Some(_))) {
                    return tell_lost("a signal came");
                }
                if since.elapsed() > STALLED {
                    return tell_lost("nobody takes it");
                }
                if began.elapsed() > FOREIGN {
                    return tell_lost("it does not end");
                }
            }
        }
    }
}

/// Not where stderr is what nobody reads: that would wait for ever.
fn tell_lost(why: &str) {
    let stderr = io::stderr();
    let room = poll(&mut [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)], PollTimeout::ZERO);
    if room.is_ok_and(|n| n > 0) {
        stderr::warn(format!("the end of the step's output is lost: {why}"));
    }
}

/// Whether the step may hold this very descriptor: an anonymous pipe, or, unless root runs us, /dev/null.
fn passes(fd: BorrowedFd) -> io::Result<bool> {
    const PIPEFS: i64 = 0x5049_5045;
    let file = File::from(fd.try_clone_to_owned()?).metadata()?;
    let null = file.file_type().is_char_device() && file.rdev() == libc::makedev(1, 3);
    let pipe = file.file_type().is_fifo() && fstatfs(fd)?.filesystem_type().0 as i64 == PIPEFS;
    // Root could change the mode of the device itself.
    Ok((null && !nix::unistd::geteuid().is_root()) || pipe)
}

fn same(a: BorrowedFd, b: BorrowedFd) -> io::Result<bool> {
    let of = |fd: BorrowedFd| File::from(fd.try_clone_to_owned()?).metadata().map(|m| (m.dev(), m.ino()));
    Ok(of(a)? == of(b)?)
}

fn pump_in(mut from: File) -> io::Result<OwnedFd> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
    // Never joined: a read from a terminal may wait for ever. The thread ends with the process.
    let copied = move || copy(&mut from, &mut File::from(writer), &AtomicU64::new(0));
    thread::Builder::new().name("kusaw-input".into()).spawn(copied)?;
    Ok(reader)
}

/// Their numbers, for sending.
pub fn numbers(fds: &[OwnedFd]) -> Vec<i32> {
    fds.iter().map(AsRawFd::as_raw_fd).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pipes_and_dev_null_pass() {
        let (reader, _writer) = pipe2(OFlag::O_CLOEXEC).unwrap();
        assert!(passes(reader.as_fd()).unwrap());
        let root = nix::unistd::geteuid().is_root();
        assert_eq!(passes(File::open("/dev/null").unwrap().as_fd()).unwrap(), !root);
        assert!(!passes(File::open("/dev/zero").unwrap().as_fd()).unwrap());
        assert!(!passes(tempfile::tempfile().unwrap().as_fd()).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let named = File::options().read(true).write(true).open(&fifo).unwrap();
        assert!(!passes(named.as_fd()).unwrap(), "a named pipe could be reopened and chmodded");
    }
}
