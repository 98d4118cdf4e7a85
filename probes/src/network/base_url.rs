//! The http service whose URL a variable holds, as a client of an API finds its provider.

use std::env;

/// Where it is, and what all its paths begin with.
#[derive(Debug, PartialEq, Eq)]
pub struct BaseUrl {
    pub host: String,
    pub port: u16,
    authority: String,
    base: String,
}

impl BaseUrl {
    /// The one that this variable holds.
    pub fn of(variable: &str) -> Option<Self> {
        Self::parse(&env::var(variable).ok()?)
    }

    /// `http://HOST[:PORT][/BASE]`; nothing else is a local address.
    fn parse(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://")?.trim_end_matches('/');
        let (authority, base) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().ok()?),
            None => (authority, 80),
        };
        let owned = str::to_owned;
        (!host.is_empty()).then(|| Self { host: owned(host), port, authority: owned(authority), base: owned(base) })
    }

    /// Bytes with `{authority}` and `{base}` filled in.
    pub fn filled(&self, bytes: &[u8]) -> Vec<u8> {
        let mut filled = Vec::with_capacity(bytes.len());
        let mut rest = bytes;
        while let Some((first, after)) = rest.split_first() {
            let parts = [("{authority}", &self.authority), ("{base}", &self.base)];
            if let Some((name, value)) = parts.iter().find(|(name, _)| rest.starts_with(name.as_bytes())) {
                filled.extend(value.as_bytes());
                rest = &rest[name.len()..];
            } else {
                filled.push(*first);
                rest = after;
            }
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_place_and_a_base() {
        let parts = |url| BaseUrl::parse(url).map(|u| (u.host, u.port, u.authority, u.base));
        let is =
            |host: &str, port, authority: &str, base: &str| Some((host.into(), port, authority.into(), base.into()));
        assert_eq!(parts("http://127.0.0.1:3129/a1/v1"), is("127.0.0.1", 3129, "127.0.0.1:3129", "/a1/v1"));
        assert_eq!(parts("http://a.test/"), is("a.test", 80, "a.test", ""));
        for url in ["", "https://a.test", "http://", "http://a:x", "http://:80"] {
            assert_eq!(parts(url), None, "{url}");
        }
    }

    #[test]
    fn requests_are_filled_in() {
        let url = BaseUrl::parse("http://a:1/b").unwrap();
        assert_eq!(url.filled(b"GET {base}/x {other\r\nHost: {authority}"), b"GET /b/x {other\r\nHost: a:1");
    }
}
