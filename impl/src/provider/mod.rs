//! The registry of agent CLIs, as data: what is started, with which arguments, and which hosts it needs.
//! The arguments that turn an agent's own sandbox off may only ever be given to a step that kusaw wraps.

pub mod arguments;
mod installed;
pub mod state;

use std::path::PathBuf;

use crate::process::path;
use crate::settings::Step;
use crate::settings::inject::Injected;
use arguments::OwnSandbox;
pub use installed::{Installed, installed};

/// One agent CLI.
#[derive(Debug, PartialEq, Eq)]
pub struct Provider {
    /// Name in the settings.
    pub name: &'static str,
    /// Names of its program, in the order in which PATH is searched for them.
    pub executables: &'static [&'static str],
    /// Arguments in front of the prompt.
    pub prompt: &'static [&'static str],
    /// How its own sandbox is turned off; only when wrapped.
    pub own_sandbox: OwnSandbox,
    /// Variables that it takes a login from, the most usual first: one of them stands in the step's `env:`, or what it needs
    /// is in its state.
    pub login: &'static [&'static str],
    /// Where its login, settings and sessions are.
    pub state: &'static [Where],
    /// The variable that names another folder for its settings.
    pub config_dir: &'static str,
    /// Whether everything is in that folder then.
    pub config_dir_moves_all: bool,
    /// Variables that keep it from asking hosts which it can work without.
    pub quiet: &'static [&'static str],
    /// Hosts it cannot work without, as allow entries.
    pub egress: &'static [&'static str],
    /// How it takes another address for its provider; `None` where it does not.
    pub key: Option<Key>,
}

/// Where a folder or file of an agent's state is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// In the user's home.
    Home(&'static str),
    /// In `${XDG_CONFIG_HOME:-~/.config}`.
    Config(&'static str),
}

/// Variables and header of a provider's API key.
#[derive(Debug, PartialEq, Eq)]
pub struct Key {
    upstream: &'static str,
    header: &'static str,
    format: &'static str,
    base_url_env: &'static str,
    base_path: &'static str,
    key_env: &'static str,
}

impl Key {
    /// As an entry of `inject:` called like the provider.
    pub fn injected(&self, name: &str) -> Injected {
        Injected {
            name: name.into(),
            upstream: self.upstream.into(),
            header: self.header.into(),
            format: self.format.into(),
            base_url_env: self.base_url_env.into(),
            base_path: self.base_path.into(),
            key_env: self.key_env.into(),
            secret: self.key_env.into(),
        }
    }
}

/// The default.
pub const DEFAULT: &Provider = &ALL[0];

/// All of them; the first is the default.
pub const ALL: &[Provider] = &[
    Provider {
        name: "claude-code",
        executables: &["claude"],
        prompt: &["-p"],
        own_sandbox: OwnSandbox::Settings("--settings"),
        login: &["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
        state: &[Where::Home(".claude"), Where::Home(".claude.json")],
        config_dir: "CLAUDE_CONFIG_DIR",
        config_dir_moves_all: true,
        quiet: &["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"],
        egress: &["api.anthropic.com:443"],
        key: Some(Key {
            upstream: "https://api.anthropic.com",
            header: "x-api-key",
            format: "{}",
            base_url_env: "ANTHROPIC_BASE_URL",
            base_path: "",
            key_env: "ANTHROPIC_API_KEY",
        }),
    },
    Provider {
        name: "cursor",
        executables: &["cursor-agent", "agent"],
        prompt: &["-p"],
        own_sandbox: OwnSandbox::Option("--sandbox", "disabled"),
        login: &["CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"],
        state: &[Where::Home(".cursor"), Where::Config("cursor")],
        config_dir: "CURSOR_CONFIG_DIR",
        config_dir_moves_all: false,
        quiet: &[],
        egress: &["*.cursor.sh:443", "*.cursor.com:443"],
        key: None,
    },
];

/// The provider of this name.
pub fn find(name: &str) -> Option<&'static Provider> {
    ALL.iter().find(|p| p.name == name)
}

/// The agent that runs a step; `None` where its own program or a built-in step does.
pub fn of(step: &Step) -> Option<&'static Provider> {
    let named = step.provider.as_ref().and_then(|name| find(&name.value));
    (step.run.is_none() && step.uses.is_none()).then(|| named.unwrap_or(DEFAULT))
}

impl Provider {
    /// Its program, as PATH has it.
    pub fn program(&self) -> Option<PathBuf> {
        self.executables.iter().find_map(|name| path::find(name))
    }

    /// That its program was not found, in words.
    pub fn not_on_path(&self) -> String {
        format!("{} is not on PATH", self.executables.join(" or "))
    }

    /// What to do where its program is not found.
    pub fn to_install(&self) -> String {
        let (name, program) = (self.name, self.executables[0]);
        format!("install {name} and see that `{program} --version` works here; or run: [PROGRAM] in its place")
    }

    /// Its program and, with these arguments, what it is told: to do that and end, or as a beginning.
    pub fn argv(&self, args: Vec<String>, prompt: Option<&str>, interactive: bool) -> Vec<String> {
        let there = self.executables.iter().find(|name| path::find(name).is_some());
        let program = there.unwrap_or(&self.executables[0]).to_string();
        let to_end = if interactive { &[] } else { self.prompt };
        let said = to_end.iter().copied().chain(prompt).map(str::to_string);
        [program].into_iter().chain(args).chain(said).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::entry::Entry;

    #[test]
    fn an_agent_does_one_thing_and_ends_unless_its_user_talks_with_it() {
        let args = || vec!["--verbose".to_string()];
        assert_eq!(DEFAULT.argv(args(), Some("hi"), false), ["claude", "--verbose", "-p", "hi"]);
        assert_eq!(DEFAULT.argv(args(), Some("hi"), true), ["claude", "--verbose", "hi"]);
        assert_eq!(DEFAULT.argv(args(), None, true), ["claude", "--verbose"]);
    }

    #[test]
    fn every_host_of_the_registry_is_an_entry() {
        for host in ALL.iter().flat_map(|p| p.egress) {
            Entry::parse(host).unwrap();
        }
    }
}
