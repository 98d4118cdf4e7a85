//! Plain HTTP: one request to an allowed host, rebuilt and sent on its own connection. What belongs to
//! the hop between step and proxy stays there; redirects are the client's business; nothing is retried.

use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{
    CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::{Request, Response, StatusCode, Uri, Version};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::head::Target;
use super::log::Failure;

/// Until the origin's answer begins.
const FIRST_BYTE: Duration = Duration::from_secs(5 * 60);

/// Largest head of an answer in bytes.
const HEAD: usize = 64 << 10;

const HOP_BY_HOP: [HeaderName; 7] =
    [CONNECTION, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
const HOP_BY_HOP_ODD: [&str; 3] = ["keep-alive", "proxy-connection", "http2-settings"];

/// Sends `request` over `upstream` and returns the answer's head; the body follows as it comes.
pub async fn forward(
    request: Request<Incoming>,
    target: &Target,
    upstream: TcpStream,
) -> Result<Response<Incoming>, Failure> {
    let request = rebuild(request, target).ok_or(Failure::Upstream)?;
    let mut client = hyper::client::conn::http1::Builder::new();
    client.preserve_header_case(true).max_buf_size(HEAD);
    let (mut sender, connection) = client.handshake(TokioIo::new(upstream)).await.map_err(|_| Failure::Upstream)?;
    tokio::spawn(connection);
    let answer = timeout(FIRST_BYTE, sender.send_request(request)).await.map_err(|_| Failure::Timeout)?;
    let mut answer = answer.map_err(|_| Failure::Upstream)?;
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Failure::Upstream);
    }
    clean(answer.headers_mut());
    // The version is that of the hop to the client, not the origin's.
    *answer.version_mut() = Version::HTTP_11;
    Ok(answer)
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

fn clean(headers: &mut HeaderMap) {
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
