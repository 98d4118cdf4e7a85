//! Where an agent's program is installed, and what of it must be seen for it to start: its package, its interpreter, and never a
//! folder of the user's own.

use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::Provider;
use crate::allow::walk::walk;
use crate::private;
use crate::process::path;

/// An agent that is installed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Installed {
    /// Its program, without a link in its path.
    pub program: PathBuf,
    /// What must be readable for it to start, besides the system; the first is of the program itself.
    pub roots: Vec<PathBuf>,
    /// The links by which PATH leads to it and to its interpreter, and what stands in them.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// Where the provider's program is; `None` when it is not on PATH.
pub fn installed(provider: &Provider) -> Option<Installed> {
    let named = provider.program()?;
    let program = named.canonicalize().ok()?;
    let home = std::env::var_os("HOME").map(PathBuf::from).and_then(|h| h.canonicalize().ok());
    let interpreter = interpreter(&program);
    let mut installed = Installed { program: program.clone(), ..Installed::default() };
    let agent = root(&program, provider.executables, home.as_deref());
    let other =
        interpreter.iter().filter_map(|found| found.canonicalize().ok()).map(|found| keg(&found).unwrap_or(found));
    for root in [agent].into_iter().chain(other).filter(|root| !root.starts_with("/usr")) {
        if !installed.roots.iter().any(|outer| root.starts_with(outer)) {
            installed.roots.push(root);
        }
    }
    installed.links = [named].iter().chain(&interpreter).flat_map(|named| walk(named).links).collect();
    installed.links.dedup();
    Some(installed)
}

/// The folder of the package that a program belongs to, or else the program itself.
fn root(program: &Path, executables: &[&str], home: Option<&Path>) -> PathBuf {
    let package = package(program).or_else(|| keg(program)).filter(|folder| is_nobodys(folder, home));
    let installer = program.parent().filter(|folder| {
        home.is_some_and(|home| executables.iter().any(|name| is_of_installer(folder, name, home)))
            && is_nobodys(folder, home)
    });
    package.or_else(|| installer.map(PathBuf::from)).unwrap_or_else(|| program.into())
}

/// `../node_modules/agent` or `../node_modules/@vendor/agent`, with a package.json: the outermost, which holds what it needs.
fn package(program: &Path) -> Option<PathBuf> {
    let is_modules = |folder: Option<&Path>| folder.is_some_and(|folder| folder.ends_with("node_modules"));
    let is_package = |folder: &&Path| {
        let is_scope = |folder: &Path| folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"@"));
        let above = folder.parent();
        let above = if above.is_some_and(is_scope) { above.and_then(Path::parent) } else { above };
        let is_in_modules = is_modules(above) && !is_scope(folder);
        is_in_modules && folder.join("package.json").is_file()
    };
    program.ancestors().skip(1).filter(is_package).last().map(PathBuf::from)
}

/// Homebrew's `../Cellar/AGENT/VERSION`, where it keeps a receipt.
fn keg(program: &Path) -> Option<PathBuf> {
    let names: Vec<Component> = program.components().collect();
    let cellar = names.iter().rposition(|name| name.as_os_str() == "Cellar")?;
    let keg: PathBuf = names.get(..cellar + 3)?.iter().collect();
    keg.join("INSTALL_RECEIPT.json").is_file().then_some(keg)
}

/// Longest first line of a script that the kernel reads, execve(2).
const LINE: u64 = 255;

/// The interpreter that a script names, as PATH has it where `env` is to find it; `None` for what is no script.
fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    File::open(program).ok()?.take(LINE).read_to_end(&mut line).ok()?;
    let line = String::from_utf8_lossy(&line);
    let mut words = line.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let first = Path::new(words.next()?);
    if first.file_name()? != "env" {
        return Some(first.into());
    }
    path::find(words.find(|word| !word.starts_with('-') && !word.contains('='))?)
}

/// Whether a folder is no place of the user's own. Without a known home no folder is trusted, and never one that holds the home, or
/// keys, or belongs to a checkout.
fn is_nobodys(folder: &Path, home: Option<&Path>) -> bool {
    let Some(home) = home else { return false };
    let keys = [".ssh", ".gnupg"];
    let is_private = home.starts_with(folder)
        || keys.iter().any(|name| folder.join(name).exists() || folder.starts_with(home.join(name)))
        || private::places().iter().any(|(place, _)| meet(folder, place));
    !is_private && !folder.join(".git").exists()
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
        let npm = "lib/node_modules/@vendor/agent";
        let fine = [
            ("lib/node_modules/@vendor/agent/bin/x", npm),
            ("lib/node_modules/@vendor/agent/node_modules/@vendor/agent-linux/x", npm),
            ("lib/node_modules/agent/x", "lib/node_modules/agent"),
            (".local/share/claude/versions/2.0.1", ".local/share/claude/versions"),
            (".local/share/claude/versions/2.0.2/claude", ".local/share/claude/versions/2.0.2"),
            (".linuxbrew/Cellar/agent/1.0/bin/x", ".linuxbrew/Cellar/agent/1.0"),
        ];
        let alone = [
            ".ssh/claude/versions/x",
            ".config/x",
            "claude/x",
            "claude/work/x",
            "project/x",
            "node_modules/x",
            "x",
            "src/claude/versions/x",
            ".local/share/claude/x",
            "lib/x",
            "Cellar/agent/2.0/x",
            "Cellar/x",
        ];
        for file in fine.iter().map(|(file, _)| file).chain(&alone) {
            let folder = at(file).parent().unwrap().to_path_buf();
            std::fs::create_dir_all(&folder).unwrap();
            for name in ["package.json", "INSTALL_RECEIPT.json"] {
                std::fs::write(folder.join(name), "{}").unwrap();
            }
        }
        for folder in [npm, ".linuxbrew/Cellar/agent/1.0", "lib/node_modules/@vendor"] {
            for name in ["package.json", "INSTALL_RECEIPT.json"] {
                std::fs::write(at(folder).join(name), "{}").unwrap();
            }
        }
        std::fs::remove_file(at("Cellar/agent/2.0/INSTALL_RECEIPT.json")).unwrap();
        std::fs::create_dir(at("src/claude/.git")).unwrap();
        std::fs::create_dir(at(".git")).unwrap();
        let root = |name: &str| root(&at(name), &["claude"], Some(home.path()));
        for (file, folder) in fine {
            assert_eq!(root(file), at(folder), "{file}");
        }
        for file in alone {
            assert_eq!(root(file), at(file), "{file}");
        }
        // A user who is called like the agent.
        assert_eq!(super::root(&at("claude/versions/x"), &["claude"], Some(&at("claude"))), at("claude/versions/x"));
        assert_eq!(super::root(&at(fine[0].0), &["claude"], None), at(fine[0].0));
        std::fs::create_dir(at(npm).join(".git")).unwrap();
        assert_eq!(root(fine[0].0), at(fine[0].0));
    }

    #[test]
    fn a_script_names_its_interpreter() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("script");
        for (text, found) in [
            ("#!/usr/bin/env sh\nx", path::find("sh")),
            ("#! /usr/bin/env -S A=b sh -x\n", path::find("sh")),
            ("#!/opt/own/node --flag\n", Some("/opt/own/node".into())),
            ("#!/usr/bin/env no-such-program\n", None),
            ("\x7fELF", None),
            ("", None),
        ] {
            std::fs::write(&script, text).unwrap();
            assert_eq!(interpreter(&script), found, "{text:?}");
        }
    }
}
