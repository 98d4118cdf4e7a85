//! What is to be said about one entry by itself: the real place it leads to, or why it is refused. Pure; the facts of the
//! host are plain values, read in `host`.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::entry::{Entry, Kind};
use super::guard::Guard;
use super::walk::{Walk, What};
use crate::git::worktree;
use crate::outcome::{Reason, Refusal};
use crate::stderr::one_line;

/// Private temp folders of attempts begin with this.
const TEMP_PREFIX: &[u8] = b"kusaw-";

/// An entry and where it leads.
#[derive(Debug, Clone)]
pub struct Asked {
    /// As written.
    pub entry: Entry,
    /// The way to it.
    pub walk: Rc<Walk>,
}

impl Asked {
    /// Whether it is exchanged, and not mounted.
    pub fn is_file_of_state(&self) -> bool {
        self.entry.kind == Kind::State && self.walk.end.as_ref().is_ok_and(|end| end.what == What::File)
    }
}

/// Facts of the host. All paths are real.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Protected places.
    pub guards: Vec<Guard>,
    /// What any step of the settings can write through `allow_write`.
    pub writable: HashSet<PathBuf>,
    /// The folders of attempts, of this factory and of others.
    pub attempts: HashSet<PathBuf>,
    /// Where private temp folders lie.
    pub temp: PathBuf,
    /// Below /usr, but not shown with it.
    pub hidden: Vec<PathBuf>,
    /// Protected folders, to lay something empty over.
    pub hide: Vec<PathBuf>,
    /// Whether root asks.
    pub is_root: bool,
    /// The user's home.
    pub home: Option<PathBuf>,
}

/// An entry by itself, without the others.
pub enum Alone {
    /// At this real path.
    At(PathBuf),
    /// The way leads through the first, which lies below the second, which a step can write.
    Loose(PathBuf, PathBuf),
}

impl Facts {
    /// Where an entry is, if by itself nothing is to be said against it.
    pub fn place(&self, asked: &Asked) -> Option<PathBuf> {
        match self.alone(asked) {
            Ok(Alone::At(path)) => Some(path),
            _ => None,
        }
    }

    /// Without the other entries of its attempt.
    pub fn alone(&self, asked: &Asked) -> Result<Alone, Refused> {
        let Asked { entry, walk } = asked;
        // First: what lies behind such a place is a step's choice.
        if let Some((place, outer)) = self.loose(walk) {
            return Ok(Alone::Loose(place, outer));
        }
        let kernel = |place: &PathBuf| ["/proc", "/dev"].iter().any(|k| place.starts_with(k));
        if walk.places.iter().any(kernel) {
            let why = "/proc and /dev are the sandbox's own, and devices cannot be opened through a mount";
            return Err(Refused::new(Reason::UnmountablePath, why, "name a file or folder elsewhere"));
        }
        let end = match &walk.end {
            Ok(end) => end,
            Err(errno) => {
                let (why, fix) = match walk.places.last() {
                    Some(place) => (format!("{}: {errno}", place.display()), Reason::UnresolvedPath.fix()),
                    None => ("HOME is not set to an absolute path".into(), worktree::SET_HOME),
                };
                return Err(Refused::new(Reason::UnresolvedPath, why, fix));
            }
        };
        self.forbids(entry.kind, &end.path, end.what).map_or_else(|| Ok(Alone::At(end.path.clone())), Err)
    }

    fn forbids(&self, kind: Kind, path: &Path, what: What) -> Option<Refused> {
        let told = |reason, why: &str, fix: &str| Some(Refused::new(reason, why, fix));
        if path == Path::new("/") {
            return told(Reason::ProtectedPath, "it is the whole machine", "name the folders that the step needs");
        }
        let inner = path.strip_prefix(&self.temp).ok().and_then(|inner| inner.components().next());
        if inner.is_some_and(|name| name.as_os_str().as_encoded_bytes().starts_with(TEMP_PREFIX)) {
            return told(Reason::ProtectedPath, "it lies in an attempt's private temp folder", "remove the entry");
        }
        if let Some((why, fix)) = self.guards.iter().find_map(|guard| guard.refuses(kind, path)) {
            return Some(Refused::new(Reason::ProtectedPath, why, fix));
        }
        let (why, fix) = match what {
            What::Device => ("devices cannot be opened through a mount", "name a file or folder"),
            _ if path == Path::new("/tmp") => ("/tmp inside is the attempt's own", "name a folder in it, or elsewhere"),
            _ if path.starts_with("/sys") && kind >= Kind::Write => {
                ("what is written in /sys changes the machine", "name it in allow_read")
            }
            _ => return None,
        };
        told(Reason::UnmountablePath, why, fix)
    }

    /// The first place on the way that lies below one that a step can write, and that one.
    pub fn loose(&self, walk: &Walk) -> Option<(PathBuf, PathBuf)> {
        walk.places.iter().find_map(|place| Some((place.clone(), self.outer(place)?)))
    }

    fn outer(&self, place: &Path) -> Option<PathBuf> {
        place.ancestors().skip(1).find_map(|above| match self.writable.contains(above) {
            true => Some(above.into()),
            false => self.attempts.contains(above).then(|| of_attempt(above, place))?,
        })
    }
}

/// What a step can write on the way from a folder of attempts: ATTEMPT/artifacts, or ATTEMPT/worktrees/REPO.
fn of_attempt(attempts: &Path, place: &Path) -> Option<PathBuf> {
    let mut names = place.strip_prefix(attempts).ok()?.components();
    let (attempt, part) = (names.next()?, names.next()?);
    let mut outer = attempts.join(attempt).join(part);
    if part.as_os_str() == "worktrees" {
        outer.push(names.next()?);
    }
    names.next().map(|_| outer)
}

/// Why an entry is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The typed reason.
    pub reason: Reason,
    /// What is the matter.
    pub why: String,
    /// What to do instead.
    pub fix: String,
}

impl Refused {
    /// A refusal, what is the matter, and what to do instead: each on one line, whatever a step called its files.
    pub fn new(reason: Reason, why: impl Into<String>, fix: impl Into<String>) -> Refused {
        Refused { reason, why: one_line(&why.into()), fix: one_line(&fix.into()) }
    }

    /// The refusal of an attempt because of this entry.
    pub fn of(self, entry: &Entry) -> Refusal {
        let detail = format!("{}: {:?}: {}", entry.key, entry.written, self.why);
        Refusal { fix: Some(self.fix), ..Refusal::new(self.reason, detail) }
    }
}
