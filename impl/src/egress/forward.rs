//! Plain HTTP: one request to an allowed host, rebuilt and sent on a connection that only this client's requests to the same
//! host and port use. What belongs to the hop between step and proxy stays there; redirects are the client's business; nothing
//! is retried.

use std::net::SocketAddr;

use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use super::coming::{self, Interim, REFUSAL};
use super::head::Target;
use super::limits::Limits;
use super::log::Failure;

const HOP_BY_HOP: [HeaderName; 7] =
    [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
const HOP_BY_HOP_ODD: [&str; 3] = ["keep-alive", "proxy-connection", "http2-settings"];

/// A connection to an origin. Dropped, it is closed.
#[derive(Debug)]
pub struct Origin {
    target: Target,
    address: SocketAddr,
    sender: SendRequest<Incoming>,
    connection: AbortHandle,
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Origin {
    /// Speaks HTTP over a connection to `address`; its task ends with the value.
    pub async fn new(
        target: &Target,
        (upstream, address): (TcpStream, SocketAddr),
        limits: &Limits,
    ) -> Result<Origin, Failure> {
        let mut client = Builder::new();
        client.preserve_header_case(true).max_buf_size(limits.head);
        let (sender, connection) = client.handshake(TokioIo::new(upstream)).await.map_err(|_| Failure::Upstream)?;
        let connection = tokio::spawn(connection).abort_handle();
        Ok(Origin { target: target.clone(), address, sender, connection })
    }

    /// Whether another request to `target` may go over it: the same host and port, at an address of today's answer, and open.
    pub async fn serves(&mut self, target: &Target, vetted: &[SocketAddr]) -> bool {
        let same = self.target == *target && vetted.contains(&self.address);
        same && self.sender.ready().await.is_ok()
    }

    /// Sends `request` and returns the answer's head; the body follows as it comes.
    pub async fn ask(&mut self, request: Request<Incoming>, limits: &Limits) -> Result<Response<Incoming>, Failure> {
        let mut request = rebuild(request, &self.target).ok_or(Failure::Upstream)?;
        let interim = Interim::to(&mut request, limits.interim);
        let answer = tokio::select! {
            answer = timeout(limits.first_byte, self.sender.send_request(request)) => answer,
            () = interim.flooded() => return Err(Failure::Upstream),
        };
        let mut answer = answer.map_err(|_| Failure::Timeout)?.map_err(|_| Failure::Upstream)?;
        let framed = coming::framed(answer.headers_mut());
        if answer.status() == StatusCode::SWITCHING_PROTOCOLS || interim.is_flood() || framed.is_none() {
            return Err(Failure::Upstream);
        }
        clean(answer.headers_mut());
        answer.headers_mut().remove(REFUSAL);
        // The version is that of the hop to the client, not the origin's.
        *answer.version_mut() = Version::HTTP_11;
        Ok(answer)
    }
}

/// Origin-form, the target's own Host, no hop-by-hop header.
fn rebuild(mut request: Request<Incoming>, target: &Target) -> Option<Request<Incoming>> {
    let path = request.uri().path_and_query().map_or("/", |p| p.as_str());
    *request.uri_mut() = Uri::builder().path_and_query(path).build().ok()?;
    *request.version_mut() = Version::HTTP_11;
    let host = match target.port {
        80 => target.host.to_string(),
        port => format!("{}:{port}", target.host),
    };
    clean(request.headers_mut());
    request.headers_mut().insert(HOST, HeaderValue::from_str(&host).ok()?);
    Some(request)
}

/// Takes away what belongs to one hop only: those headers, and each that `Connection` names.
pub fn clean(headers: &mut HeaderMap) {
    let listed = headers.get_all(CONNECTION).iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(','));
    let listed: Vec<HeaderName> = listed.filter_map(|name| name.trim().parse().ok()).collect();
    // Framing and Host are never the sender's to take away.
    for name in listed.iter().filter(|n| **n != HOST && n.as_str() != "content-length") {
        headers.remove(name);
    }
    HOP_BY_HOP.iter().for_each(|name| drop(headers.remove(name)));
    HOP_BY_HOP_ODD.iter().for_each(|name| drop(headers.remove(*name)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hops_own_headers_stay_behind() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, x-mine, host"),
            ("x-mine", "1"),
            ("proxy-authorization", "Basic x"),
            ("proxy-connection", "keep-alive"),
            ("upgrade", "h2c"),
            ("http2-settings", "x"),
            ("te", "trailers"),
            ("host", "a"),
            ("accept", "*/*"),
        ] {
            headers.insert(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        clean(&mut headers);
        let mut left: Vec<_> = headers.keys().map(|k| k.as_str()).collect();
        left.sort_unstable();
        assert_eq!(left, ["accept", "host"]);
    }
}
