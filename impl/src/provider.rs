//! The registry of agent CLIs, as data: what is started, with which arguments, and which hosts it needs.
//! The arguments that turn an agent's own sandbox off may only ever be given to a step that kusaw wraps.

use std::path::{Path, PathBuf};

use crate::process::path;

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
    /// Hosts it cannot work without, as allow entries.
    pub egress: &'static [&'static str],
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
        egress: &["api.anthropic.com:443"],
    },
    Provider {
        name: "cursor",
        executable: "cursor-agent",
        prompt: &["-p"],
        own_sandbox_off: &["--sandbox", "disabled"],
        egress: &["*.cursor.sh:443", "*.cursor.com:443"],
    },
];

/// The provider of this name.
pub fn find(name: &str) -> Option<&'static Provider> {
    ALL.iter().find(|p| p.name == name)
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

/// Whether a folder holds a program and nothing of the user's: it has a package.json, or lies in a folder with the program's
/// name. Without a known home no folder is trusted, and never one that holds the home or keys.
fn is_package(folder: &Path, executable: &str, home: Option<&Path>) -> bool {
    let Some(home) = home else { return false };
    let keys = [".ssh", ".gnupg"];
    let is_private = home.starts_with(folder)
        || keys.iter().any(|name| folder.join(name).exists() || folder.starts_with(home.join(name)));
    let named = folder.components().any(|part| part.as_os_str() == executable);
    !is_private && (named || folder.join("package.json").is_file())
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
        for folder in [".ssh", ".config", "lib/claude-code", ".local/share/claude/versions"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::fs::write(at("lib/claude-code/package.json"), "{}").unwrap();
        std::fs::write(at("package.json"), "{}").unwrap();
        let package = |name: &str| is_package(&at(name), "claude", Some(home.path()));
        assert!(package("lib/claude-code") && package(".local/share/claude/versions"));
        assert!(!package(".config") && !package(".ssh") && !is_package(home.path(), "claude", Some(home.path())));
        assert!(!is_package(&at("lib/claude-code"), "claude", None));
    }

    #[test]
    fn every_host_of_the_registry_is_an_entry() {
        for host in ALL.iter().flat_map(|p| p.egress) {
            Entry::parse(host).unwrap();
        }
    }
}
