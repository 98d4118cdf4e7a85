//! One kusaw at a time at a repository: git reads the half-made worktree entries of others and fails on them.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};

/// Longest wait for another.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Between two tries.
const AGAIN: Duration = Duration::from_millis(2);

/// Held by this process and by each git that it starts meanwhile, until the last of them has ended: one that outlives a kusaw
/// that was killed keeps the next kusaw away. flock(2) on the git folder, which git itself does not lock.
#[derive(Debug)]
pub struct Lock {
    _folder: File,
}

impl Lock {
    /// Waits for it.
    ///
    /// # Errors
    /// When it cannot be had, in time.
    pub fn take(folder: &Path) -> io::Result<Lock> {
        Lock::take_unless(folder, &|| false)?.ok_or_else(|| io::ErrorKind::Interrupted.into())
    }

    /// The same until `stop` says true: then there is none.
    ///
    /// # Errors
    /// See [`Lock::take`].
    pub fn take_unless(folder: &Path, stop: &dyn Fn() -> bool) -> io::Result<Option<Lock>> {
        // Nothing but a folder is opened: a FIFO would be waited for.
        let folder = File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NONBLOCK).open(folder)?;
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match folder.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if stop() => return Ok(None),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(AGAIN),
                Err(TryLockError::WouldBlock) => return Err(io::ErrorKind::TimedOut.into()),
                Err(TryLockError::Error(e)) => return Err(e),
            }
        }
        fcntl(&folder, FcntlArg::F_SETFD(FdFlag::empty()))?;
        Ok(Some(Lock { _folder: folder }))
    }
}
