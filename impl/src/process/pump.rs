//! What a pump does: it moves bytes from one descriptor to another, and tells how far it is. Knows nothing of terminals and of
//! what the descriptors are for.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Written at a time, so that a slow reader is seen to take something.
const PIECE: usize = 4 << 10;

/// What an output pump has to tell.
#[derive(Debug, Clone)]
pub struct Teller {
    done: Sender<()>,
    moved: Arc<AtomicU64>,
}

impl Teller {
    /// For any number of pumps; each one that is done is received.
    pub fn new() -> (Teller, Receiver<()>) {
        let (sender, done) = channel();
        (Teller { done: sender, moved: Arc::default() }, done)
    }

    /// All has flowed.
    pub fn done(&self) {
        let _ = self.done.send(());
    }

    /// Bytes so far, of all pumps.
    pub fn moved(&self) -> &AtomicU64 {
        &self.moved
    }
}

/// Plain reads and writes: splice would hold the pipe's lock while a terminal waits for a key. Ends at
/// the first error, which closes the other side as well.
pub fn copy(from: &mut File, to: &mut File, moved: &AtomicU64) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let n = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                wait(from.as_fd(), PollFlags::POLLIN);
                continue;
            }
            Err(_) => return,
        };
        if put(to, &buffer[..n], moved).is_err() {
            return;
        }
    }
}

/// Writes all of it, in pieces that are counted as they go.
pub fn put(to: &mut File, mut rest: &[u8], moved: &AtomicU64) -> io::Result<()> {
    while !rest.is_empty() {
        match to.write(&rest[..rest.len().min(PIECE)]) {
            Ok(n) => {
                moved.fetch_add(n as u64, Ordering::Relaxed);
                rest = &rest[n..];
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => wait(to.as_fd(), PollFlags::POLLOUT),
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn wait(on: BorrowedFd, what: PollFlags) {
    let _ = poll(&mut [PollFd::new(on, what)], PollTimeout::NONE);
}
