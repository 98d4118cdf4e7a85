//! How an origin's answer comes: its framing must be one that every reader takes for the same, and few interim answers (1xx) may
//! stand before it.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::Request;
use hyper::header::{CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};
use tokio::sync::Notify;

/// The header of a refusal; an origin's own would be taken for one.
pub const REFUSAL: &str = "x-kusaw-egress";

/// Leaves one framing. `None` where the body has a coding besides `chunked`: it goes to the client as it comes, and nothing
/// would say how to read it.
pub fn framed(headers: &mut HeaderMap) -> Option<()> {
    let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
    if let Some(first) = encodings.next() {
        if encodings.next().is_some() || !first.as_bytes().eq_ignore_ascii_case(b"chunked") {
            return None;
        }
        // It does not hold (RFC 9112 6.3), and the client would take so many bytes for all.
        headers.remove(CONTENT_LENGTH);
    }
    Some(())
}

/// The interim answers to one request.
#[derive(Debug, Default)]
pub struct Interim {
    told: Arc<AtomicUsize>,
    flood: Arc<Notify>,
    most: usize,
}

impl Interim {
    /// Counts those to this request, of which there may be so many.
    pub fn to<B>(request: &mut Request<B>, most: usize) -> Interim {
        let interim = Interim { most, ..Interim::default() };
        let (told, flood) = (interim.told.clone(), interim.flood.clone());
        hyper::ext::on_informational(request, move |_| {
            if told.fetch_add(1, Ordering::Relaxed) >= most {
                flood.notify_one();
            }
        });
        interim
    }

    /// Returns when there are more: the answer may never come.
    pub async fn flooded(&self) {
        self.flood.notified().await;
    }

    /// Whether there were more. To be asked when the answer is there: it may have come with the flood.
    pub fn is_flood(&self) -> bool {
        self.told.load(Ordering::Relaxed) > self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_framing_is_left_or_the_answer_is_none() {
        let left = |rows: &[(&'static str, &'static str)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in rows {
                headers.append(*name, value.parse().unwrap());
            }
            framed(&mut headers).map(|()| headers.contains_key("content-length"))
        };
        let (te, cl) = ("transfer-encoding", "content-length");
        assert_eq!(left(&[(cl, "3")]), Some(true));
        assert_eq!(left(&[]), Some(false));
        assert_eq!(left(&[(te, "Chunked")]), Some(false));
        assert_eq!(left(&[(cl, "3"), (te, "chunked")]), Some(false));
        for bad in [&[(te, "gzip")][..], &[(te, "gzip, chunked")], &[(te, "chunked"), (te, "chunked")]] {
            assert_eq!(left(bad), None, "{bad:?}");
        }
    }
}
