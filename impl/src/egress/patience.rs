//! The client's connection as the HTTP library reads it: a request head has a time to come in and plain line ends, and a
//! connection between two requests waits longer. The library has one time for both and takes bare line feeds.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use super::policy::Denial;

/// Where a connection stands; shared with the service that answers its requests.
#[derive(Debug, Clone, Default)]
pub struct Phase(Arc<AtomicU8>);

/// No byte of a request yet.
const WAITING: u8 = 0;
/// Part of a head.
const HEAD: u8 = 1;
/// A request is being answered.
const BUSY: u8 = 2;

impl Phase {
    /// A head has been read.
    pub fn busy(&self) {
        self.0.store(BUSY, Ordering::Relaxed);
    }

    /// The answer is complete.
    pub fn waiting(&self) {
        self.0.store(WAITING, Ordering::Relaxed);
    }

    /// Whether part of a head has come, but not all of it.
    pub fn in_head(&self) -> bool {
        self.0.load(Ordering::Relaxed) == HEAD
    }
}

/// A connection with patience.
#[derive(Debug)]
pub struct Patient<S> {
    stream: TokioIo<S>,
    phase: Phase,
    head: Duration,
    between: Duration,
    /// The phase it runs for; none while an answer is under way.
    timer: Option<(u8, Pin<Box<Sleep>>)>,
    first: bool,
    line: Line,
    /// Why it has ended, when it was us.
    pub verdict: Option<Denial>,
}

/// The line of a head that is being read.
#[derive(Debug, Clone, Copy, Default)]
struct Line {
    before: u8,
    length: usize,
    /// The empty line was there.
    over: bool,
}

impl<S> Patient<S> {
    /// The first request has the time of a head to begin, each other one the time between two.
    pub fn new(stream: S, phase: Phase, head: Duration, between: Duration) -> Patient<S> {
        let timer = Some((WAITING, Box::pin(sleep(head))));
        let line = Line::default();
        Patient { stream: TokioIo::new(stream), phase, head, between, timer, first: true, line, verdict: None }
    }

    /// The connection itself.
    pub fn into_inner(self) -> S {
        self.stream.into_inner()
    }

    fn too_late(&mut self, cx: &mut Context) -> bool {
        let phase = self.phase.0.load(Ordering::Relaxed);
        let time = match phase {
            BUSY => {
                self.timer = None;
                return false;
            }
            HEAD => self.head,
            _ => self.between,
        };
        match &mut self.timer {
            // A head has its time from its first byte on; the first of a connection has it from the start.
            Some((armed, _)) if *armed == phase => {}
            Some((armed, sleep)) => {
                *armed = phase;
                if !self.first {
                    sleep.as_mut().reset(Instant::now() + time);
                }
            }
            None => self.timer = Some((phase, Box::pin(sleep(time)))),
        }
        self.timer.as_mut().is_some_and(|(_, sleep)| sleep.as_mut().poll(cx).is_ready())
    }

    fn end<T>(&mut self, why: Option<Denial>) -> Poll<io::Result<T>> {
        self.verdict = why;
        Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()))
    }
}

impl Line {
    /// Whether these next bytes of a head are plain: no line feed without its carriage return.
    fn plain(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            if self.over {
                break;
            }
            match (self.before, *byte) {
                (b'\r', b'\n') => (self.over, self.length) = (self.length == 1, 0),
                (_, b'\n') => return false,
                _ => self.length += 1,
            }
            self.before = *byte;
        }
        true
    }
}

impl<S: AsyncRead + Unpin> Read for Patient<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, mut to: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.too_late(cx) {
            return this.end(this.phase.in_head().then_some(Denial::BadPace));
        }
        if this.phase.0.load(Ordering::Relaxed) == BUSY {
            this.first = false;
            return Pin::new(&mut this.stream).poll_read(cx, to);
        }
        let mut bytes = [0; 4 << 10];
        let room = to.remaining().min(bytes.len());
        let mut read = ReadBuf::new(&mut bytes[..room]);
        ready!(Pin::new(this.stream.inner_mut()).poll_read(cx, &mut read))?;
        let read = read.filled().len();
        if read > 0 && !this.phase.in_head() {
            this.line = Line::default();
            this.phase.0.store(HEAD, Ordering::Relaxed);
        }
        if !this.line.plain(&bytes[..read]) {
            return this.end(Some(Denial::BadRequest));
        }
        to.put_slice(&bytes[..read]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> Write for Patient<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
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
        Pin::new(&mut self.stream).poll_write_vectored(cx, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_line_feed_in_a_head_is_seen_and_one_behind_it_is_not() {
        let plain = |bytes: &str| {
            let whole = Line::default().plain(bytes.as_bytes());
            let mut line = Line::default();
            let single = bytes.bytes().all(|b| line.plain(&[b]));
            assert_eq!(whole, single, "{bytes:?}");
            whole
        };
        assert!(plain("GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n\nbody\n"));
        assert!(plain("GET http://a/ HTTP/1.1\r\nHost: a\r"));
        assert!(!plain("GET http://a/ HTTP/1.1\nHost: a\r\n\r\n"));
        assert!(!plain("GET http://a/ HTTP/1.1\r\nHost: a\n\n"));
    }
}
