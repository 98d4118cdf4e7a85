//! The keys that are injected for one step: the factory's entries, the step's on top, and what its provider takes where the word
//! `provider` stands. Pure; the secrets' names only.

use hyper::header::HeaderName;

use super::{Inject, InjectEntry, NAME, Sandbox, Settings, Step, is_name, masked};
use crate::egress::inject::route::{self, Route};
use crate::provider;
use crate::variables;

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

/// Those of a step; what is wrong where they cannot be together.
pub fn of(settings: &Settings, step: &Step) -> Result<Vec<Injected>, Wrong> {
    let mut all: Vec<Injected> = Vec::new();
    for block in [Some(&settings.sandbox), step.block()].into_iter().flatten() {
        for one in of_block(block, step)? {
            if all.contains(&one) && matches!(block.egress.inject, Inject::Provider) {
                continue;
            }
            if all.iter().any(|other| other.name == one.name) {
                let fix = "a step's entries add to the factory's: leave one out, or give it another name";
                return Err(Wrong::together(&one, "the name stands twice", fix));
            }
            let of_others: Vec<&String> = all.iter().flat_map(|o| [&o.base_url_env, &o.key_env]).collect();
            if let Some(twice) = [&one.base_url_env, &one.key_env].into_iter().find(|name| of_others.contains(name)) {
                let what = format!("the variable {twice} is set by another entry");
                return Err(Wrong::together(&one, &what, "a variable for each entry"));
            }
            if let Some(own) = [&one.base_url_env, &one.key_env].into_iter().find(|name| step.env.contains_key(*name)) {
                let what = format!("env: of the step sets {own} as well");
                return Err(Wrong::together(&one, &what, "take it out of the step's env:"));
            }
            all.push(one);
        }
    }
    Ok(all)
}

fn of_block(block: &Sandbox, step: &Step) -> Result<Vec<Injected>, Wrong> {
    match &block.egress.inject {
        Inject::None => Ok(Vec::new()),
        Inject::Entries(entries) => Ok(entries.iter().map(Injected::from).collect()),
        Inject::Provider => match provider::of(step) {
            None => Ok(Vec::new()),
            Some(known) => match &known.key {
                Some(key) => Ok(vec![key.injected(known.name)]),
                None => Err(Wrong::new(
                    "",
                    format!("{} takes no other address for its provider; its key cannot stay outside", known.name),
                    "leave inject: provider out for this step",
                )),
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
        let header = entry.header.to_ascii_lowercase();
        let usual = if header == "authorization" { "Bearer {}" } else { "{}" };
        Injected {
            name: entry.name.value.clone(),
            upstream: entry.upstream.trim_end_matches('/').into(),
            format: entry.format.clone().unwrap_or_else(|| usual.into()),
            header,
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

/// What is wrong with an entry: with which of its keys, what, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// The name of the entry, where it is about one of several.
    pub entry: Option<String>,
    /// The key; empty where two entries, or an entry and something else, cannot be together.
    pub key: &'static str,
    /// What is wrong.
    pub what: String,
    /// What would be right.
    pub fix: String,
}

impl Wrong {
    fn new(key: &'static str, what: impl Into<String>, fix: impl Into<String>) -> Wrong {
        Wrong { entry: None, key, what: what.into(), fix: fix.into() }
    }

    fn together(one: &Injected, what: &str, fix: &str) -> Wrong {
        let entry = Some(one.name.clone());
        Wrong { entry, ..Wrong::new("", format!("entry {}: {what}", one.name), fix) }
    }
}

/// Whether an entry can be carried out, by itself.
pub fn check(entry: &InjectEntry) -> Result<(), Wrong> {
    let one = Injected::from(entry);
    if !is_name(&one.name) {
        return Err(Wrong::new("name", "not a name", NAME));
    }
    route::origin(&one.upstream)
        .map_err(|why| Wrong::new("upstream", why, "for example https://api.example.com; http only to localhost"))?;
    if one.header.parse::<HeaderName>().is_err() || NO_HEADER.contains(&one.header.as_str()) {
        let what = format!("{:?} cannot hold a key", one.header);
        return Err(Wrong::new("header", what, "the provider's header for keys, such as authorization or x-api-key"));
    }
    let fits = one.format.bytes().all(|b| b == b' ' || b.is_ascii_graphic());
    if one.format.matches("{}").count() != 1 || !fits {
        let what = "it has {} exactly once, and else what can stand in a header";
        return Err(Wrong::new("format", what, "'Bearer {}', or '{}' for the key alone"));
    }
    for (key, name) in [("base_url_env", &one.base_url_env), ("key_env", &one.key_env)] {
        let fits = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && !name.starts_with(|c: char| c.is_ascii_digit());
        if name.is_empty() || !fits {
            let what = format!("{name:?} is no name of a variable");
            return Err(Wrong::new(key, what, "letters, digits and underscores, no digit first"));
        }
        if variables::is_listed(name) {
            let what = format!("{name} has a meaning of its own for every step");
            return Err(Wrong::new(key, what, "the variable that the client reads for its provider"));
        }
        if variables::is_of_the_start(name) {
            let what = format!("{name} changes how programs start");
            return Err(Wrong::new(key, what, "the variable that the client reads for its provider"));
        }
    }
    if one.base_url_env == one.key_env {
        return Err(Wrong::new("key_env", "the same variable as base_url_env", "a variable of its own"));
    }
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-".contains(&b);
    if !(one.base_path.is_empty() || one.base_path.starts_with('/')) || !one.base_path.bytes().all(plain) {
        return Err(Wrong::new(
            "base_path",
            "it begins with / and is a plain path",
            "for example /v1, or leave it out",
        ));
    }
    if masked::looks_like_key(&one.secret) {
        let fix = "`kusaw config set NAME --secret` keeps it, secret: NAME names it; a key that stood here is known: get another";
        return Err(Wrong::new("secret", "this looks like a key itself, and is the name of one", fix));
    }
    match is_name(&one.secret) {
        true => Ok(()),
        false => Err(Wrong::new("secret", "not a name", NAME)),
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
        of(&settings, &settings.steps["s"]).map_err(|wrong| format!("{} ({})", wrong.what, wrong.fix))
    }

    const ENTRY: &str = "name: a, upstream: 'https://a.example', base_url_env: A_URL, key_env: A_KEY";

    #[test]
    fn entries_have_defaults() {
        let other = told(&format!("[{{{ENTRY}, header: X-Api-Key}}]"), "run: [x]").unwrap().remove(0);
        assert_eq!((other.header.as_str(), other.format.as_str()), ("x-api-key", "{}"));
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
        assert!(told("provider", "prompt: hi, provider: cursor").unwrap_err().contains("leave inject: provider out"));
        assert_eq!(told("provider", "run: [x]").unwrap(), []);
    }

    #[test]
    fn what_cannot_be_is_told() {
        for (entry, what) in [
            ("name: a, upstream: 'http://a.example', base_url_env: U, key_env: K", "upstream"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: U", "key_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: PATH, key_env: K", "base_url_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: LC_ALL, key_env: K", "base_url_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: SSL_CERT_FILE", "key_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: all_proxy", "key_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: 1A", "key_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: LD_PRELOAD", "key_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: NODE_OPTIONS, key_env: K", "base_url_env"),
            ("name: a, upstream: 'https://a.example', base_url_env: GIT_SSH_COMMAND, key_env: K", "base_url_env"),
            ("name: '', upstream: 'https://a.example', base_url_env: U, key_env: K", "name"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: K, header: host", "header"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: K, format: 'x'", "format"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: K, base_path: v1", "base_path"),
            ("name: a, upstream: 'https://a.example', base_url_env: U, key_env: K, secret: '../x'", "secret"),
        ] {
            let told = told(&format!("[{{{entry}}}]"), "run: [x]").unwrap_err();
            assert!(told.contains(&format!("inject[0].{what}: entry ")), "{told}");
            // File and place, what, the line itself, and the fix.
            assert_eq!(told.lines().count(), 3, "{told}");
        }
        assert!(told(&format!("[{{{ENTRY}}}, {{{ENTRY}}}]"), "run: [x]").unwrap_err().contains("twice"));
        assert!(told(&format!("[{{{ENTRY}}}]"), "run: [x], env: {A_KEY: v}").unwrap_err().contains("A_KEY"));
    }

    #[test]
    fn without_an_allowlist_a_key_is_an_error_with_its_fix() {
        let step = "steps: {s: {run: [x], sandbox: {egress: {inject: [{E}]}}}}".replace("{E}", &format!("{{{ENTRY}}}"));
        for (block, is_error) in [
            ("{mode: required, network: open}", true),
            ("{mode: required}", true),
            ("{mode: required, network: allowlist}", false),
            ("{mode: 'off'}", false),
        ] {
            let told = super::super::read("k".as_ref(), format!("sandbox: {block}\n{step}").as_bytes());
            let told = told.map_or_else(|e| e.to_string(), |_| String::new());
            assert_eq!(told.contains("set sandbox.network: allowlist"), is_error, "{block}: {told}");
            assert_eq!(told.is_empty(), !is_error, "{told}");
        }
    }
}
