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
    of_record(folder, &place().ok_or(ErrorKind::NotFound)?)
}

/// Where the links lead that are followed in any folder: a step can write there.
pub fn all_targets() -> Vec<PathBuf> {
    let list = place().and_then(|place| fs::read_dir(place).ok());
    let records = list.into_iter().flatten().flatten().filter_map(|entry| read(&entry.path()).ok().flatten());
    let targets = records.flat_map(|Record { folder, links }| {
        let target = move |(name, to): (String, String)| target(Path::new(&folder), &name, &to);
        links.into_iter().map(target)
    });
    targets.collect()
}

fn place() -> Option<PathBuf> {
    private::data().into_iter().next().map(|data| data.join(private::AGENTS))
}

fn of_record(folder: &Path, place: &Path) -> io::Result<Inner> {
    // In this order: where nothing is written down yet, no step has run when the links were listed.
    let there = list(folder);
    let mut hash = DefaultHasher::new();
    folder.hash(&mut hash);
    let at = place.join(format!("{:016x}.json", hash.finish()));
    let record = match read(&at)? {
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
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
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
        let (folder, place) = (home.join(".claude"), data.path().join("agents"));
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
        // One that cannot be read opens nothing.
        fs::write(&second.record, "x").unwrap();
        assert!(of_record(&folder, &place).is_err());
    }
}
