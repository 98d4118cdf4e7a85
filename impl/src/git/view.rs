//! What a step sees as the git folder: a private store, laid over the real one's path, that borrows the real objects read-only.
//! Control files are read-only copies in it, so nothing done inside, and nothing renamed outside, reaches the real ones.

use std::fs::{self, DirBuilder};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::command::Git;
use super::record::Record;
use super::refs::{self, Refs};
use super::store::Store;
use super::worktree::Worktree;
use super::{config, objects};
use crate::reach::Shown;

/// Where the real objects are inside; the repo's name and a number follow.
const OBJECTS: &str = "/run/kusaw/objects";

/// Of one control file, in bytes: more is left out, as is what is no file.
const MOST: u64 = 1 << 20;

/// The view of one worktree.
#[derive(Debug)]
pub struct View {
    /// What kusaw knows of it.
    pub record: Record,
    /// The private store, in place of the git folder.
    pub root: Shown,
    /// What lies over parts of it, in this order.
    pub parts: Vec<Shown>,
}

impl View {
    /// Makes the store of a worktree that no step has seen yet.
    ///
    /// # Errors
    /// What could not be read or made, in one line.
    pub fn make(worktree: &Worktree, attempt: &str, store: &Store) -> Result<View, String> {
        let Worktree { common, admin, .. } = worktree;
        let git = Git::of(common);
        let refs = Refs::of(&git)?;
        let branch = format!("refs/heads/{}", worktree.branch);
        let base = refs.id(&branch).ok_or_else(|| format!("git does not name its branch {branch}"))?;
        let word = |key: &str, default: &str| {
            config::last(&worktree.settings, key).map_or(default.into(), |v| String::from_utf8_lossy(v).to_lowercase())
        };
        let record = Record {
            version: Record::VERSION,
            attempt: attempt.into(),
            repo: worktree.repo.clone(),
            namespace: format!("refs/heads/kusaw/{attempt}/"),
            base: base.into(),
            common: common.clone(),
            admin: admin.clone(),
            worktree: worktree.at.clone(),
            objects: objects::all(common)?,
            format: word("extensions.objectformat", "sha1"),
            refs: word("extensions.refstorage", "files"),
            sign: worktree.sign.clone(),
        };
        let failed = |e: io::Error| format!("{}: {e}", store.root.display());
        fill(store, worktree, &record, &refs).map_err(failed)?;
        let is_pinned = |name: &str| store.pinned().join(name).exists();
        Ok(shown(store, record, &is_pinned))
    }

    /// As [`View::make`] would show it, of what can be seen before: no store is made, and refs are not read.
    ///
    /// # Errors
    /// What could not be read, in one line.
    pub fn planned(worktree: &Worktree, attempt: &str, store: &Store) -> Result<View, String> {
        let Worktree { repo, at, common, admin, .. } = worktree;
        let record = Record {
            version: Record::VERSION,
            attempt: attempt.into(),
            repo: repo.clone(),
            namespace: format!("refs/heads/kusaw/{attempt}/"),
            base: String::new(),
            common: common.clone(),
            admin: admin.clone(),
            worktree: at.clone(),
            objects: objects::all(common)?,
            format: String::new(),
            refs: String::new(),
            sign: None,
        };
        let is_pinned = |name: &str| name != "shallow" || common.join(name).is_file();
        Ok(shown(store, record, &is_pinned))
    }
}

/// The store: what is the step's, and what is pinned over it.
fn fill(store: &Store, worktree: &Worktree, record: &Record, refs: &Refs) -> io::Result<()> {
    let (git, pinned) = (store.git(), store.pinned());
    let name = record.admin.file_name().unwrap_or_default();
    private(&store.root)?;
    for folder in ["objects/info", "objects/pack", "refs/heads", "refs/tags", "logs", "hooks", "info", "worktrees"] {
        private(&git.join(folder))?;
    }
    private(&git.join("worktrees").join(name))?;
    [pinned.join("hooks"), pinned.join("info")].iter().try_for_each(|folder| private(folder))?;
    // Mount points, and what is found there by whoever looks at the store itself.
    for file in ["HEAD", "config", "config.worktree", "objects/info/alternates"] {
        fs::write(git.join(file), "")?;
    }
    let shown: String = (0..record.objects.len()).map(|n| format!("{}\n", objects_at(record, n).display())).collect();
    fs::write(pinned.join("alternates"), shown)?;
    fs::write(pinned.join("empty"), "")?;
    // What the import compares with.
    fs::write(pinned.join("packed-refs"), &refs.packed)?;
    fs::write(pinned.join("config"), config::file(&config::for_step(&worktree.settings)))?;
    copy(&record.common.join("HEAD"), &pinned.join("HEAD"))?;
    for file in ["attributes", "exclude", "grafts"] {
        copy(&record.common.join("info").join(file), &pinned.join("info").join(file))?;
    }
    if copy(&record.common.join("shallow"), &pinned.join("shallow"))? {
        fs::write(git.join("shallow"), "")?;
    }
    if record.refs == "reftable" {
        refs::copy_reftable(&record.common.join("reftable"), &git.join("reftable"))?;
        fs::remove_dir_all(git.join("refs"))?;
        private(&git.join("refs"))?;
        // A file, so that no git takes this for the other way to keep refs.
        copy(&record.common.join("refs/heads"), &git.join("refs/heads"))?;
    } else {
        refs.write(&git)?;
    }
    copy_folder(&record.admin, &store.admin())?;
    fs::write(store.admin().join("config.worktree"), "")?;
    for file in ["commondir", "gitdir"] {
        copy(&record.admin.join(file), &pinned.join(file))?;
    }
    Ok(())
}

/// What lies where, inside.
fn shown(store: &Store, record: Record, is_pinned: &dyn Fn(&str) -> bool) -> View {
    let (git, admin, pinned) = (&record.common, &record.admin, store.pinned());
    let read = |from: PathBuf, to: PathBuf| Shown { from, to, write: false };
    let write = |from: PathBuf, to: PathBuf| Shown { from, to, write: true };
    let mut parts = Vec::new();
    for (number, folder) in record.objects.iter().enumerate() {
        let at = objects_at(&record, number);
        parts.push(read(folder.clone(), at.clone()));
        if objects::alternates_file(folder).exists() {
            // All of them are shown: what this one borrows from is not searched for once more, at paths that are not there.
            parts.push(read(pinned.join("empty"), objects::alternates_file(&at)));
        }
    }
    for name in ["HEAD", "config", "hooks", "info", "shallow"] {
        if is_pinned(name) {
            parts.push(read(pinned.join(name), git.join(name)));
        }
    }
    parts.push(read(pinned.join("empty"), git.join("config.worktree")));
    // Over themselves: what is a mount point cannot be renamed away.
    for name in ["objects", "objects/info", "worktrees"] {
        parts.push(write(store.git().join(name), git.join(name)));
    }
    parts.push(read(pinned.join("alternates"), git.join("objects/info/alternates")));
    parts.push(write(store.admin(), admin.clone()));
    parts.extend(["commondir", "gitdir"].map(|name| read(pinned.join(name), admin.join(name))));
    parts.push(read(pinned.join("empty"), admin.join("config.worktree")));
    parts.push(read(record.worktree.join(".git"), record.worktree.join(".git")));
    View { root: write(store.git(), git.clone()), parts, record }
}

fn objects_at(record: &Record, number: usize) -> PathBuf {
    Path::new(OBJECTS).join(&record.repo).join(number.to_string())
}

fn private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Whether there was a file to copy. It may be a link, as git follows it; a pipe is not waited for.
fn copy(from: &Path, to: &Path) -> io::Result<bool> {
    let opened = fs::File::options().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(from);
    let file = match opened {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(false),
        opened => opened?,
    };
    if !file.metadata()?.is_file() || file.metadata()?.len() > MOST {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    fs::write(to, bytes)?;
    Ok(true)
}

/// A worktree's own folder, which git has just made: files of any size and folders.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    private(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, at) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_folder(&entry.path(), &at)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), at)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(borrowed: &[&str], pinned: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let store = Store { root: at("store") };
        private(&store.pinned()).unwrap();
        pinned.iter().for_each(|name| fs::write(store.pinned().join(name), "").unwrap());
        let objects = ["repo/.git/objects"].iter().chain(borrowed).map(|name| at(name)).collect::<Vec<_>>();
        objects.iter().for_each(|folder| private(&folder.join("info")).unwrap());
        if !borrowed.is_empty() {
            fs::write(objects::alternates_file(&objects[0]), "").unwrap();
        }
        let record = Record {
            version: 1,
            attempt: "a".into(),
            repo: "demo".into(),
            namespace: "refs/heads/kusaw/a/".into(),
            base: "0".repeat(40),
            common: at("repo/.git"),
            admin: at("repo/.git/worktrees/w"),
            worktree: at("w"),
            objects,
            format: "sha1".into(),
            refs: "files".into(),
            sign: None,
        };
        let view = shown(&store, record, &|name| store.pinned().join(name).exists());
        let root = folder.path().display().to_string();
        let line = |shown: &Shown| {
            let how = if shown.write { "write" } else { "read" };
            format!("{how} {} {}\n", shown.from.display(), shown.to.display()).replace(&format!("{root}/"), "")
        };
        [&view.root].into_iter().chain(&view.parts).map(line).collect()
    }

    /// The whole of what a step sees as its git folder.
    #[test]
    fn an_ordinary_repository_has_sixteen_mounts() {
        let shown = parts(&[], &["HEAD", "config", "hooks", "info"]);
        assert_eq!(shown.lines().count(), 16);
        insta::assert_snapshot!(shown, @r"
        write store/git repo/.git
        read repo/.git/objects /run/kusaw/objects/demo/0
        read store/pinned/HEAD repo/.git/HEAD
        read store/pinned/config repo/.git/config
        read store/pinned/hooks repo/.git/hooks
        read store/pinned/info repo/.git/info
        read store/pinned/empty repo/.git/config.worktree
        write store/git/objects repo/.git/objects
        write store/git/objects/info repo/.git/objects/info
        write store/git/worktrees repo/.git/worktrees
        read store/pinned/alternates repo/.git/objects/info/alternates
        write store/admin repo/.git/worktrees/w
        read store/pinned/commondir repo/.git/worktrees/w/commondir
        read store/pinned/gitdir repo/.git/worktrees/w/gitdir
        read store/pinned/empty repo/.git/worktrees/w/config.worktree
        read w/.git w/.git
        ");
    }

    #[test]
    fn one_that_borrows_and_is_shallow_has_more() {
        let shown = parts(&["other/objects"], &["HEAD", "config", "hooks", "info", "shallow"]);
        assert_eq!(shown.lines().count(), 19);
        assert!(shown.contains("read repo/.git/objects /run/kusaw/objects/demo/0\nread store/pinned/empty"), "{shown}");
        assert!(shown.contains("read other/objects /run/kusaw/objects/demo/1\nread store/pinned/HEAD"), "{shown}");
    }
}
