//! Links in an agent's state folder that lead out of it, as managers of dotfiles make them. A step can make links there as well, and
//! one to a key would open that to the next attempt. So only those are followed that were there, and led where they lead now, before
//! the first sandboxed attempt that had the folder: that is written down before it starts, where no step can write.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::private;

/// Most names that are looked at in a folder and in the folders in it.
const MOST: usize = 4_000;

/// Levels below the folder itself.
const DEPTH: usize = 1;

/// Links by their paths in the folder, and what stands in them.
type Links = BTreeMap<String, String>;

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    folder: String,
    links: Links,
}

/// What the links of a folder come to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Inner {
    /// Where those lead that are followed.
    pub targets: Vec<PathBuf>,
    /// Those that are not, and where they lead.
    pub later: Vec<(PathBuf, PathBuf)>,
    /// Where it is written down.
    pub record: PathBuf,
}

/// Of the real path of a folder; written down if it is not yet.
pub fn of(folder: &Path) -> io::Result<Inner> {
    of_record(folder, &places())
}

/// Where the links lead that are followed in any folder: a step can write there.
pub fn all_targets() -> Vec<PathBuf> {
    let lists = places().into_iter().filter_map(|place| fs::read_dir(place).ok());
    let records = lists.flatten().flatten().filter_map(|entry| read(&entry.path()).ok().flatten());
    let targets = records.flat_map(|Record { folder, links }| {
        let target = move |(name, to): (String, String)| target(Path::new(&folder), &name, &to);
        links.into_iter().map(target)
    });
    targets.collect()
}

/// Where records are. They are made in the first, which is that of the home, whatever XDG_DATA_HOME says: to another session of the
/// same user, which has it otherwise, a link that a step has left would be one that was always there.
fn places() -> Vec<PathBuf> {
    let of_home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".local/share/kusaw"));
    let mut data = private::data();
    data.sort_by_key(|data| Some(data) != of_home.as_ref());
    data.into_iter().map(|data| data.join(private::AGENTS)).collect()
}

fn of_record(folder: &Path, places: &[PathBuf]) -> io::Result<Inner> {
    // In this order: where nothing is written down yet, no step has run when the links were listed.
    let there = list(folder);
    let mut hash = DefaultHasher::new();
    folder.hash(&mut hash);
    let name = format!("{:016x}.json", hash.finish());
    let mut at = places.first().ok_or(ErrorKind::NotFound)?.join(&name);
    let mut found = None;
    for other in places.iter().map(|place| place.join(&name)) {
        match read(&other) {
            // A home of another name that this session cannot enter has none of ours.
            Err(e) if e.kind() == ErrorKind::PermissionDenied && other != at => {}
            read => found = read?,
        }
        if found.is_some() {
            at = other;
            break;
        }
    }
    let record = match found {
        Some(record) => record,
        None => write(&at, Record { folder: folder.to_string_lossy().into_owned(), links: there.clone() })?,
    };
    let is_own = Path::new(&record.folder) == folder;
    let mut inner = Inner { record: at, ..Inner::default() };
    for (name, to) in there {
        let target = target(folder, &name, &to);
        if target.starts_with(folder) {
            continue;
        }
        if is_own && record.links.get(&name) == Some(&to) {
            inner.targets.push(target);
        } else {
            inner.later.push((folder.join(name), target));
        }
    }
    inner.targets.sort();
    inner.targets.dedup();
    Ok(inner)
}

fn list(folder: &Path) -> Links {
    let (mut links, mut left) = (Links::new(), MOST);
    let mut ahead = VecDeque::from([(folder.to_path_buf(), DEPTH)]);
    while let Some((at, depth)) = ahead.pop_front() {
        for entry in fs::read_dir(&at).into_iter().flatten().flatten() {
            left = left.saturating_sub(1);
            if left == 0 {
                return links;
            }
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
            if kind.is_dir() && depth > 0 {
                ahead.push_back((path, depth - 1));
            } else if kind.is_symlink() {
                let name = path.strip_prefix(folder).ok().and_then(Path::to_str).map(str::to_string);
                let to = fs::read_link(&path).ok().and_then(|to| to.to_str().map(str::to_string));
                links.extend(name.zip(to));
            }
        }
    }
    links
}

/// Where a link leads: dots that it begins with are of its own folder, in whose path there is no link.
fn target(folder: &Path, name: &str, to: &str) -> PathBuf {
    let mut base = folder.join(name);
    base.pop();
    let mut rest = Path::new(to).components().peekable();
    while rest.next_if(|part| matches!(part, Component::ParentDir | Component::CurDir)).is_some_and(|part| {
        if part == Component::ParentDir {
            base.pop();
        }
        true
    }) {}
    base.join(rest.map(|part| part.as_os_str()).collect::<Vec<&OsStr>>().iter().collect::<PathBuf>())
}

fn read(at: &Path) -> io::Result<Option<Record>> {
    match fs::read(at) {
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        text => serde_json::from_slice(&text?).map(Some).map_err(io::Error::other),
    }
}

/// What stands there then: another attempt's, if that was quicker.
fn write(at: &Path, record: Record) -> io::Result<Record> {
    let place = at.parent().ok_or(ErrorKind::InvalidInput)?;
    DirBuilder::new().recursive(true).mode(0o700).create(place)?;
    let mut new = tempfile::NamedTempFile::new_in(place)?;
    serde_json::to_writer(&mut new, &record)?;
    new.flush()?;
    match new.persist_noclobber(at) {
        Ok(_) => Ok(record),
        Err(e) if e.error.kind() == ErrorKind::AlreadyExists => read(at)?.ok_or_else(|| ErrorKind::NotFound.into()),
        Err(e) => Err(e.error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_what_was_there_before_the_first_attempt_is_followed() {
        let (home, data) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let home = home.path().canonicalize().unwrap();
        let (folder, place) = (home.join(".claude"), [data.path().join("agents")]);
        fs::create_dir_all(folder.join("skills/deep/deeper")).unwrap();
        for (name, to) in [
            ("settings.json", "../dotfiles/settings.json"),
            ("skills/own", "../../dotfiles/./skills/own"),
            ("skills/deep/deeper/far", "/etc"),
            ("within", "skills/deep"),
            ("gone", "/nowhere"),
        ] {
            symlink(to, folder.join(name)).unwrap();
        }
        let first = of_record(&folder, &place).unwrap();
        let at = |name: &str| home.join(name);
        let followed = [PathBuf::from("/nowhere"), at("dotfiles/settings.json"), at("dotfiles/skills/own")];
        assert_eq!((first.targets.as_slice(), first.later.as_slice()), (&followed[..], &[][..]));
        // What a step might do.
        symlink("/home/x/.ssh", folder.join("planted")).unwrap();
        fs::remove_file(folder.join("settings.json")).unwrap();
        symlink("../.netrc", folder.join("settings.json")).unwrap();
        let second = of_record(&folder, &place).unwrap();
        assert_eq!(second.targets, [PathBuf::from("/nowhere"), at("dotfiles/skills/own")]);
        let planted = (folder.join("planted"), "/home/x/.ssh".into());
        assert_eq!(second.later, [planted, (folder.join("settings.json"), at(".netrc"))]);
        // A session that has its data elsewhere.
        let other = [data.path().join("other"), place[0].clone()];
        assert_eq!(of_record(&folder, &other).unwrap(), second);
        // One that cannot be read opens nothing.
        fs::write(&second.record, "x").unwrap();
        assert!(of_record(&folder, &place).is_err());
    }
}
