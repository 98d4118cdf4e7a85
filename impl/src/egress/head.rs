//! Strict checks on a request's head, beyond what the HTTP library refuses: it lets a dozen malformed
//! CONNECT forms through. Only `authority().as_str()` is read, never a repaired host or port.
#![forbid(unsafe_code)]

use hyper::header::{CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::{Method, Uri, Version};

use super::host::{self, Host};
use super::policy::Denial;

/// Where a request wants to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// In normal form.
    pub host: Host,
    /// From the request, or 80 for plain HTTP.
    pub port: u16,
    /// How it asks.
    pub via: Via,
}

/// How a host came up: the two forms of request a proxy answers, and a ClientHello inside a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// A tunnel.
    Connect,
    /// Absolute-form.
    Http,
    /// The server name of a ClientHello.
    Sni,
}

impl Target {
    /// Host and port, as an entry would name them.
    pub fn place(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl Via {
    /// The word in the records.
    pub fn word(self) -> &'static str {
        match self {
            Via::Connect => "connect",
            Via::Http => "http",
            Via::Sni => "sni",
        }
    }
}

/// The target of a request, whatever else is wrong with it.
pub fn target(method: &Method, uri: &Uri) -> Result<Target, Denial> {
    let authority = uri.authority().ok_or(Denial::BadRequest)?.as_str();
    if authority.contains('@') {
        return Err(Denial::BadRequest);
    }
    let (host, port) = split(authority)?;
    let via = match (method == Method::CONNECT, uri.scheme()) {
        (true, None) => Via::Connect,
        (false, Some(_)) => Via::Http,
        (false, None) => return Err(Denial::BadMethod),
        (true, Some(_)) => return Err(Denial::BadRequest),
    };
    let port = match (port, via) {
        (Some(digits), _) => host::port(digits).ok_or(Denial::BadRequest)?,
        (None, Via::Http) => 80,
        (None, _) => return Err(Denial::BadRequest),
    };
    let host = Host::parse(host).map_err(|_| Denial::BadHost)?;
    Ok(Target { host, port, via })
}

fn split(authority: &str) -> Result<(&str, Option<&str>), Denial> {
    let end = match authority.find(']') {
        Some(bracket) => bracket + 1,
        None if authority.matches(':').count() > 1 => return Err(Denial::BadRequest),
        None => authority.find(':').unwrap_or(authority.len()),
    };
    match authority.split_at(end) {
        (host, "") => Ok((host, None)),
        (host, rest) => rest.strip_prefix(':').map(|port| (host, Some(port))).ok_or(Denial::BadHost),
    }
}

/// What else must hold for a request to an allowed host; its target may have `longest` bytes.
pub fn check(parts: &Parts, via: Via, longest: usize) -> Result<(), Denial> {
    let headers = &parts.headers;
    if parts.uri.path_and_query().map_or(0, |p| p.as_str().len()) > longest {
        return Err(Denial::BadSize);
    }
    let hosts = headers.get_all(HOST).iter().count();
    match via {
        Via::Sni => {}
        Via::Connect => {
            let length = headers.get(CONTENT_LENGTH).is_some_and(|n| n != "0");
            if length || headers.contains_key(TRANSFER_ENCODING) {
                return Err(Denial::BadRequest);
            }
        }
        Via::Http => {
            if parts.uri.scheme_str() != Some("http") {
                return Err(Denial::BadScheme);
            }
            // TRACE would echo headers; an odd spelling of CONNECT is another method to the library.
            let plain = parts.method.as_str().bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
            if parts.method == Method::TRACE || !plain {
                return Err(Denial::BadMethod);
            }
            if hosts > 1 || (hosts == 0 && parts.version == Version::HTTP_11) {
                return Err(Denial::BadRequest);
            }
            let mut encodings = headers.get_all(TRANSFER_ENCODING).iter();
            if !encodings.all(|e| e.as_bytes().eq_ignore_ascii_case(b"chunked")) {
                return Err(Denial::BadCoding);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::Request;

    fn judged(method: &str, uri: &str, headers: &[(&str, &str)]) -> String {
        let Ok(uri) = uri.parse::<Uri>() else { return "library".into() };
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let target = target(&parts.method, &parts.uri);
        match target.and_then(|t| check(&parts, t.via, 100).map(|()| format!("{}:{}", t.host, t.port))) {
            Ok(target) => target,
            Err(denial) => denial.code().into(),
        }
    }

    #[test]
    fn connect_heads() {
        for (target, verdict) in [
            ("EXAMPLE.com:443", "example.com:443"),
            ("example.com..:443", "bad-host"),
            ("*.example.com:443", "bad-host"),
            ("example.com", "bad-request"),
            ("example.com:", "bad-request"),
            ("example.com:0", "bad-request"),
            ("example.com:+443", "bad-request"),
            ("example.com:00443", "bad-request"),
            ("u:p@example.com:443", "bad-request"),
            ("127.1:80", "bad-host"),
            ("0x7f000001:80", "bad-host"),
            ("2130706433:80", "bad-host"),
            ("127.0.0.1.:80", "bad-host"),
            ("0:80", "bad-host"),
            ("[0:0:0:0:0:0:0:1]:80", "[::1]:80"),
            ("[::1%25lo]:80", "bad-host"),
            ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
            ("a.example:80", "a.example:80"),
        ] {
            let got = judged("CONNECT", target, &[]);
            assert!(got == verdict || (got == "library" && verdict.starts_with("bad")), "{target}: {got}");
        }
        assert_eq!(judged("CONNECT", "a.example:443", &[("host", "b.example")]), "a.example:443");
        assert_eq!(judged("CONNECT", "a.example:443", &[("content-length", "3")]), "bad-request");
        assert_eq!(judged("CONNECT", "a.example:443", &[("transfer-encoding", "chunked")]), "bad-request");
        assert_eq!(judged("connect", "a.example:443", &[]), "bad-method");
    }

    #[test]
    fn absolute_form_heads() {
        let host = [("host", "a.example")];
        for (method, uri, headers, verdict) in [
            ("GET", "http://a.example/", &host[..], "a.example:80"),
            ("GET", "http://a.example/", &[("host", "b.example")], "a.example:80"),
            ("GET", "http://a.example/", &[("host", "a.example"), ("host", "b")], "bad-request"),
            ("GET", "http://a.example/", &[], "bad-request"),
            ("GET", "/x", &host, "bad-request"),
            ("GET", "https://a.example/", &host, "bad-scheme"),
            ("GET", "ftp://a.example/", &host, "bad-scheme"),
            ("GET", "ws://a.example/", &host, "bad-scheme"),
            ("TRACE", "http://a.example/", &host, "bad-method"),
            ("OPTIONS", "*", &host, "bad-request"),
            ("GET", "http://u:p@a.example/", &host, "bad-request"),
            ("POST", "http://a.example/", &[("host", "a"), ("transfer-encoding", "gzip, chunked")], "bad-request"),
        ] {
            assert_eq!(judged(method, uri, headers), verdict, "{method} {uri} {headers:?}");
        }
    }
}
