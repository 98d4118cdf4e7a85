//! A repository's git folder at one moment, path by path, and what of it a step must leave alone: judged by looking at files
//! alone, so that nothing that a step has left there is parsed or run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What of a git folder is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// `config` and `hooks/`, of the repository and of each worktree: they name and are programs that git runs.
    Control,
    /// What leads git to them, or stands beside them: see gitrepository-layout(5).
    Related,
    /// What other worktrees, the user's own among them, have to themselves.
    Others,
    /// All but what a commit on the attempt's own branch adds.
    All,
}

/// Every entry of a git folder, by its path in it.
#[derive(Clone, Debug, Default)]
pub struct GitFolder {
    entries: BTreeMap<PathBuf, Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    /// Mode; the inode of the git folder itself, which can be moved away and built anew.
    Folder(u32, u64),
    File(u32, Content),
    Link(PathBuf),
    /// A pipe, a socket, a device.
    Special(u32),
}

/// What a file holds; of a large one size and inode: it is an object, and `git fsck` looks into it. Its time of change says
/// nothing, because git freshens what it writes once more.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Bytes(Vec<u8>),
    Large(u64, u64),
}

const LARGE: u64 = 64 << 10;

impl GitFolder {
    /// Looks at the git folder `at`; no link is followed, nothing but regular files is opened.
    pub fn of(at: &Path) -> GitFolder {
        let mut folder = GitFolder::default();
        let mut paths = vec![at.to_owned()];
        while let Some(path) = paths.pop() {
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            if meta.is_dir() {
                paths.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            }
            let own = path.strip_prefix(at).unwrap_or(&path).to_owned();
            folder.entries.insert(own, Entry::of(&path, &meta, path == at));
        }
        folder
    }

    /// The admin folders of its worktrees that are not in `earlier`.
    pub fn new_worktrees(&self, earlier: &GitFolder) -> Vec<PathBuf> {
        let is_admin = |path: &&PathBuf| path.starts_with("worktrees") && path.components().count() == 2;
        self.entries.keys().filter(is_admin).filter(|path| !earlier.entries.contains_key(*path)).cloned().collect()
    }

    /// What a part of it is not any more in `later`, in words; `own` is the word that the attempt's own branches have in
    /// their names, `worktrees` where its worktrees are.
    pub fn differences(&self, later: &GitFolder, part: Part, own: &str, worktrees: &[PathBuf]) -> Vec<String> {
        let admins = later.new_worktrees(self);
        let is_own = |path: &Path| admins.iter().any(|admin| path.starts_with(admin));
        let mut paths: Vec<&PathBuf> = self.entries.keys().chain(later.entries.keys()).collect();
        paths.sort();
        paths.dedup();
        let mut told = Vec::new();
        for path in paths {
            let (before, now) = (self.entries.get(path), later.entries.get(path));
            let concerned = part == Part::All || part_of(path, is_own(path)) == Some(part);
            if before == now || !concerned {
                continue;
            }
            let fine = match (before, now) {
                (None, Some(new)) if is_own(path) => self.is_new_worktrees(path, new, worktrees),
                (None, Some(new)) => part == Part::All && is_added(path, new, own),
                (Some(Entry::Folder(..)), Some(Entry::Folder(..))) => !path.as_os_str().is_empty() && part == Part::All,
                _ => false,
            };
            if !fine {
                let what = if before.is_none() {
                    "new"
                } else if now.is_none() {
                    "gone"
                } else {
                    "other"
                };
                told.push(format!("{what}: {}", path.display()));
            }
        }
        told
    }

    /// Whether it is what `git worktree add` and work in the worktree put there.
    fn is_new_worktrees(&self, path: &Path, new: &Entry, worktrees: &[PathBuf]) -> bool {
        let name = path.components().nth(2).map(|name| name.as_os_str().to_string_lossy().into_owned());
        let holds = |text: &str| matches!(new, Entry::File(_, Content::Bytes(bytes)) if bytes == text.as_bytes());
        match name.as_deref() {
            Some("commondir") => holds("../..\n"),
            Some("gitdir") => worktrees.iter().any(|at| holds(&format!("{}/.git\n", at.display()))),
            Some("config.worktree") => holds("") || Some(new) == self.entries.get(Path::new("config.worktree")),
            Some("config" | "hooks" | "info" | "objects") => false,
            _ => matches!(new, Entry::Folder(..) | Entry::File(..)),
        }
    }

    /// The same without what attempts that run have there: new worktrees, and branches with `own` in their names.
    #[must_use]
    pub fn without_attempts(mut self, earlier: &GitFolder, own: &str) -> GitFolder {
        let admins = self.new_worktrees(earlier);
        let is_own = |path: &Path| path.iter().any(|name| name.to_string_lossy().contains(own));
        self.entries.retain(|path, _| !is_own(path) && !admins.iter().any(|admin| path.starts_with(admin)));
        self
    }
}

impl Entry {
    fn of(path: &Path, meta: &fs::Metadata, is_root: bool) -> Entry {
        let kind = meta.file_type();
        if kind.is_dir() {
            return Entry::Folder(meta.mode(), if is_root { meta.ino() } else { 0 });
        }
        if kind.is_symlink() {
            return Entry::Link(fs::read_link(path).unwrap_or_default());
        }
        if kind.is_fifo() || !kind.is_file() {
            return Entry::Special(meta.mode());
        }
        let large = Content::Large(meta.len(), meta.ino());
        let read = || fs::read(path).map_or(large.clone(), Content::Bytes);
        Entry::File(meta.mode(), if meta.len() > LARGE { large.clone() } else { read() })
    }
}

/// The part that a path belongs to, if its content is more than what commits add.
fn part_of(path: &Path, is_own: bool) -> Option<Part> {
    let names: Vec<String> = path.components().map(|c| c.as_os_str().to_string_lossy().into_owned()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match names.as_slice() {
        ["config" | "hooks", ..] | ["worktrees", _, "config" | "hooks", ..] => Some(Part::Control),
        [] => Some(Part::Related),
        ["config.worktree" | "info" | "commondir" | "gitdir" | "HEAD" | "description" | "shallow" | "modules", ..]
        | ["objects", "info", "alternates" | "http-alternates", ..]
        | ["worktrees", _, "config.worktree" | "info" | "commondir" | "gitdir", ..] => Some(Part::Related),
        ["worktrees", _, ..] if !is_own => Some(Part::Others),
        ["index" | "ORIG_HEAD"] | ["logs", "HEAD"] => Some(Part::Others),
        _ => None,
    }
}

/// Whether a new entry is one of those that a commit on an attempt's own branch adds.
fn is_added(path: &Path, new: &Entry, own: &str) -> bool {
    let below = |name: &str| path.starts_with(name);
    // What borrows objects, and what keeps a pack from the user's gc.
    let ends = |end: &str| path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(end));
    let is_odd = path.iter().any(|name| name.to_string_lossy().starts_with('-') || !name.as_encoded_bytes().is_ascii());
    let named = !is_odd && path.iter().any(|name| name.to_string_lossy().contains(own));
    match new {
        Entry::Folder(..) => ["refs", "logs", "objects", "worktrees"].into_iter().any(below),
        Entry::File(..) => {
            (below("objects") && !ends("alternates") && !ends(".keep")) || ((below("refs") || below("logs")) && named)
        }
        Entry::Link(_) | Entry::Special(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of each part after a change in a small git folder.
    fn told(change: impl Fn(&Path)) -> [usize; 4] {
        let at = tempfile();
        for (path, text) in [("config", "[core]\n"), ("HEAD", "ref: refs/heads/main\n"), ("refs/heads/main", "1\n")] {
            put(&at.join(path), text);
        }
        put(&at.join("worktrees/user/HEAD"), "ref: refs/heads/user\n");
        let before = GitFolder::of(&at);
        change(&at);
        let later = GitFolder::of(&at);
        let count = |part| before.differences(&later, part, "a1", &["/w".into()]).len();
        let counts = [Part::Control, Part::Related, Part::Others, Part::All].map(count);
        fs::remove_dir_all(&at).unwrap();
        counts
    }

    fn tempfile() -> PathBuf {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let own = NEXT.fetch_add(1, Ordering::Relaxed);
        std::env::temp_dir().join(format!("kusaw-git-folder-{}-{own}", std::process::id()))
    }

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn what_a_commit_adds_is_no_difference() {
        let commit = |at: &Path| {
            for path in ["objects/ab/cd", "refs/heads/kusaw/a1/main", "logs/refs/heads/kusaw/a1/main"] {
                put(&at.join(path), "2\n");
            }
            put(&at.join("worktrees/demo/HEAD"), "ref: refs/heads/kusaw/a1/main\n");
            put(&at.join("worktrees/demo/gitdir"), "/w/.git\n");
            put(&at.join("worktrees/demo/commondir"), "../..\n");
        };
        assert_eq!(told(commit), [0, 0, 0, 0]);
    }

    #[test]
    fn each_part_has_its_own() {
        for (path, expected) in [
            ("config", [1, 0, 0, 1]),
            ("hooks/pre-commit", [2, 0, 0, 2]),
            ("worktrees/demo/config", [1, 0, 0, 1]),
            ("worktrees/demo/gitdir", [0, 1, 0, 1]),
            ("worktrees/user/gitdir", [0, 1, 0, 1]),
            ("commondir", [0, 1, 0, 1]),
            ("objects/info/alternates", [0, 1, 0, 1]),
            ("worktrees/user/HEAD", [0, 0, 1, 1]),
            ("index", [0, 0, 1, 1]),
            ("refs/heads/main", [0, 0, 0, 1]),
            ("refs/tags/t", [0, 0, 0, 1]),
            ("packed-refs", [0, 0, 0, 1]),
            ("objects/pack/pack-1.keep", [0, 0, 0, 1]),
            ("refs/heads/kusaw/a1/-x", [0, 0, 0, 1]),
        ] {
            assert_eq!(told(|at| put(&at.join(path), "evil\n")), expected, "{path}");
        }
    }

    #[test]
    fn a_git_folder_that_was_built_anew_is_another() {
        let anew = |at: &Path| {
            let aside = at.with_extension("aside");
            fs::rename(at, &aside).unwrap();
            for path in ["config", "HEAD", "refs/heads/main", "worktrees/user/HEAD"] {
                put(&at.join(path), &fs::read_to_string(aside.join(path)).unwrap());
            }
            fs::remove_dir_all(&aside).unwrap();
        };
        assert_eq!(told(anew), [0, 1, 0, 1]);
    }
}
