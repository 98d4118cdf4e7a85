//! What flows through an injecting connection: when the last byte did, whether a request's head went out, how long its
//! body is.
#![forbid(unsafe_code)]

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Duration, Instant, sleep_until};

/// When a byte last flowed on any of the streams that share it.
#[derive(Debug, Clone)]
pub struct Clock(Arc<Mutex<Instant>>);

impl Clock {
    /// Now.
    pub fn start() -> Clock {
        Clock(Arc::new(Mutex::new(Instant::now())))
    }

    /// Returns when nothing has flowed for so long.
    pub async fn idle(&self, limit: Duration) {
        loop {
            let due = *self.0.lock().unwrap_or_else(PoisonError::into_inner) + limit;
            if due <= Instant::now() {
                return;
            }
            sleep_until(due).await;
        }
    }

    fn touch(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// A stream whose bytes move the clock.
#[derive(Debug)]
pub struct Timed<S> {
    /// The stream itself.
    pub stream: S,
    clock: Clock,
    /// Counts the first byte that is written.
    first: Option<Arc<AtomicU64>>,
}

impl<S> Timed<S> {
    /// One that moves this clock, and adds one to `first` when its first byte is written.
    pub fn new(stream: S, clock: &Clock, first: Option<&Arc<AtomicU64>>) -> Timed<S> {
        Timed { stream, clock: clock.clone(), first: first.cloned() }
    }

    fn wrote(&mut self, result: io::Result<usize>) -> io::Result<usize> {
        if result.as_ref().is_ok_and(|n| *n > 0) {
            self.clock.touch();
            if let Some(count) = self.first.take() {
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        result
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Timed<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = to.filled().len();
        let read = ready!(Pin::new(&mut self.stream).poll_read(cx, to));
        if to.filled().len() > before {
            self.clock.touch();
        }
        Poll::Ready(read)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Timed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes));
        Poll::Ready(self.wrote(wrote))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bytes));
        Poll::Ready(self.wrote(wrote))
    }
}

/// A request's body up to a number of bytes; one more is an error.
#[derive(Debug)]
pub struct Bounded {
    body: Incoming,
    left: u64,
    over: Arc<AtomicBool>,
}

impl Bounded {
    /// At most so many bytes of it; the second value becomes true when there are more.
    pub fn new(body: Incoming, most: u64) -> (Bounded, Arc<AtomicBool>) {
        let over = Arc::new(AtomicBool::new(false));
        (Bounded { body, left: most, over: over.clone() }, over)
    }
}

impl Body for Bounded {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let Some(frame) = ready!(Pin::new(&mut self.body).poll_frame(cx)) else { return Poll::Ready(None) };
        let frame = frame.map_err(io::Error::other)?;
        let length = frame.data_ref().map_or(0, |data| data.len() as u64);
        let Some(left) = self.left.checked_sub(length) else {
            self.over.store(true, Ordering::Relaxed);
            return Poll::Ready(Some(Err(io::ErrorKind::FileTooLarge.into())));
        };
        self.left = left;
        Poll::Ready(Some(Ok(frame)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
