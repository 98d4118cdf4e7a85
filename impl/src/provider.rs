//! The registry of agent CLIs, as data: what is started, with which arguments, and which hosts it needs.
//! The arguments that turn an agent's own sandbox off may only ever be given to a step that kusaw wraps.

use std::path::{Path, PathBuf};

use crate::private;
use crate::process::path;
use crate::settings::Step;
use crate::settings::inject::Injected;

/// One agent CLI.
#[derive(Debug, PartialEq, Eq)]
pub struct Provider {
    /// Name in the settings.
    pub name: &'static str,
    /// Program searched on PATH.
    pub executable: &'static str,
    /// Arguments in front of the prompt.
    pub prompt: &'static [&'static str],
    /// Arguments that turn its own sandbox off; only when wrapped.
    pub own_sandbox_off: &'static [&'static str],
    /// Variables that it takes a login from, the most usual first.
    pub login: &'static [&'static str],
    /// Hosts it cannot work without, as allow entries.
    pub egress: &'static [&'static str],
    /// How it takes another address for its provider; `None` where it does not.
    pub key: Option<Key>,
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
        executable: "claude",
        prompt: &["-p"],
        own_sandbox_off: &["--settings", r#"{"sandbox":{"enabled":false}}"#],
        login: &["CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
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
        executable: "cursor-agent",
        prompt: &["-p"],
        own_sandbox_off: &["--sandbox", "disabled"],
        login: &["CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"],
        egress: &["*.cursor.sh:443", "*.cursor.com:443"],
        key: None,
    },
];

/// The provider of this name.
pub fn find(name: &str) -> Option<&'static Provider> {
    ALL.iter().find(|p| p.name == name)
}

/// The agent that runs a step; `None` where its own program does.
pub fn of(step: &Step) -> Option<&'static Provider> {
    let named = step.provider.as_ref().and_then(|name| find(&name.value));
    step.run.is_none().then(|| named.unwrap_or(DEFAULT))
}

/// That its program was not found, in words.
pub fn not_on_path(provider: &Provider) -> String {
    format!("{} is not on PATH", provider.executable)
}

/// What to do where its program is not found.
pub fn install(provider: &Provider) -> String {
    format!(
        "install {} and see that `{} --version` works here; or run: [PROGRAM] in its place",
        provider.name, provider.executable
    )
}

/// Where the provider's program really is, and what must be visible for it to start: itself, or the folder of the package
/// it belongs to. `None` when it is not on PATH.
pub fn installed(provider: &Provider) -> Option<(PathBuf, Option<PathBuf>)> {
    let real = path::find(provider.executable)?.canonicalize().ok()?;
    if real.starts_with("/usr") {
        return Some((real, None));
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|h| h.canonicalize().ok());
    let package = real.parent().filter(|folder| is_package(folder, provider.executable, home.as_deref()));
    let root = package.map_or_else(|| real.clone(), PathBuf::from);
    Some((real, Some(root)))
}

/// Whether a folder holds a program and nothing of the user's: npm made it, or the agent's own installer. Without a known home no
/// folder is trusted, and never one that holds the home, or keys, or belongs to a checkout.
fn is_package(folder: &Path, executable: &str, home: Option<&Path>) -> bool {
    let Some(home) = home else { return false };
    let keys = [".ssh", ".gnupg"];
    let is_private = home.starts_with(folder)
        || keys.iter().any(|name| folder.join(name).exists() || folder.starts_with(home.join(name)))
        || private::places().iter().any(|(place, _)| meet(folder, place));
    !is_private && !folder.join(".git").exists() && (is_of_npm(folder) || is_of_installer(folder, executable, home))
}

/// `../node_modules/@vendor/agent`, with a package.json: a project of the user can have one as well.
fn is_of_npm(folder: &Path) -> bool {
    let in_modules = |above: &Path| above.components().any(|part| part.as_os_str() == "node_modules");
    folder.parent().is_some_and(in_modules) && folder.join("package.json").is_file()
}

/// `../AGENT/versions` or `../AGENT/versions/VERSION`, as in `~/.local/share/claude/versions`: a user, a folder or a checkout can be
/// called like the agent as well.
fn is_of_installer(folder: &Path, executable: &str, home: &Path) -> bool {
    let versions = Path::new(executable).join("versions");
    let below = folder.strip_prefix(home).unwrap_or(folder);
    let named = below.ends_with(&versions) || below.parent().is_some_and(|above| above.ends_with(&versions));
    named && !folder.ancestors().take_while(|above| *above != home).any(|above| above.join(".git").exists())
}

fn meet(folder: &Path, place: &Path) -> bool {
    let real = place.canonicalize().unwrap_or_else(|_| place.into());
    folder.starts_with(&real) || real.starts_with(folder)
}

impl Provider {
    /// Program and arguments for one prompt.
    pub fn argv(&self, prompt: &str, wrapped: bool) -> Vec<String> {
        let off = if wrapped { self.own_sandbox_off } else { &[] };
        let words = [self.executable].into_iter().chain(off.iter().copied());
        words.chain(self.prompt.iter().copied()).chain([prompt]).map(str::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::entry::Entry;

    #[test]
    fn the_own_sandbox_is_turned_off_only_when_wrapped() {
        let cursor = find("cursor").unwrap();
        assert_eq!(cursor.argv("hi", true), ["cursor-agent", "--sandbox", "disabled", "-p", "hi"]);
        assert_eq!(cursor.argv("hi", false), ["cursor-agent", "-p", "hi"]);
        let claude = DEFAULT.argv("hi", true);
        assert_eq!(claude, ["claude", "--settings", r#"{"sandbox":{"enabled":false}}"#, "-p", "hi"]);
        assert_eq!(DEFAULT.argv("hi", false), ["claude", "-p", "hi"]);
    }

    #[test]
    fn a_folder_of_the_users_is_no_package() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let (npm, installer) = ("lib/node_modules/@vendor/agent", ".local/share/claude/versions");
        let users = [".ssh/claude/versions", ".config", "claude", "claude/work", "project", "node_modules"];
        for folder in users.iter().chain(&[npm, ".local/share/claude/versions/2.0.1", "src/claude/versions"]) {
            std::fs::create_dir_all(at(folder)).unwrap();
            std::fs::write(at(folder).join("package.json"), "{}").unwrap();
        }
        std::fs::create_dir(at("src/claude/.git")).unwrap();
        std::fs::create_dir(at(".git")).unwrap();
        let package = |name: &str| is_package(&at(name), "claude", Some(home.path()));
        for fine in [npm, installer, ".local/share/claude/versions/2.0.1"] {
            assert!(package(fine), "{fine}");
        }
        for bad in users.iter().chain(&["src/claude/versions", ".local/share/claude", "lib", ""]) {
            assert!(!package(bad), "{bad}");
        }
        // A user who is called like the agent.
        assert!(!is_package(&at("claude/versions"), "claude", Some(&at("claude"))));
        assert!(!is_package(&at(npm), "claude", None));
        std::fs::create_dir(at(npm).join(".git")).unwrap();
        assert!(!package(npm));
    }

    #[test]
    fn every_host_of_the_registry_is_an_entry() {
        for host in ALL.iter().flat_map(|p| p.egress) {
            Entry::parse(host).unwrap();
        }
    }
}
