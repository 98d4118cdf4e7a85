//! The prepared /etc: a folder of kusaw's own with copies of what programs need (names, certificates,
//! alternatives, locale), bound read-only as one mount. It is built aside and renamed, so that parallel
//! attempts never see half of it, and lies where no step can write. Secrets of /etc are never copied.

mod names;
mod source;

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::reach::{self, Reach};
use names::Names;
use source::{build, digest};

/// An empty folder inside the prepared one, to lay over other folders.
pub const EMPTY: &str = "empty";

/// After it, a folder that nobody uses is removed; one that is wanted again is built again.
const UNUSED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A prepared folder. Nobody removes it as long as this value lives.
#[derive(Debug)]
pub struct Etc {
    /// Where it is.
    pub path: PathBuf,
    /// Shared flock(2) on it.
    _lock: File,
}

/// The prepared folder for this user and the present state of /etc.
pub fn prepare(reach: &Reach) -> io::Result<Etc> {
    let names = Names::of(&reach.home);
    let name = format!("{PREFIX}{:016x}", digest(Path::new("/etc"), &names));
    let inner: Vec<&Path> = reach.read.iter().chain(&reach.write).filter_map(|p| p.strip_prefix("/etc").ok()).collect();
    if inner.iter().any(|path| *path != Path::new("")) {
        // What is shown in it needs mount points: build it for this attempt alone.
        let etc = within(&reach.temp.root, &name, &names)?;
        inner.into_iter().try_for_each(|path| mount_point(&etc.path, path))?;
        return Ok(etc);
    }
    // A home that cannot be written: build it for this attempt alone.
    let prepared = cache().and_then(|cache| within(&cache, &name, &names).ok());
    prepared.map_or_else(|| within(&reach.temp.root, &name, &names), Ok)
}

/// Where [`prepare`] would have it; nothing is made.
pub fn planned(reach: &Reach) -> PathBuf {
    let name = format!("{PREFIX}{:016x}", digest(Path::new("/etc"), &Names::of(&reach.home)));
    let is_inner = |path: &PathBuf| path.strip_prefix("/etc").is_ok_and(|below| below != Path::new(""));
    let apart = reach.read.iter().chain(&reach.write).any(is_inner);
    let cache = cache().filter(|_| !apart).map(|cache| cache.canonicalize().unwrap_or(cache));
    cache.unwrap_or_else(|| reach.temp.root.clone()).join(name)
}

/// Makes the place for `path` of /etc, which has no link in it, if it is not there yet.
fn mount_point(etc: &Path, path: &Path) -> io::Result<()> {
    let mut names: Vec<&Path> = path.ancestors().filter(|part| *part != Path::new("")).collect();
    names.reverse();
    for name in names {
        let place = etc.join(name);
        match fs::symlink_metadata(&place) {
            Ok(meta) if meta.is_symlink() => return Err(io::Error::other(format!("{} is a link", place.display()))),
            Ok(_) => {}
            Err(_) if Path::new("/etc").join(name).is_dir() => fs::create_dir(&place)?,
            Err(_) => drop(File::create_new(&place)?),
        }
    }
    Ok(())
}

const PREFIX: &str = "etc-";

/// Until they have their name, or once they have lost it.
const PREFIX_ASIDE: &str = ".etc-";

/// `${XDG_CACHE_HOME:-~/.cache}/kusaw`.
fn cache() -> Option<PathBuf> {
    Some(reach::base("XDG_CACHE_HOME", ".cache")?.join("kusaw"))
}

fn within(folder: &Path, name: &str, names: &Names) -> io::Result<Etc> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let folder = folder.canonicalize()?;
    let ready = folder.join(name);
    loop {
        if let Some(etc) = take(&ready)? {
            return Ok(etc);
        }
        // Rarely: when this user or this machine is new here, or /etc has changed.
        sweep(&folder);
        let aside = tempfile::Builder::new().prefix(PREFIX_ASIDE).tempdir_in(&folder)?;
        build(Path::new("/etc"), aside.path(), names)?;
        fs::set_permissions(aside.path(), Permissions::from_mode(0o755))?;
        match fs::rename(aside.path(), &ready) {
            Ok(()) => drop(aside.keep()),
            // Another attempt was faster: its copy is as good.
            Err(_) if own(&ready)? => {}
            Err(e) => return Err(e),
        }
    }
}

/// Locks the folder at `ready`, if there is one and it is still there then.
fn take(ready: &Path) -> io::Result<Option<Etc>> {
    if !own(ready)? {
        return Ok(None);
    }
    let folder = match File::open(ready) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    // A file system without locks cannot give one to `sweep` either.
    let _ = folder.lock_shared();
    let locked = folder.metadata()?;
    let there = fs::symlink_metadata(ready).is_ok_and(|m| (m.dev(), m.ino()) == (locked.dev(), locked.ino()));
    Ok(there.then(|| Etc { path: ready.into(), _lock: folder }))
}

/// Removes old folders that nobody holds. Each loses its name first, all at once: half of one is never found.
fn sweep(folder: &Path) {
    let Ok(list) = fs::read_dir(folder) else { return };
    for entry in list.flatten() {
        let name = entry.file_name();
        let ours = [PREFIX, PREFIX_ASIDE].iter().any(|p| name.as_encoded_bytes().starts_with(p.as_bytes()));
        let old = |meta: fs::Metadata| meta.is_dir() && meta.modified().is_ok_and(is_old);
        if ours && entry.metadata().is_ok_and(old) && own(&entry.path()).unwrap_or(false) {
            let _ = remove(folder, &entry.path());
        }
    }
}

fn is_old(at: std::time::SystemTime) -> bool {
    at.elapsed().is_ok_and(|age| age > UNUSED)
}

fn remove(folder: &Path, old: &Path) -> io::Result<()> {
    let held = File::open(old)?;
    held.try_lock()?;
    let aside = tempfile::Builder::new().prefix(PREFIX_ASIDE).tempdir_in(folder)?;
    fs::rename(old, aside.path())?;
    aside.close()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names { passwd: "p".into(), group: "g".into() }
    }

    #[test]
    fn old_folders_that_nobody_uses_are_removed() {
        let cache = tempfile::tempdir().unwrap();
        let old = std::time::SystemTime::now() - 2 * UNUSED;
        let age = |path: &Path| File::open(path).unwrap().set_modified(old).unwrap();
        let held = within(cache.path(), "etc-held", &names()).unwrap();
        let left = within(cache.path(), "etc-left", &names()).unwrap().path;
        let young = within(cache.path(), "etc-young", &names()).unwrap().path;
        let other = cache.path().join("other");
        fs::create_dir(&other).unwrap();
        [&held.path, &left, &other].into_iter().for_each(|path| age(path));
        let new = within(cache.path(), "etc-new", &names()).unwrap().path;
        assert!(!left.exists());
        assert!(held.path.join("passwd").exists() && young.exists() && other.exists() && new.exists());
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 4);
    }

    #[test]
    fn many_at_once_end_with_one_folder() {
        let cache = tempfile::tempdir().unwrap();
        let paths: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| within(cache.path(), "etc-x", &names()).unwrap().path)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(paths.iter().all(|p| *p == paths[0] && p.join("passwd").exists()));
        assert_eq!(fs::read_dir(cache.path()).unwrap().count(), 1);
    }
}
