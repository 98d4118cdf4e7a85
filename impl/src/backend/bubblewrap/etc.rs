//! The prepared /etc: a folder of kusaw's own with copies of what programs need (names, certificates,
//! alternatives, locale), bound read-only as one mount. It is built aside and renamed, so that parallel
//! attempts never see half of it, and lies where no step can write. Secrets of /etc are never copied.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, DirBuilder, Permissions};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use crate::attempt::temp;
use crate::reach::Reach;

/// An empty folder inside the prepared one, to lay over other folders.
pub const EMPTY: &str = "empty";

/// Counts up when what is copied changes.
const FORMAT: u32 = 1;

/// What is copied, files and folders alike, where it exists. Not: shadow, ssh, sudoers, machine-id,
/// hostname, ssl/private.
const WANTED: &[&str] = &[
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
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

/// Limits that no real /etc comes near.
const MAX_FILE: u64 = 8 << 20;
const MAX_DEPTH: usize = 8;

/// The prepared folder for this user and the present state of /etc.
pub fn prepare(reach: &Reach) -> io::Result<PathBuf> {
    let passwd = Names::of(&reach.home);
    let name = format!("etc-{:016x}", digest(Path::new("/etc"), &passwd));
    match cache() {
        Some(cache) => match within(&cache, &name, &passwd) {
            Ok(path) => Ok(path),
            // A home that cannot be written: build it for this attempt alone.
            Err(_) => within(&reach.temp.root, &name, &passwd),
        },
        None => within(&reach.temp.root, &name, &passwd),
    }
}

/// `${XDG_CACHE_HOME:-~/.cache}/kusaw`.
fn cache() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|h| h.join(".cache")))?;
    Some(base.join("kusaw"))
}

fn within(folder: &Path, name: &str, names: &Names) -> io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let folder = folder.canonicalize()?;
    let ready = folder.join(name);
    if own(&ready)? {
        return Ok(ready);
    }
    let aside = tempfile::Builder::new().prefix(".etc-").tempdir_in(&folder)?;
    build(Path::new("/etc"), aside.path(), names)?;
    fs::set_permissions(aside.path(), Permissions::from_mode(0o755))?;
    let aside = aside.keep();
    if let Err(e) = fs::rename(&aside, &ready) {
        // Another attempt was faster: its copy is as good.
        temp::remove(&aside)?;
        if !own(&ready)? {
            return Err(e);
        }
    }
    Ok(ready)
}

/// Whether `path` is a real folder that only this user could have made.
fn own(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() && meta.uid() == nix::unistd::geteuid().as_raw() && meta.mode() & 0o022 == 0 => {
            Ok(true)
        }
        Ok(_) => Err(io::Error::other(format!("{} is not this user's own folder", path.display()))),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}

fn build(etc: &Path, to: &Path, names: &Names) -> io::Result<()> {
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

/// Copies what can be read; what cannot is left out, as it would be unreadable for the step too.
fn copy(etc: &Path, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
    let Ok(meta) = fs::symlink_metadata(from) else { return Ok(()) };
    if meta.is_symlink() {
        let target = fs::read_link(from)?;
        let real = plain(&from.parent().unwrap_or(etc).join(&target));
        if real.starts_with("/usr") || (real.starts_with(etc) && depth > 0) {
            return symlink(target, to);
        }
        // Leads elsewhere, such as resolv.conf into /run: take the contents.
        return match fs::metadata(from) {
            Ok(meta) if meta.is_file() => copy_file(from, to, meta.len()),
            _ => Ok(()),
        };
    }
    if meta.is_file() {
        return copy_file(from, to, meta.len());
    }
    if meta.is_dir() && depth < MAX_DEPTH {
        fs::create_dir_all(to)?;
        let Ok(list) = fs::read_dir(from) else { return Ok(()) };
        for entry in list.flatten() {
            copy(etc, &entry.path(), &to.join(entry.file_name()), depth + 1)?;
        }
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path, length: u64) -> io::Result<()> {
    if length > MAX_FILE {
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

/// Changes when any source changes: files by size and time, folders by their time (entries come and go
/// by rename), and what a link into /run leads to.
fn digest(etc: &Path, names: &Names) -> u64 {
    let mut hash = DefaultHasher::new();
    (FORMAT, &names.passwd, &names.group).hash(&mut hash);
    for wanted in WANTED {
        let path = etc.join(wanted);
        for meta in [fs::symlink_metadata(&path), fs::metadata(&path)].into_iter().flatten() {
            (meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec()).hash(&mut hash);
        }
    }
    hash.finish()
}

/// Users and groups: root, nobody, and the one user there is inside.
struct Names {
    passwd: String,
    group: String,
}

impl Names {
    fn of(home: &Path) -> Names {
        let (uid, gid) = (nix::unistd::geteuid(), nix::unistd::getegid());
        let user = own_name(uid.as_raw()).unwrap_or_else(|| "user".into());
        let home = home.display().to_string().replace([':', '\n'], "_");
        let mut passwd =
            "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n".to_string();
        let mut group = "root:x:0:\nnogroup:x:65534:\n".to_string();
        if uid.is_root() {
            passwd = passwd.replace(":/root:", &format!(":{home}:"));
        } else {
            passwd += &format!("{user}:x:{uid}:{gid}::{home}:/bin/sh\n");
        }
        if gid.as_raw() != 0 && gid.as_raw() != 65534 {
            group += &format!("{user}:x:{gid}:\n");
        }
        Names { passwd, group }
    }
}

/// The user's name from /etc/passwd, or what the login said. Not through getpwuid: for a name that is only
/// shown, it would load the system's name services, which cost as much as the whole launch.
fn own_name(uid: u32) -> Option<String> {
    let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let mut rows = passwd.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let row = rows.find(|row| row.get(2).is_some_and(|id| id.parse() == Ok(uid)));
    let name = row.map(|row| row[0].to_string()).or_else(|| std::env::var("LOGNAME").ok());
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.filter(|n| !n.is_empty() && n.len() <= 64 && n.chars().all(plain))
}

#[cfg(test)]
mod tests {
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
    fn the_digest_follows_a_change() {
        let etc = tempfile::tempdir().unwrap();
        fs::write(etc.path().join("hosts"), "a").unwrap();
        let before = digest(etc.path(), &names());
        assert_eq!(before, digest(etc.path(), &names()));
        fs::write(etc.path().join("hosts"), "ab").unwrap();
        assert_ne!(before, digest(etc.path(), &names()));
    }

    #[test]
    fn many_at_once_end_with_one_folder() {
        let cache = tempfile::tempdir().unwrap();
        let paths: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| within(cache.path(), "etc-x", &names()).unwrap())).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(paths.iter().all(|p| *p == paths[0] && p.join("passwd").exists()));
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }
}
