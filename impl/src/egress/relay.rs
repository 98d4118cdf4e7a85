//! Bytes of a tunnel, both ways, unchanged. A buffer is only held while bytes are there, so that a
//! thousand idle tunnels cost little; half-closes are passed on; a tunnel without bytes ends some day.

use std::cell::RefCell;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::time::timeout;

use super::limits::Limits;

const BUFFER: usize = 64 << 10;

/// Buffers kept for the next use.
const SPARE: usize = 32;

thread_local! {
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// What both directions of a tunnel know of each other.
#[derive(Debug, Default)]
pub struct Meter {
    /// Bytes that came, either way.
    moved: AtomicU64,
    /// Directions that have ended.
    ended: AtomicU64,
}

/// Carries bytes one way until `from` has ended, and passes that on. An error is the end of the whole tunnel.
pub async fn pump(from: &ReadHalf<'_>, to: &mut WriteHalf<'_>, meter: &Meter, limits: &Limits) -> io::Result<()> {
    loop {
        meter.watch(limits, from.readable()).await?;
        let mut buffer = take();
        let read = from.try_read(&mut buffer);
        let carried = match read {
            Ok(0) => None,
            Ok(n) => Some(meter.carry(to, &buffer[..n], limits).await),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => Some(Ok(())),
            Err(e) => Some(Err(e)),
        };
        give(buffer);
        match carried {
            Some(carried) => carried?,
            None => break,
        }
    }
    meter.ended.fetch_add(1, Ordering::Relaxed);
    to.shutdown().await
}

impl Meter {
    /// Writes bytes that came.
    pub async fn carry(&self, to: &mut WriteHalf<'_>, bytes: &[u8], limits: &Limits) -> io::Result<()> {
        self.moved.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.watch(limits, to.write_all(bytes)).await
    }

    /// Waits as long as bytes move the one way or the other, and for a while without.
    pub async fn watch<T>(&self, limits: &Limits, event: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        let mut event = pin!(event);
        loop {
            let before = self.moved.load(Ordering::Relaxed);
            let patience = self.patience(limits);
            match timeout(patience, &mut event).await {
                Ok(happened) => return happened,
                Err(_) if self.moved.load(Ordering::Relaxed) != before => {}
                // The other side has ended meanwhile: the shorter time counts from its last byte, about.
                Err(_) if self.patience(limits) < patience => {}
                Err(_) => return Err(io::ErrorKind::TimedOut.into()),
            }
        }
    }

    fn patience(&self, limits: &Limits) -> Duration {
        if self.ended.load(Ordering::Relaxed) == 0 { limits.idle } else { limits.half_closed }
    }
}

fn take() -> Vec<u8> {
    BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_else(|| vec![0; BUFFER])
}

fn give(buffer: Vec<u8>) {
    BUFFERS.with_borrow_mut(|spare| {
        if spare.len() < SPARE {
            spare.push(buffer);
        }
    });
}
