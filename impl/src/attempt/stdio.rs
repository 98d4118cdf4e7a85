//! The step's stdin, stdout and stderr. A pipe or /dev/null goes in as it is; a file, socket or terminal
//! of the host never does (the step could reopen, truncate or chmod it): it is pumped through a pipe.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::sys::statfs::fstatfs;
use nix::unistd::pipe2;

/// How long output may still flow after the step's end; all writers are dead by then.
const DRAIN: Duration = Duration::from_secs(1);

/// The three descriptors for the step, and the pumps behind them.
#[derive(Debug)]
pub struct Stdio {
    /// 0, 1 and 2.
    pub fds: [OwnedFd; 3],
    pumps: Pumps,
}

/// The output pumps that still run.
#[derive(Debug)]
pub struct Pumps {
    count: usize,
    done: Receiver<()>,
}

impl Stdio {
    /// Looks at kusaw's own three and starts pumps where they are needed.
    pub fn prepare() -> io::Result<Stdio> {
        let (sender, done) = channel();
        let stdin = match passes(io::stdin().as_fd())? {
            true => io::stdin().as_fd().try_clone_to_owned()?,
            false => pump_in(io::stdin().as_fd().try_clone_to_owned()?.into())?,
        };
        let mut count = 0;
        let stdout = output(io::stdout().as_fd(), &sender, &mut count)?;
        // `>log 2>&1`: one pipe for both, or the lines would change their order.
        let stderr = match same(io::stdout().as_fd(), io::stderr().as_fd())? {
            true => stdout.try_clone()?,
            false => output(io::stderr().as_fd(), &sender, &mut count)?,
        };
        Ok(Stdio { fds: [stdin, stdout, stderr], pumps: Pumps { count, done } })
    }

    /// All three at /dev/null.
    pub fn null() -> io::Result<Stdio> {
        let null = || File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
        Ok(Stdio { fds: [null()?, null()?, null()?], pumps: Pumps { count: 0, done: channel().1 } })
    }

    /// Gives the descriptors away; what stays here are the pumps.
    pub fn split(self) -> ([OwnedFd; 3], Pumps) {
        (self.fds, self.pumps)
    }
}

impl Pumps {
    /// Waits until the output has flowed, at most a second.
    pub fn drain(self) {
        for _ in 0..self.count {
            if self.done.recv_timeout(DRAIN).is_err() {
                return;
            }
        }
    }
}

/// Whether the step may hold this very descriptor: an anonymous pipe, or /dev/null.
fn passes(fd: BorrowedFd) -> io::Result<bool> {
    const PIPEFS: i64 = 0x5049_5045;
    let file = File::from(fd.try_clone_to_owned()?).metadata()?;
    let null = file.file_type().is_char_device() && file.rdev() == libc::makedev(1, 3);
    let pipe = file.file_type().is_fifo() && fstatfs(fd)?.filesystem_type().0 as i64 == PIPEFS;
    Ok(null || pipe)
}

fn same(a: BorrowedFd, b: BorrowedFd) -> io::Result<bool> {
    let of = |fd: BorrowedFd| File::from(fd.try_clone_to_owned()?).metadata().map(|m| (m.dev(), m.ino()));
    Ok(of(a)? == of(b)?)
}

fn output(fd: BorrowedFd, done: &Sender<()>, count: &mut usize) -> io::Result<OwnedFd> {
    let own = fd.try_clone_to_owned()?;
    if passes(fd)? {
        return Ok(own);
    }
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
    *count += 1;
    let done = done.clone();
    thread::Builder::new().name("kusaw-output".into()).spawn(move || {
        copy(&mut File::from(reader), &mut File::from(own));
        let _ = done.send(());
    })?;
    Ok(writer)
}

fn pump_in(mut from: File) -> io::Result<OwnedFd> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
    // Never joined: a read from a terminal may wait for ever. The thread ends with the process.
    thread::Builder::new().name("kusaw-input".into()).spawn(move || copy(&mut from, &mut File::from(writer)))?;
    Ok(reader)
}

/// Plain reads and writes: splice would hold the pipe's lock while a terminal waits for a key. Ends at
/// the first error, which closes the other side as well.
fn copy(from: &mut File, to: &mut File) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                wait(from.as_fd(), nix::poll::PollFlags::POLLIN);
                continue;
            }
            Err(_) => return,
        };
        let mut rest = &buffer[..n];
        while !rest.is_empty() {
            match to.write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait(to.as_fd(), nix::poll::PollFlags::POLLOUT),
                Err(_) => return,
            }
        }
    }
}

fn wait(on: BorrowedFd, what: nix::poll::PollFlags) {
    let _ = nix::poll::poll(&mut [nix::poll::PollFd::new(on, what)], nix::poll::PollTimeout::NONE);
}

/// The three numbers, for sending.
pub fn numbers(fds: &[OwnedFd; 3]) -> [i32; 3] {
    [fds[0].as_raw_fd(), fds[1].as_raw_fd(), fds[2].as_raw_fd()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pipes_and_dev_null_pass() {
        let (reader, _writer) = pipe2(OFlag::O_CLOEXEC).unwrap();
        assert!(passes(reader.as_fd()).unwrap());
        assert!(passes(File::open("/dev/null").unwrap().as_fd()).unwrap());
        assert!(!passes(File::open("/dev/zero").unwrap().as_fd()).unwrap());
        assert!(!passes(tempfile::tempfile().unwrap().as_fd()).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let named = File::options().read(true).write(true).open(&fifo).unwrap();
        assert!(!passes(named.as_fd()).unwrap(), "a named pipe could be reopened and chmodded");
    }
}
