//! The proxy that the environment names, as a client finds it.

use std::env;
use std::ffi::OsString;

use crate::network::http;

/// Where tunnels are asked for.
pub const OF_TUNNELS: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];
/// Where plain requests go.
pub const OF_REQUESTS: [&str; 2] = ["HTTP_PROXY", "http_proxy"];

/// Whom to call.
#[derive(Debug, PartialEq, Eq)]
pub struct Proxy {
    pub host: String,
    pub port: u16,
    /// The header line that it asks for; empty where its URL has no user.
    pub authorization: String,
}

impl Proxy {
    /// The one that the first of these variables names.
    pub fn of(names: [&str; 2]) -> Option<Self> {
        names.iter().find_map(env::var_os).and_then(|url| Self::parse(&url))
    }

    /// `http://user:password@host:port`; the scheme, the user and a path may be absent.
    fn parse(url: &OsString) -> Option<Self> {
        let url = url.to_str()?;
        let authority = url.strip_prefix("http://").unwrap_or(url).split('/').next()?;
        let (user, place) = authority.rsplit_once('@').map_or((None, authority), |(user, rest)| (Some(user), rest));
        let (host, port) = place.rsplit_once(':')?;
        let authorization = user.map(|user| format!("Proxy-Authorization: {}\r\n", http::basic(user)));
        Some(Self { host: host.to_owned(), port: port.parse().ok()?, authorization: authorization.unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_url_gives_host_and_port() {
        let proxy = |url: &str| Proxy::parse(&url.into()).map(|p| (p.host, p.port, p.authorization));
        for url in ["http://127.0.0.1:3128", "http://127.0.0.1:3128/", "127.0.0.1:3128"] {
            assert_eq!(proxy(url), Some(("127.0.0.1".to_owned(), 3128, String::new())), "{url}");
        }
        assert_eq!(proxy("http://[::1]:80"), Some(("[::1]".to_owned(), 80, String::new())));
        for url in ["", "http://proxy", "http://proxy:x", "http://proxy:70000"] {
            assert_eq!(proxy(url), None, "{url}");
        }
    }

    #[test]
    fn a_proxy_url_may_have_a_user() {
        let proxy = Proxy::parse(&"http://srt:p%40ss@localhost:3128/".into()).unwrap();
        let authorization = "Proxy-Authorization: Basic c3J0OnBAc3M=\r\n".to_owned();
        assert_eq!(proxy, Proxy { host: "localhost".to_owned(), port: 3128, authorization });
    }
}
