//! Where an agent's program is installed, and what of it must be seen for it to start: never a folder of the user's own.

use std::path::{Path, PathBuf};

use super::Provider;
use crate::private;

/// Where the provider's program really is, and what must be visible for it to start: itself, or the folder of the package
/// it belongs to. `None` when it is not on PATH.
pub fn installed(provider: &Provider) -> Option<(PathBuf, Option<PathBuf>)> {
    let real = provider.program()?.canonicalize().ok()?;
    if real.starts_with("/usr") {
        return Some((real, None));
    }
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|h| h.canonicalize().ok());
    let package = real
        .parent()
        .filter(|folder| provider.executables.iter().any(|name| is_package(folder, name, home.as_deref())));
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
