//! What a request to the injecting listener may look like, and what is left of its head and of the answer's: pure. A
//! client's own credentials never go out beside the real key, and nothing in a request chooses where it goes.
#![forbid(unsafe_code)]

use hyper::header::{
    CONNECTION, CONTENT_LENGTH, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use hyper::{Method, Version};

use crate::egress::coming::REFUSAL;

/// Headers that carry credentials; the route's own is removed as well.
const CREDENTIALS: [&str; 7] =
    ["authorization", "x-api-key", "api-key", "x-goog-api-key", "proxy-authorization", "cookie", "cookie2"];

/// Of one hop only (RFC 9110 7.6.1), or about the way a request came.
const OF_THE_HOP: [&str; 13] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authenticate",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "forwarded",
    "via",
    "x-real-ip",
    "expect",
];

/// In an answer they would point the client past this listener, have it keep what is the provider's, or speak for the proxy.
const OF_THE_PROVIDER: [&str; 5] = ["set-cookie", "set-cookie2", "alt-svc", "strict-transport-security", REFUSAL];

const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// Parameters of a query that carry a key, in small letters.
const KEY_PARAMETERS: [&str; 2] = ["key", "api_key"];

/// Whether a request's Host is this listener's. Any other comes from a page that had a name point here (DNS rebinding).
pub fn is_own_host(headers: &HeaderMap, port: u16) -> bool {
    let mut hosts = headers.get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    ["127.0.0.1", "localhost"].iter().any(|name| host.as_bytes() == format!("{name}:{port}").as_bytes())
}

/// Whether its method, form and framing are ones that are passed on. The status otherwise.
pub fn check(parts: &Parts) -> Result<(), u16> {
    if !METHODS.contains(&parts.method) {
        return Err(405);
    }
    let absolute = parts.uri.authority().is_some() || parts.uri.scheme().is_some();
    let encodings: Vec<_> = parts.headers.get_all(TRANSFER_ENCODING).iter().collect();
    let framed = encodings.len() <= 1 && encodings.iter().all(|e| e.as_bytes().eq_ignore_ascii_case(b"chunked"));
    let old = parts.version != Version::HTTP_11 && parts.version != Version::HTTP_10;
    if absolute || !framed || old || parts.headers.contains_key("upgrade") {
        return Err(400);
    }
    Ok(())
}

/// The path behind the secret segment, as it goes to the provider, with its query. Nothing that a server could read as
/// another path: it would leave the base path.
pub fn path(rest: &str, query: Option<&str>) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    if !rest.starts_with('/') || !rest.bytes().all(plain) || rest.contains("//") {
        return None;
    }
    let lower = rest.to_ascii_lowercase();
    if ["%2f", "%5c", "%00"].iter().any(|odd| lower.contains(odd)) {
        return None;
    }
    let dots = |part: &str| matches!(part.replace("%2e", ".").as_str(), "." | "..");
    if lower.split('/').any(|part| dots(part.split(';').next().unwrap_or(part))) {
        return None;
    }
    let kept = query.map(|query| query.split('&').filter(|pair| !carries_key(pair)).collect::<Vec<_>>().join("&"));
    match kept.filter(|kept| !kept.is_empty()) {
        Some(kept) if kept.bytes().all(plain) => Some(format!("{rest}?{kept}")),
        Some(_) => None,
        None => Some(rest.into()),
    }
}

fn carries_key(pair: &str) -> bool {
    let name = decoded(pair.split('=').next().unwrap_or(pair));
    KEY_PARAMETERS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// As a server reads it (RFC 3986, 2.1); what is no escape stays as it is.
fn decoded(name: &str) -> Vec<u8> {
    let digit = |at: usize| char::from(*name.as_bytes().get(at)?).to_digit(16);
    let (mut bytes, mut at) = (Vec::new(), 0);
    while let Some(byte) = name.as_bytes().get(at) {
        let escaped = (*byte == b'%').then(|| Some((digit(at + 1)?, digit(at + 2)?))).flatten();
        bytes.push(escaped.map_or(*byte, |(high, low)| (high * 16 + low) as u8));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    bytes
}

/// What goes out: without credentials and without the hop's own, for the upstream's host, with exactly one real header.
pub fn request(headers: &mut HeaderMap, host: HeaderValue, name: &HeaderName, mut value: HeaderValue) {
    clean(headers);
    CREDENTIALS.iter().for_each(|one| drop(headers.remove(*one)));
    let forwarded: Vec<HeaderName> =
        headers.keys().filter(|n| n.as_str().starts_with("x-forwarded-")).cloned().collect();
    forwarded.iter().for_each(|one| drop(headers.remove(one)));
    value.set_sensitive(true);
    headers.insert(HOST, host);
    // Replaces every one of that name, however it was spelled and however often it came.
    headers.insert(name, value);
}

/// What comes back. `None` where the provider echoes the key in a header: nothing of that answer may go in.
pub fn answer(headers: &mut HeaderMap, key: &[u8], upstream: &str, base: &str) -> Option<()> {
    let echoes = |bytes: &[u8]| !key.is_empty() && bytes.windows(key.len()).any(|part| part.eq_ignore_ascii_case(key));
    if headers.iter().any(|(name, value)| echoes(name.as_str().as_bytes()) || echoes(value.as_bytes())) {
        return None;
    }
    clean(headers);
    OF_THE_PROVIDER.iter().for_each(|one| drop(headers.remove(*one)));
    let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
    // Its own origin is reached through here; any other is the client's affair, and its allowlist's.
    let rest = location.and_then(|location| location.strip_prefix(upstream));
    let rest = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']));
    let local = rest.or(location.filter(|location| location.starts_with('/') && !location.starts_with("//")));
    if let Some(value) = local.and_then(|rest| HeaderValue::from_str(&format!("{base}{rest}")).ok()) {
        headers.insert(LOCATION, value);
    }
    Some(())
}

fn clean(headers: &mut HeaderMap) {
    let listed = headers.get_all(CONNECTION).iter().filter_map(|v| v.to_str().ok()).flat_map(|v| v.split(','));
    let listed: Vec<HeaderName> = listed.filter_map(|name| name.trim().parse().ok()).collect();
    listed.iter().filter(|name| **name != HOST && **name != CONTENT_LENGTH).for_each(|name| drop(headers.remove(name)));
    OF_THE_HOP.iter().for_each(|name| drop(headers.remove(*name)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(rows: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in rows {
            headers.append(name.parse::<HeaderName>().unwrap(), value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn exactly_one_credential_goes_out_whatever_the_client_sends() {
        let own = [
            ("Authorization", "Bearer factory-egress-placeholder"),
            ("authorization", "Bearer other"),
            ("X-API-Key", "one"),
            ("x-api-key", "two"),
            ("api-key", "k"),
            ("x-goog-api-key", "k"),
            ("cookie", "a=b"),
            ("proxy-authorization", "Basic x"),
            ("x-forwarded-host", "evil"),
            ("forwarded", "for=x"),
            ("via", "1.1 x"),
            ("connection", "X-Api-Key, x-mine, host"),
            ("x-mine", "1"),
            ("host", "127.0.0.1:9"),
            ("te", "trailers"),
            ("anthropic-version", "2023-06-01"),
            ("user-agent", "a"),
            ("content-length", "3"),
        ];
        for (name, value) in [("x-api-key", "REAL"), ("authorization", "Bearer REAL")] {
            let mut headers = headers(&own);
            let real: HeaderName = name.parse().unwrap();
            request(&mut headers, "up.example".parse().unwrap(), &real, value.parse().unwrap());
            let mut left: Vec<_> = headers.iter().map(|(n, v)| format!("{n}: {}", v.to_str().unwrap())).collect();
            left.sort();
            let mut right = vec!["anthropic-version: 2023-06-01".into(), "content-length: 3".into()];
            right.extend(["host: up.example".into(), "user-agent: a".into(), format!("{name}: {value}")]);
            right.sort();
            assert_eq!(left, right);
            assert!(headers[&real].is_sensitive());
        }
    }

    #[test]
    fn paths_that_could_be_read_as_others_are_refused() {
        for (rest, query, sent) in [
            ("/v1/messages", None, "/v1/messages"),
            ("/v1/messages", Some("beta=true"), "/v1/messages?beta=true"),
            ("/v1/x", Some("key=mine&alt=sse"), "/v1/x?alt=sse"),
            ("/v1/x", Some("KEY=mine&api_key=o"), "/v1/x"),
            ("/v1/x", Some("%6bey=mine&a=%6bey&%61%50i%5Fke%79=o&%6Bey"), "/v1/x?a=%6bey"),
            ("/v1/x", Some("keys=1&%6bey%=2&%zz=3&%6=4"), "/v1/x?keys=1&%6bey%=2&%zz=3&%6=4"),
            ("/a..b/%20", None, "/a..b/%20"),
            ("/", None, "/"),
        ] {
            assert_eq!(path(rest, query).as_deref(), Some(sent), "{rest}");
        }
        for bad in [
            "",
            "x",
            "//evil/",
            "/a//b",
            "/../x",
            "/a/..",
            "/./x",
            "/%2e%2e/x",
            "/.%2E/x",
            "/..;/x",
            "/a%2f..",
            "/a\\b",
            "/a\u{e9}",
            "/a%5cb",
            "/a b",
            "/%00",
        ] {
            assert_eq!(path(bad, None), None, "{bad}");
        }
    }

    #[test]
    fn only_the_listeners_own_host_is_answered() {
        for fine in ["127.0.0.1:3129", "localhost:3129"] {
            assert!(is_own_host(&headers(&[("host", fine)]), 3129));
        }
        for bad in ["", "evil.example", "127.0.0.1", "127.0.0.1:3128", "evil.example:3129", "localhost:3129.evil"] {
            assert!(!is_own_host(&headers(&[("host", bad)]), 3129), "{bad}");
        }
        assert!(!is_own_host(&headers(&[]), 3129));
        assert!(!is_own_host(&headers(&[("host", "localhost:3129"), ("host", "localhost:3129")]), 3129));
    }

    #[test]
    fn answers_lose_what_points_elsewhere_and_never_hold_the_key() {
        let (up, base) = ("https://up.example", "http://127.0.0.1:3129/seg");
        for (location, sent) in [
            ("https://up.example/v1/x?a=b", "http://127.0.0.1:3129/seg/v1/x?a=b"),
            ("https://up.example", "http://127.0.0.1:3129/seg"),
            ("/v1/x", "http://127.0.0.1:3129/seg/v1/x"),
            ("https://up.example.evil/x", "https://up.example.evil/x"),
            ("https://up.example:444/x", "https://up.example:444/x"),
            ("https://up.example@evil/x", "https://up.example@evil/x"),
            ("//evil.example/x", "//evil.example/x"),
        ] {
            let mut answer_headers = headers(&[
                ("location", location),
                ("set-cookie", "a"),
                ("alt-svc", "h3"),
                ("x", "1"),
                ("strict-transport-security", "1"),
                ("connection", "close"),
            ]);
            answer(&mut answer_headers, b"REAL", up, base).unwrap();
            assert_eq!(answer_headers["location"], sent);
            assert_eq!(answer_headers.len(), 2);
        }
        for echo in ["REAL", "Bearer real", "xREALx"] {
            assert!(answer(&mut headers(&[("x-echo", echo)]), b"REAL", up, base).is_none());
        }
    }
}
