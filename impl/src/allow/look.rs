//! Looks for what cannot be seen in a path's name: sockets, which a read-only mount does not close, checkouts, and other
//! factories. It follows no link, opens nothing but folders, and ends after so many names.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::settings;

/// Looks into folders, into each once, until it has seen so many names.
#[derive(Debug)]
pub struct Look {
    /// Names, all together and in one place: a step can fill the one it has, and no other is to go unseen for that.
    left: usize,
    each: usize,
    /// Levels below the folder itself.
    depth: usize,
    /// There were more names.
    pub stopped: bool,
    seen: HashMap<PathBuf, Rc<Found>>,
}

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Pathname sockets.
    pub sockets: Vec<PathBuf>,
    /// Folders that are checkouts.
    pub checkouts: Vec<PathBuf>,
    /// Folders with settings.
    pub factories: Vec<PathBuf>,
}

impl Look {
    /// For a launch: no more than takes a few milliseconds.
    pub fn at_launch() -> Look {
        Look::new(20_000, 2_000, 1)
    }

    /// For `validate`: all entries together.
    pub fn to_validate() -> Look {
        Look::new(200_000, 200_000, usize::MAX)
    }

    fn new(left: usize, each: usize, depth: usize) -> Look {
        Look { left, each, depth, stopped: false, seen: HashMap::new() }
    }

    /// At the folder `place`; what cannot be listed is left out.
    pub fn at(&mut self, place: &Path) -> Rc<Found> {
        if let Some(found) = self.seen.get(place) {
            return found.clone();
        }
        let found = Rc::new(self.find(place));
        self.seen.insert(place.into(), found.clone());
        found
    }

    fn find(&mut self, place: &Path) -> Found {
        let mut found = Found::default();
        let mut of_place = self.each;
        let mut ahead = VecDeque::from([(place.to_path_buf(), self.depth)]);
        while let Some((folder, depth)) = ahead.pop_front() {
            let Ok(list) = fs::read_dir(&folder) else { continue };
            for entry in list.flatten() {
                if self.left.min(of_place) == 0 {
                    self.stopped = true;
                    return found;
                }
                self.left -= 1;
                of_place -= 1;
                let Ok(kind) = entry.file_type() else { continue };
                let name = entry.file_name();
                if kind.is_socket() {
                    found.sockets.push(entry.path());
                } else if name == ".git" {
                    found.checkouts.push(folder.clone());
                } else if name == settings::FILE && entry.path().is_file() {
                    found.factories.push(folder.clone());
                } else if kind.is_dir() && depth > 0 {
                    ahead.push_back((entry.path(), depth - 1));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_is_looked_for_is_found_and_the_look_ends() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/b/.git")).unwrap();
        fs::create_dir_all(at("c/kusaw.yaml")).unwrap();
        fs::write(at("a/kusaw.yaml"), "").unwrap();
        let _kept = [at("s"), at("a/b/t")].map(|path| UnixListener::bind(path).unwrap());
        let launch = Look::at_launch().at(folder.path());
        assert_eq!((&launch.sockets, &launch.factories), (&vec![at("s")], &vec![at("a")]));
        assert!(launch.checkouts.is_empty());
        let all = Look::to_validate().at(folder.path());
        assert_eq!((all.sockets.len(), &all.checkouts), (2, &vec![at("a/b")]));
        let mut short = Look::new(1, 1, usize::MAX);
        short.at(folder.path());
        assert!(short.stopped);
    }
    #[test]
    fn a_place_that_is_full_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        ["full", "other/f"].iter().for_each(|name| fs::create_dir_all(at(name)).unwrap());
        (0..2_500).for_each(|n| drop(fs::File::create(at(&format!("full/{n}"))).unwrap()));
        fs::write(at("other/f/kusaw.yaml"), "").unwrap();
        let mut look = Look::at_launch();
        look.at(&at("full"));
        assert!(look.stopped);
        assert_eq!(look.at(&at("other")).factories, [at("other/f")]);
    }
}
