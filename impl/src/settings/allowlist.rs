//! The allowlist of one step, each entry with where it comes from: the factory's, the step's on top, and the provider's own
//! hosts. Nothing else adds to it; what a handshake names, least of all.

use super::{Network, Sandbox, Settings, Step};
use crate::egress::entry::{self, Entry};
use crate::egress::grant::Grant;
use crate::provider;

/// One entry and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// In normal form.
    pub entry: Entry,
    /// The key it stands under, or the provider that needs it.
    pub origin: String,
}

/// The allowlist of the step `name`; `None` where its network is open.
pub fn of(settings: &Settings, name: &str, step: &Step) -> Option<Vec<Listed>> {
    if network(settings, step) != Network::Allowlist {
        return None;
    }
    let of_step = step.block().map(|block| (format!("steps.{name}.sandbox"), block));
    let blocks = [Some(("sandbox".to_string(), &settings.sandbox)), of_step];
    let mut listed: Vec<Listed> = blocks.iter().flatten().flat_map(|(key, block)| written(key, block)).collect();
    let own = step.block().and_then(|block| block.egress.provider_hosts);
    if own.or(settings.sandbox.egress.provider_hosts).unwrap_or(true) {
        let provider = provider::of(step);
        let hosts = provider.iter().flat_map(|provider| provider.egress.iter().map(|host| (host, provider.name)));
        listed.extend(hosts.filter_map(|(host, name)| {
            Some(Listed { entry: Entry::parse(host).ok()?, origin: format!("provider {name}") })
        }));
    }
    Some(listed)
}

/// What an attempt of the step may reach; `None` where its network is open.
pub fn grant(settings: &Settings, name: &str, step: &Step) -> Option<Grant> {
    let listed = of(settings, name, step)?;
    let sni = step.block().and_then(|block| block.egress.sni).or(settings.sandbox.egress.sni).unwrap_or_default();
    Some(Grant { entries: entry::merged(listed.into_iter().map(|one| one.entry)), sni, ..Grant::default() })
}

/// What a step can connect to: the step's word, or the factory's; open where neither says anything.
pub fn network(settings: &Settings, step: &Step) -> Network {
    step.block().and_then(|block| block.network).or(settings.sandbox.network).unwrap_or(Network::Open)
}

impl Network {
    /// The word of the settings.
    pub fn word(self) -> &'static str {
        match self {
            Network::Open => "open",
            Network::Allowlist => "allowlist",
        }
    }
}

/// Entries that are none were refused by `validate`.
fn written(key: &str, block: &Sandbox) -> Vec<Listed> {
    let entries = block.egress.allow.iter().filter_map(|written| Entry::parse(&written.value).ok());
    entries.map(|entry| Listed { entry, origin: format!("{key}.egress.allow") }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(yaml: &str) -> Option<String> {
        let settings = super::super::read("kusaw.yaml".as_ref(), yaml.as_bytes()).unwrap();
        let listed = of(&settings, "s", &settings.steps["s"]);
        listed.map(|all| all.iter().map(|one| format!("{} ({})\n", one.entry, one.origin)).collect())
    }

    #[test]
    fn the_steps_entries_and_the_providers_add_to_the_factorys() {
        let text = "sandbox: {network: allowlist, egress: {allow: [A.example]}}\n\
                    steps: {s: {prompt: hi, provider: claude-code, sandbox: {egress: {allow: ['*.b.example:80']}}}}";
        insta::assert_snapshot!(listed(text).unwrap(), @r"
        a.example (sandbox.egress.allow)
        *.b.example:80 (steps.s.sandbox.egress.allow)
        api.anthropic.com:443 (provider claude-code)
        ");
        let without = text.replace("allow: [A.example]", "allow: [A.example], provider_hosts: false");
        assert!(!listed(&without).unwrap().contains("anthropic"));
    }

    #[test]
    fn an_empty_list_is_a_list_and_an_open_network_has_none() {
        assert_eq!(listed("sandbox: {network: allowlist}\nsteps: {s: {run: ['true']}}"), Some(String::new()));
        assert_eq!(listed("sandbox: {egress: {allow: [a.example]}}\nsteps: {s: {run: ['true']}}"), None);
        let open = "sandbox: {network: allowlist}\nsteps: {s: {run: ['true'], sandbox: {network: open}}}";
        assert_eq!(listed(open), None);
    }
}
