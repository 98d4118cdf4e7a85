//! The lab's home: canaries where a real user has secrets, two repositories, and two agents.
//!
//! Every canary holds a token of this run that stands nowhere else; in a folder that may not be listed, a file has one in
//! its name. A token that arrives inside a sandbox is a leak, whatever road it took.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::root::Supplies;
use super::world::control::World;
use super::{HOME, Lab, OWN_FOLDERS, PROBE, SUITE, Start};
use crate::seal::Key;

/// Every token begins so.
pub const TOKEN: &str = "kusaw-canary-";
/// Those of the home begin so, no other does: a secret that lies elsewhere is another guarantee's.
pub const TOKEN_OF_HOME: &str = "kusaw-canary-d";
/// Where the user's repositories lie.
pub const REPOSITORIES: &str = "/home/dev/src";
/// Their names.
pub const REPOSITORY_NAMES: [&str; 2] = ["demo", "extra"];

/// Where a user may keep a library: folders that a scenario furnishes and then allows.
pub const LIBRARIES: [&str; 7] =
    [HOME, "/srv/data", "/opt/data", "/var/lib/data", "/mnt/data", "/tmp", "/run/user/42042"];

/// Files a real home has, with the folder modes that their programs ask for.
const SECRETS: &[&str] = &[
    ".ssh/id_ed25519",
    ".ssh/config",
    ".ssh/known_hosts",
    ".gnupg/private-keys-v1.d/0C6A2E.key",
    ".gnupg/pubring.kbx",
    ".gnupg/trustdb.gpg",
    ".netrc",
    ".bash_history",
    ".bashrc",
    ".git-credentials",
    ".npmrc",
    ".aws/credentials",
    ".cargo/credentials.toml",
    ".config/gh/hosts.yml",
    ".docker/config.json",
    ".kube/config",
    ".mozilla/firefox/default/logins.json",
    "Documents/letter to the bank.txt",
];

/// Folders in which a file has a token in its name.
const LISTED: &[&str] = &["", ".ssh", ".gnupg", ".gnupg/private-keys-v1.d", ".aws", ".config", "Documents"];

/// Fills the home. Called as the lab's user.
pub fn furnish(supplies: &Supplies, start: Start, world: World) -> io::Result<Lab> {
    let home = Path::new(HOME);
    let key = seal_probe()?;
    for name in SECRETS {
        canary(&home.join(name))?;
    }
    for folder in OWN_FOLDERS.iter().filter(|folder| **folder != HOME).chain(&["/tmp", "/var/tmp"]) {
        canary(&Path::new(folder).join("customers.csv"))?;
    }
    super::windows::furnish()?;
    for folder in LISTED {
        canary(&home.join(folder).join(format!("{}.txt", token()?)))?;
    }
    for folder in [".ssh", ".gnupg", ".gnupg/private-keys-v1.d"] {
        fs::set_permissions(home.join(folder), fs::Permissions::from_mode(0o700))?;
    }
    for name in REPOSITORY_NAMES {
        repository(&Path::new(REPOSITORIES).join(name))?;
    }
    repository(Path::new("/srv/data/repo"))?;
    agents(&home.join(".local/bin"))?;
    fs::create_dir_all(home.join("factories"))?;
    let mut lab = Lab { start, backend: None, key, world };
    if let Some(name) = &supplies.backend {
        lab.backend = Lab::which(name);
        links_without(name)?;
        if let Some(real) = &lab.backend {
            let copy = Path::new(SUITE).join("backend");
            fs::copy(real, &copy)?;
        }
    }
    Ok(lab)
}

/// Gives the probe a key of this run, before anything has a copy of it.
fn seal_probe() -> io::Result<Key> {
    let key = Key::random()?;
    let mut program = fs::read(PROBE)?;
    key.put(&mut program)?;
    fs::remove_file(PROBE)?; // the folder is the user's, the file may be root's
    fs::write(PROBE, program)?;
    fs::set_permissions(PROBE, fs::Permissions::from_mode(0o755))?;
    Ok(key)
}

/// A file that nobody inside a sandbox may see.
pub fn canary(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let token = if path.starts_with(HOME) { random(TOKEN_OF_HOME)? } else { token()? };
    fs::write(path, format!("-----BEGIN PRIVATE-----\n{token}\n-----END PRIVATE-----\n"))?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

/// The secrets of a file, or of a folder and what lies in it: in contents and in names.
///
/// # Errors
/// When it is not there.
pub fn secrets(path: &Path) -> io::Result<Vec<String>> {
    if path.is_dir() {
        let below: io::Result<Vec<Vec<String>>> = fs::read_dir(path)?.map(|entry| secrets(&entry?.path())).collect();
        return Ok(below?.concat());
    }
    let text = format!("{} {}", path.display(), fs::read_to_string(path)?);
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    Ok(words.filter(|word| word.starts_with(TOKEN)).map(str::to_owned).collect())
}

/// A token of this run that stands nowhere else.
pub fn token() -> io::Result<String> {
    random(&format!("{TOKEN}e"))
}

/// A word of this run that begins so.
pub fn random(begin: &str) -> io::Result<String> {
    let mut bytes = [0u8; 8];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{begin}{:016x}", u64::from_ne_bytes(bytes)))
}

/// A repository whose worktrees hold the probe, so that it runs in any sandbox that shows the worktree.
fn repository(path: &Path) -> io::Result<()> {
    if !path.ends_with("demo") {
        // The others are not for the step of most scenarios.
        canary(&path.join("customers.csv"))?;
        canary(&path.join("kusaw-canaries").join(format!("{}.txt", token()?)))?;
    }
    fs::create_dir_all(path.join("tools"))?;
    fs::copy(PROBE, path.join("tools/probe"))?;
    begin(path, &[])
}

/// The first commit of a repository, in a folder with what else it holds; `format` is for `git init`.
pub fn begin(path: &Path, format: &[&str]) -> io::Result<()> {
    fs::write(path.join("README"), "A repository of the lab.\n")?;
    symlink(format!("{HOME}/.netrc"), path.join("link-to-netrc"))?;
    symlink(format!("{HOME}/.ssh"), path.join("link-to-ssh"))?;
    let init = ["init", "-q", "-b", "main", "--template=", "."];
    git(path, &[&init, format].concat())?;
    git(path, &["add", "-A"])?;
    git(path, &["commit", "-q", "-m", "Begin"])
}

/// The repository `name` of one scenario: a copy of the lab's, because git looks at all worktrees of a repository whenever
/// it adds one, and hundreds of scenarios add theirs. What never changes is shared by hard links.
pub fn repository_of(nonce: &str, name: &str) -> PathBuf {
    Path::new(REPOSITORIES).join(nonce).join(name)
}

/// The library of one scenario in a place.
pub fn library(place: &str, nonce: &str) -> PathBuf {
    Path::new(place).join("library").join(nonce)
}

/// Makes the repositories of one scenario, if they are not there yet.
pub fn provide_repositories(nonce: &str) -> io::Result<()> {
    for name in REPOSITORY_NAMES {
        let copy = repository_of(nonce, name);
        if !copy.exists() {
            copy_repository(&Path::new(REPOSITORIES).join(name), &copy)?;
        }
    }
    Ok(())
}

/// Makes one more copy of the repository that most scenarios have.
///
/// # Errors
/// When it cannot be copied.
pub fn provide_copy(to: &Path) -> io::Result<()> {
    copy_repository(&Path::new(REPOSITORIES).join(REPOSITORY_NAMES[0]), to)
}

/// Removes what a scenario has left.
pub fn clear(nonce: &str) {
    let own = [Path::new(REPOSITORIES).join(nonce), Path::new(HOME).join("factories").join(nonce)];
    for folder in own.into_iter().chain(LIBRARIES.map(|place| library(place, nonce))) {
        // A folder that cannot be removed goes with the lab.
        let _ = fs::remove_dir_all(folder);
    }
}

/// Copies a repository; what never changes is shared by hard links.
pub fn copy_repository(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        match copy_entry(&entry, &target) {
            // Bare controls work in this folder: what one has put there and taken away is not the repository's.
            Err(e) if e.kind() == io::ErrorKind::NotFound && source.symlink_metadata().is_err() => {}
            copied => copied?,
        }
    }
    Ok(())
}

fn copy_entry(entry: &fs::DirEntry, target: &Path) -> io::Result<()> {
    let (source, kind) = (entry.path(), entry.file_type()?);
    if kind.is_dir() {
        copy_repository(&source, target)
    } else if kind.is_symlink() {
        symlink(fs::read_link(&source)?, target)
    } else if entry.metadata()?.len() > 4096 {
        fs::hard_link(&source, target) // objects and the probe: git and the scenarios never write in place
    } else {
        fs::copy(&source, target).map(drop)
    }
}

/// Adds a file to a repository of a scenario.
///
/// # Errors
/// When it cannot be written or committed.
pub fn commit(nonce: &str, name: &str, file: &str, text: &str) -> io::Result<()> {
    provide_repositories(nonce)?;
    let repository = repository_of(nonce, name);
    let path = repository.join(file);
    fs::create_dir_all(path.parent().unwrap_or(&repository))?;
    fs::write(path, text)?;
    git(&repository, &["add", "-A"])?;
    git(&repository, &["commit", "-q", "-m", "Add a file"])
}

/// Runs git for the lab, which makes what a scenario has: with an identity of its own, and nobody's config.
pub fn git(path: &Path, arguments: &[&str]) -> io::Result<()> {
    let search = Lab::search_path();
    let output = Command::new(Lab::which("git").ok_or_else(|| io::Error::other("git is not on PATH"))?)
        .args(["-c", "core.looseCompression=0", "-c", "user.name=Dev", "-c", "user.email=dev@devbox.example"])
        .args(arguments)
        .current_dir(path)
        .env_clear()
        .envs([
            ("PATH", search.as_str()),
            ("HOME", HOME),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ])
        .envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, "2026-01-02T03:04:05Z")))
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr))))
}

/// Agents that do what their prompt says, as a command of the shell.
///
/// # Errors
/// When they cannot be written.
pub fn agents(folder: &Path) -> io::Result<()> {
    ["claude", "cursor-agent"].iter().try_for_each(|name| agent(&folder.join(name), ""))
}

/// One of them, with something in front of it.
///
/// # Errors
/// When it cannot be written.
pub fn agent(path: &Path, front: &str) -> io::Result<()> {
    program(path, &format!("{front}{}", include_str!("agent.sh")))
}

/// A program with this text.
///
/// # Errors
/// When it cannot be written.
pub fn program(path: &Path, text: &str) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

/// A folder of links to every program on PATH but one.
fn links_without(name: &str) -> io::Result<()> {
    let links = Lab::path_without(name);
    fs::create_dir(&links)?;
    for folder in Lab::search_path().split(':') {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let link = links.join(entry.file_name());
            if entry.file_name() != name && fs::symlink_metadata(&link).is_err() {
                symlink(entry.path(), link)?;
            }
        }
    }
    Ok(())
}
