//! One injected key as data: where requests go and how the key is written there. A plain value that `run` makes from
//! the settings; it holds the secret's name, never the key.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// What the key's variable holds inside, as documented.
pub const PLACEHOLDER: &str = "factory-egress-placeholder";

/// One entry of `inject:`, with its defaults.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Its name in the settings and in the summary.
    pub name: String,
    /// Origin that requests go to: `https://HOST[:PORT]`, or http on loopback.
    pub upstream: String,
    /// Name of the header that holds the key.
    pub header: String,
    /// The header's value, with `{}` for the key.
    pub format: String,
    /// Name of the secret in the store.
    pub secret: String,
    /// Random, of this attempt and route: who does not know it gets 404.
    pub segment: String,
}

impl std::fmt::Debug for Route {
    /// Without the segment: whoever knows it can use the key.
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Route({} to {})", self.name, self.upstream)
    }
}

impl Route {
    /// What a client inside takes for the provider, before the base path.
    pub fn base(&self, port: u16) -> String {
        format!("http://127.0.0.1:{port}/{}", self.segment)
    }

    /// Whether this is the route's segment; as long for a wrong one as for the right one.
    pub fn is_for(&self, segment: &str) -> bool {
        let (own, given) = (self.segment.as_bytes(), segment.as_bytes());
        let differ = own.iter().zip(given).fold(0, |differ, (a, b)| differ | (a ^ b));
        own.len() == given.len() && std::hint::black_box(differ) == 0
    }
}

/// 128 bits from the kernel, in hexadecimal digits.
pub fn segment() -> std::io::Result<String> {
    use std::io::Read;
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// An upstream taken apart: whether it is TLS, the host, the port.
pub fn origin(upstream: &str) -> Result<(bool, String, u16), &'static str> {
    let (tls, rest) = match (upstream.strip_prefix("https://"), upstream.strip_prefix("http://")) {
        (Some(rest), _) => (true, rest),
        (None, Some(rest)) => (false, rest),
        (None, None) => return Err("not an https:// origin"),
    };
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-:[]".contains(&b);
    if rest.is_empty() || !rest.bytes().all(fits) {
        return Err("only https://HOST[:PORT] in small letters, no path; a path goes to base_path");
    }
    let target = format!(
        "{rest}{}",
        if has_port(rest) {
            ""
        } else if tls {
            ":443"
        } else {
            ":80"
        }
    );
    let (host, port) = target.rsplit_once(':').ok_or("no host")?;
    let port = crate::egress::host::port(port).ok_or("not a port")?;
    let known = crate::egress::host::Host::parse(host).map_err(|_| "not a host")?;
    if !tls && !["localhost", "127.0.0.1", "[::1]"].contains(&known.to_string().as_str()) {
        return Err("http only to loopback: the key would travel in the clear");
    }
    Ok((tls, known.to_string(), port))
}

fn has_port(rest: &str) -> bool {
    rest.rfind(':').is_some_and(|colon| colon > rest.rfind(']').unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_an_origin_and_plain_only_on_loopback() {
        for (upstream, right) in [
            ("https://api.anthropic.com", (true, "api.anthropic.com", 443)),
            ("https://gw.corp:8443", (true, "gw.corp", 8443)),
            ("http://127.0.0.1:9", (false, "127.0.0.1", 9)),
            ("http://localhost", (false, "localhost", 80)),
            ("https://[2606:4700::1]", (true, "[2606:4700::1]", 443)),
        ] {
            let (tls, host, port) = origin(upstream).unwrap();
            assert_eq!((tls, host.as_str(), port), right, "{upstream}");
        }
        for bad in [
            "",
            "api.x",
            "ftp://x",
            "https://",
            "https://x/",
            "https://u@x",
            "https://x:0",
            "https://x?y",
            "http://x.example",
            "https://X",
            "https://127.1",
        ] {
            assert!(origin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn segments_differ_and_only_the_whole_one_fits() {
        let (one, two) = (segment().unwrap(), segment().unwrap());
        assert!(one.len() == 32 && one != two);
        let text = |s: &str| s.to_string();
        let route = Route {
            name: text("n"),
            upstream: text("https://x"),
            header: text("h"),
            format: text("{}"),
            secret: text("s"),
            segment: one.clone(),
        };
        assert!(route.is_for(&one) && !route.is_for(&two) && !route.is_for("") && !route.is_for(&one[1..]));
        assert!(!format!("{route:?}").contains(&one));
    }
}
