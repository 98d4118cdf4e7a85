//! An answer's body that tells when it is through, so that the connection knows it waits for the next request.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};

use super::patience::Phase;
use super::refusal::Body;

/// A body; dropped, whole or not, the connection waits again.
#[derive(Debug)]
pub struct Answered {
    body: Body,
    phase: Phase,
}

impl Answered {
    /// Unread.
    pub fn new(body: Body, phase: Phase) -> Answered {
        Answered { body, phase }
    }
}

impl Drop for Answered {
    fn drop(&mut self) {
        self.phase.waiting();
    }
}

impl HttpBody for Answered {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
