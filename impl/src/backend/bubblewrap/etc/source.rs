//! What of the host's /etc is prepared: which parts, how they are copied, and a digest that tells when they have
//! changed. Secrets are never copied: what is not wanted by name is left out, and what not everybody may read, for the copy is
//! readable for all.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Component, Path, PathBuf};

use super::EMPTY;
use super::names::Names;

/// Counts up when what is copied changes.
const FORMAT: u32 = 5;

/// What is copied, files and folders alike, where it exists. Not: shadow, ssh, sudoers, machine-id,
/// hostname, ssl/private.
const WANTED: &[&str] = &[
    LINKS,
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "claude-code",
    "crypto-policies",
    "default/locale",
    "gai.conf",
    "host.conf",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "locale.alias",
    "localtime",
    "login.defs",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "pki/ca-trust/extracted",
    "pki/tls/cert.pem",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "profile",
    "protocols",
    "resolv.conf",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// Of it only the links are copied. A link cannot be changed, so the folder's time tells of all of them: it can be long.
const LINKS: &str = "alternatives";

/// Besides /etc, where links in wanted folders may lead: what the system brings. A user's certificate may be a link into a home.
const SYSTEM: &[&str] = &["/usr", "/nix/store", "/gnu/store"];

/// Limits that no real /etc comes near.
const MAX_FILE: u64 = 8 << 20;
const MAX_DEPTH: usize = 8;

/// Builds the prepared folder in `to`, which is there and empty.
pub fn build(etc: &Path, to: &Path, names: &Names) -> io::Result<()> {
    for wanted in WANTED {
        let target = to.join(wanted);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent)?;
        }
        copy(etc, &etc.join(wanted), &target, 0)?;
    }
    fs::create_dir(to.join(EMPTY))?;
    fs::write(to.join("passwd"), &names.passwd)?;
    fs::write(to.join("group"), &names.group)?;
    if fs::symlink_metadata(to.join("nsswitch.conf")).is_err() {
        fs::write(to.join("nsswitch.conf"), "passwd: files\ngroup: files\nhosts: files dns\n")?;
    }
    Ok(())
}

/// Copies what everybody can read; the rest is left out.
fn copy(etc: &Path, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    match found(etc, from, depth) {
        Found::Link(target) => symlink(target, to),
        Found::File(meta) => copy_file(from, to, &meta),
        Found::Folder(real) => {
            fs::create_dir_all(to)?;
            let Ok(list) = fs::read_dir(real) else { return Ok(()) };
            let of_links = from == etc.join(LINKS);
            let is_wanted = |entry: &fs::DirEntry| !of_links || entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let mut wanted = list.flatten().filter(is_wanted);
            wanted.try_for_each(|e| copy(etc, &e.path(), &to.join(e.file_name()), depth + 1))
        }
        Found::Nothing => Ok(()),
    }
}

/// What there is to copy at a path.
enum Found {
    /// A link whose target is there inside too; absolute.
    Link(PathBuf),
    File(fs::Metadata),
    /// With its real path.
    Folder(PathBuf),
    Nothing,
}

fn found(etc: &Path, at: &Path, depth: usize) -> Found {
    let Ok(meta) = fs::symlink_metadata(at) else { return Found::Nothing };
    if meta.is_symlink() {
        let Ok(target) = fs::read_link(at) else { return Found::Nothing };
        let target = plain(&at.parent().unwrap_or(etc).join(target));
        match target.strip_prefix(etc) {
            _ if target.starts_with("/usr") => return Found::Link(target),
            Ok(below) if depth > 0 => return Found::Link(Path::new("/etc").join(below)),
            _ => {}
        }
        // Leads elsewhere, such as resolv.conf into /run, or is wanted itself: take the contents. Of folders only
        // those of /etc: /etc/ssl/certs is a link to /etc/pki/tls/certs on Fedora.
        let (Ok(meta), Ok(real)) = (fs::metadata(at), at.canonicalize()) else { return Found::Nothing };
        let of_system = || real.starts_with(etc) || SYSTEM.iter().any(|place| real.starts_with(place));
        return match meta.is_file() {
            true if depth == 0 || of_system() => Found::File(meta),
            false if meta.is_dir() && depth == 0 && real.starts_with(etc) && real != etc => Found::Folder(real),
            _ => Found::Nothing,
        };
    }
    match meta.is_dir() {
        true if depth < MAX_DEPTH && meta.mode() & 0o005 == 0o005 => Found::Folder(at.into()),
        false if meta.is_file() => Found::File(meta),
        _ => Found::Nothing,
    }
}

fn copy_file(from: &Path, to: &Path, meta: &fs::Metadata) -> io::Result<()> {
    if meta.len() > MAX_FILE || meta.mode() & 0o004 == 0 {
        return Ok(());
    }
    match fs::read(from) {
        Ok(bytes) => fs::write(to, bytes),
        Err(e) if matches!(e.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound) => Ok(()),
        Err(e) => Err(e),
    }
}

/// Without `..`, by the letters of the path.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// Changes when any source changes: files by path, size and time, folders by their time as well. That also tells of
/// links in them, which come and go but cannot be changed: a look at each would cost a third of the launch.
pub fn digest(etc: &Path, names: &Names) -> u64 {
    let mut hash = DefaultHasher::new();
    (FORMAT, &names.passwd, &names.group).hash(&mut hash);
    for wanted in WANTED {
        let at = etc.join(wanted);
        wanted.hash(&mut hash);
        match found(etc, &at, 0) {
            Found::Link(target) => target.hash(&mut hash),
            Found::File(meta) => hash_file(&meta, &mut hash),
            Found::Folder(real) if *wanted == LINKS => hash_time(&real, &mut hash),
            Found::Folder(real) => hash_folder(&real, 0, &mut hash),
            Found::Nothing => {}
        }
    }
    hash.finish()
}

fn hash_folder(folder: &Path, depth: usize, hash: &mut DefaultHasher) {
    hash_time(folder, hash);
    let Ok(list) = fs::read_dir(folder) else { return };
    let kind = |entry: &fs::DirEntry| entry.file_type().ok().filter(|kind| !kind.is_symlink());
    let mut inner: Vec<_> = list.flatten().filter_map(|e| kind(&e).map(|kind| (e.file_name(), kind, e))).collect();
    inner.sort_by(|(a, ..), (b, ..)| a.cmp(b));
    for (name, kind, entry) in inner {
        name.hash(hash);
        if kind.is_dir() && depth + 1 < MAX_DEPTH {
            hash_folder(&entry.path(), depth + 1, hash);
        } else if kind.is_file() {
            entry.metadata().iter().for_each(|meta| hash_file(meta, hash));
        }
    }
}

fn hash_time(folder: &Path, hash: &mut DefaultHasher) {
    let Ok(meta) = fs::metadata(folder) else { return };
    (meta.mode(), meta.mtime(), meta.mtime_nsec()).hash(hash);
}

fn hash_file(meta: &fs::Metadata, hash: &mut DefaultHasher) {
    (meta.size(), meta.mode(), meta.mtime(), meta.mtime_nsec()).hash(hash);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn names() -> Names {
        Names { passwd: "p".into(), group: "g".into() }
    }

    #[test]
    fn links_stay_inside_and_others_become_copies() {
        let (etc, to, run) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(run.path().join("resolv"), "nameserver 9.9.9.9").unwrap();
        symlink(run.path().join("resolv"), etc.path().join("resolv.conf")).unwrap();
        symlink("/usr/share/zoneinfo/UTC", etc.path().join("localtime")).unwrap();
        fs::create_dir_all(etc.path().join("ssl/private")).unwrap();
        fs::write(etc.path().join("ssl/private/key"), "secret").unwrap();
        fs::write(etc.path().join("shadow"), "secret").unwrap();
        build(etc.path(), to.path(), &names()).unwrap();
        assert_eq!(fs::read_to_string(to.path().join("resolv.conf")).unwrap(), "nameserver 9.9.9.9");
        assert!(to.path().join("resolv.conf").symlink_metadata().unwrap().is_file());
        assert_eq!(fs::read_link(to.path().join("localtime")).unwrap(), Path::new("/usr/share/zoneinfo/UTC"));
        assert!(!to.path().join("shadow").exists() && !to.path().join("ssl/private").exists());
    }

    #[test]
    fn what_not_everybody_may_read_and_links_out_of_the_system_are_left_out() {
        let (etc, to, home) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |path: &str| etc.path().canonicalize().unwrap().join(path);
        let write = |path: PathBuf, mode: u32| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "text").unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        write(at("hosts"), 0o644);
        write(at("resolv.conf"), 0o640);
        write(at("ssl/certs/ca.pem"), 0o444);
        write(at("ssl/certs/server.key"), 0o640);
        write(at("ssl/certs/root.key"), 0o600);
        write(at("ssl/certs/private/key"), 0o644);
        fs::set_permissions(at("ssl/certs/private"), fs::Permissions::from_mode(0o750)).unwrap();
        write(home.path().join("key"), 0o644);
        symlink(home.path().join("key"), at("ssl/certs/linked.pem")).unwrap();
        symlink(at("hosts"), at("ssl/certs/hosts")).unwrap();
        let before = digest(&at(""), &names());
        build(&at(""), to.path(), &names()).unwrap();
        let there = |path: &str| to.path().join(path).symlink_metadata().is_ok();
        assert!(there("hosts") && there("ssl/certs/ca.pem") && there("ssl/certs/hosts"));
        for left in
            ["resolv.conf", "ssl/certs/server.key", "ssl/certs/root.key", "ssl/certs/private", "ssl/certs/linked.pem"]
        {
            assert!(!there(left), "{left}");
        }
        fs::set_permissions(at("ssl/certs/ca.pem"), fs::Permissions::from_mode(0o400)).unwrap();
        assert_ne!(before, digest(&at(""), &names()), "what became private must not stay in the copy");
    }

    /// As on Fedora.
    #[test]
    fn a_wanted_link_to_a_folder_of_etc_is_copied() {
        let (etc, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = |path: &str| etc.path().canonicalize().unwrap().join(path);
        for folder in ["ssl", "pki/tls/certs", "pki/ca-trust/extracted/pem"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("pki/ca-trust/extracted/pem/tls-ca-bundle.pem"), "roots").unwrap();
        symlink("../pki/tls/certs", at("ssl/certs")).unwrap();
        symlink("../../ca-trust/extracted/pem/tls-ca-bundle.pem", at("pki/tls/certs/ca-bundle.crt")).unwrap();
        symlink(at("pki/ca-trust/extracted/pem/tls-ca-bundle.pem"), at("pki/tls/cert.pem")).unwrap();
        build(&at(""), to.path(), &names()).unwrap();
        assert!(to.path().join("ssl/certs").symlink_metadata().unwrap().is_dir());
        let inside = Path::new("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem");
        for certs in ["ssl/certs", "pki/tls/certs"] {
            assert_eq!(fs::read_link(to.path().join(certs).join("ca-bundle.crt")).unwrap(), inside);
        }
        for file in ["pki/tls/cert.pem", "pki/ca-trust/extracted/pem/tls-ca-bundle.pem"] {
            assert_eq!(fs::read_to_string(to.path().join(file)).unwrap(), "roots");
        }
    }

    #[test]
    fn the_digest_follows_a_change_at_any_depth() {
        let etc = tempfile::tempdir().unwrap();
        let deep = etc.path().join("ssl/certs/inner");
        fs::create_dir_all(&deep).unwrap();
        let mut seen = vec![digest(etc.path(), &names())];
        assert_eq!(seen[0], digest(etc.path(), &names()));
        let mut changed = |path: PathBuf, text: &str| {
            fs::write(path, text).unwrap();
            let now = digest(etc.path(), &names());
            assert!(!seen.contains(&now), "{text}");
            seen.push(now);
        };
        changed(etc.path().join("hosts"), "a");
        changed(etc.path().join("hosts"), "ab");
        changed(deep.join("ca.pem"), "a");
        changed(deep.join("ca.pem"), "ab");
        symlink("ca.pem", deep.join("link")).unwrap();
        assert!(!seen.contains(&digest(etc.path(), &names())));
    }

    #[test]
    fn of_alternatives_there_are_the_links_and_a_new_one_changes_the_digest() {
        let (etc, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let alternatives = etc.path().join(LINKS);
        fs::create_dir_all(alternatives.join("folder")).unwrap();
        fs::write(alternatives.join("README"), "text").unwrap();
        let before = digest(etc.path(), &names());
        symlink("/usr/bin/mawk", alternatives.join("awk")).unwrap();
        assert_ne!(before, digest(etc.path(), &names()));
        build(etc.path(), to.path(), &names()).unwrap();
        let copied: Vec<_> = fs::read_dir(to.path().join(LINKS)).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(copied, ["awk"]);
    }
}
