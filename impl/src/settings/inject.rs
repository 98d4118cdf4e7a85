//! The keys that are injected for one step: the factory's entries, the step's on top, and what its provider takes where the word
//! `provider` stands. Pure; the secrets' names only.

use hyper::header::HeaderName;

use super::{Inject, InjectEntry, Sandbox, Settings, Step, is_name};
use crate::egress::inject::route::{self, Route};
use crate::provider;

/// One key with its defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// Name in summary and doctor.
    pub name: String,
    /// Origin of the provider.
    pub upstream: String,
    /// Header that holds the key.
    pub header: String,
    /// Its value, `{}` for the key.
    pub format: String,
    /// Variable that gets the local address.
    pub base_url_env: String,
    /// Behind the local address.
    pub base_path: String,
    /// Variable that gets the placeholder.
    pub key_env: String,
    /// Name in the secret store.
    pub secret: String,
}

/// Those of a step; what is wrong, in words, where they cannot be together.
pub fn of(settings: &Settings, step: &Step) -> Result<Vec<Injected>, String> {
    let mut all: Vec<Injected> = Vec::new();
    for block in [Some(&settings.sandbox), step.block()].into_iter().flatten() {
        for one in of_block(block, step)? {
            if all.contains(&one) && matches!(block.egress.inject, Inject::Provider) {
                continue;
            }
            if let Some(other) = all.iter().find(|other| other.name == one.name) {
                return Err(format!("{} stands twice", other.name));
            }
            let of_others: Vec<&String> = all.iter().flat_map(|o| [&o.base_url_env, &o.key_env]).collect();
            if let Some(twice) = [&one.base_url_env, &one.key_env].into_iter().find(|name| of_others.contains(name)) {
                return Err(format!("{}: the variable {twice} is set by another entry", one.name));
            }
            if let Some(own) = [&one.base_url_env, &one.key_env].into_iter().find(|name| step.env.contains_key(*name)) {
                return Err(format!("{}: env: of the step sets {own} as well", one.name));
            }
            all.push(one);
        }
    }
    Ok(all)
}

fn of_block(block: &Sandbox, step: &Step) -> Result<Vec<Injected>, String> {
    match &block.egress.inject {
        Inject::None => Ok(Vec::new()),
        Inject::Entries(entries) => Ok(entries.iter().map(Injected::from).collect()),
        Inject::Provider => match provider::of(step) {
            None => Ok(Vec::new()),
            Some(known) => match &known.key {
                Some(key) => Ok(vec![key.injected(known.name)]),
                None => {
                    Err(format!("{} takes no other address for its provider; its key cannot stay outside", known.name))
                }
            },
        },
    }
}

impl Injected {
    /// What the proxy needs of it.
    pub fn route(self, segment: String) -> Route {
        let Injected { name, upstream, header, format, secret, .. } = self;
        Route { name, upstream, header, format, secret, segment }
    }
}

impl From<&InjectEntry> for Injected {
    fn from(entry: &InjectEntry) -> Injected {
        Injected {
            name: entry.name.value.clone(),
            upstream: entry.upstream.trim_end_matches('/').into(),
            header: entry.header.to_ascii_lowercase(),
            format: entry.format.clone(),
            base_url_env: entry.base_url_env.clone(),
            base_path: entry.base_path.clone(),
            key_env: entry.key_env.clone(),
            secret: entry.secret.clone().unwrap_or_else(|| entry.key_env.clone()),
        }
    }
}

/// Headers that are of the hop or of the message, never a credential.
const NO_HEADER: [&str; 12] = [
    "host",
    "content-length",
    "content-type",
    "connection",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "keep-alive",
    "proxy-connection",
    "accept-encoding",
];

/// Variables that kusaw sets itself.
const OURS: [&str; 14] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "http_proxy",
    "https_proxy",
    "NO_PROXY",
    "no_proxy",
    "NODE_USE_ENV_PROXY",
    "GIT_CONFIG_SYSTEM",
    "LD_PRELOAD",
];

/// What is wrong with an entry, with the key that is.
pub fn check(entry: &InjectEntry) -> Result<(), (&'static str, String)> {
    let one = Injected::from(entry);
    if !is_name(&one.name) {
        return Err(("name", "not a name".into()));
    }
    route::origin(&one.upstream).map_err(|why| ("upstream", why.to_string()))?;
    if one.header.parse::<HeaderName>().is_err() || NO_HEADER.contains(&one.header.as_str()) {
        return Err(("header", format!("{:?} cannot hold a key", one.header)));
    }
    let fits = one.format.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    if one.format.matches("{}").count() != 1 || !fits {
        return Err(("format", "has {} exactly once, and else what can stand in a header".into()));
    }
    for (key, name) in [("base_url_env", &one.base_url_env), ("key_env", &one.key_env)] {
        let fits = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if name.is_empty() || !fits || OURS.contains(&name.as_str()) {
            return Err((key, format!("{name:?} cannot be set for it")));
        }
    }
    if one.base_url_env == one.key_env {
        return Err(("key_env", "the same variable as base_url_env".into()));
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-".contains(&b);
    if !(one.base_path.is_empty() || one.base_path.starts_with('/')) || !one.base_path.bytes().all(plain) {
        return Err(("base_path", "begins with / and is a plain path".into()));
    }
    match is_name(&one.secret) {
        true => Ok(()),
        false => Err(("secret", "not a name".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(inject: &str, step: &str) -> Result<Vec<Injected>, String> {
        let yaml = format!(
            "sandbox: {{mode: required, network: allowlist, egress: {{inject: {inject}}}}}\nsteps: {{s: {{{step}}}}}"
        );
        let settings = super::super::read("k".as_ref(), yaml.as_bytes()).map_err(|e| e.to_string())?;
        of(&settings, &settings.steps["s"])
    }

    const ENTRY: &str = "name: a, upstream: 'https://a.example', base_url_env: A_URL, key_env: A_KEY";

    #[test]
    fn entries_have_defaults() {
        let one = told(&format!("[{{{ENTRY}}}]"), "run: [x]").unwrap().remove(0);
        assert_eq!(
            (one.header.as_str(), one.format.as_str(), one.secret.as_str()),
            ("authorization", "Bearer {}", "A_KEY")
        );
    }

    #[test]
    fn the_provider_knows_its_own_and_cursor_has_none() {
        let one = told("provider", "prompt: hi").unwrap().remove(0);
        assert_eq!((one.key_env.as_str(), one.header.as_str()), ("ANTHROPIC_API_KEY", "x-api-key"));
        assert!(told("provider", "prompt: hi, provider: cursor").unwrap_err().contains("cursor"));
        assert_eq!(told("provider", "run: [x]").unwrap(), []);
    }

    #[test]
    fn what_cannot_be_is_told() {
        for (entry, what) in [
            ("name: a, upstream: 'http://a.example', base_url_env: U, key_env: K", "upstream"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: U", "key_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: PATH, key_env: K", "base_url_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: K, header: host", "header"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: K, format: 'x'", "format"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: K, base_path: v1", "base_path"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: K, secret: '../x'", "secret"),
        ] {
            let told = told(&format!("[{{{entry}}}]"), "run: [x]").unwrap_err();
            assert!(told.contains(&format!("inject.{what}")), "{told}");
        }
        assert!(told(&format!("[{{{ENTRY}}}, {{{ENTRY}}}]"), "run: [x]").unwrap_err().contains("twice"));
        assert!(told(&format!("[{{{ENTRY}}}]"), "run: [x], env: {A_KEY: v}").unwrap_err().contains("A_KEY"));
    }
}
