//! The kinds of repository that people have, each made of one with a history.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::lab::home::git;

/// A kind of repository.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    name: &'static str,
    format: &'static [&'static str],
    /// Makes it of the one in the folder; where it lies then.
    shape: fn(&Path) -> io::Result<PathBuf>,
}

impl Kind {
    /// The kind that a feature calls so.
    pub fn named(name: &str) -> Option<Self> {
        KINDS.iter().find(|kind| kind.name == name).copied()
    }

    /// What `git init` is told.
    pub fn format(self) -> &'static [&'static str] {
        self.format
    }

    /// Makes it of the repository in the folder; where it lies then.
    ///
    /// # Errors
    /// When git cannot make it.
    pub fn shape(self, folder: &Path) -> io::Result<PathBuf> {
        (self.shape)(folder)
    }
}

const fn kind(name: &'static str, shape: fn(&Path) -> io::Result<PathBuf>) -> Kind {
    Kind { name, format: &[], shape }
}

const KINDS: [Kind; 17] = [
    kind("ordinary", as_it_is),
    Kind { name: "SHA-256", format: &["--object-format=sha256"], shape: as_it_is },
    Kind { name: "reftable", format: &["--ref-format=reftable"], shape: as_it_is },
    kind("packed refs", packed),
    kind("alternates", |folder| alternates(folder, false)),
    kind("alternates of alternates", |folder| alternates(folder, true)),
    kind("relative alternates", relative),
    kind("partial clone", |folder| clone(folder, "--filter=blob:none")),
    kind("shallow clone", |folder| clone(folder, "--depth=1")),
    kind("worktree config", worktree_config),
    kind("bare", bare),
    kind("submodule", submodule),
    kind("filter", filter),
    kind("git folder by a link", git_by_link),
    kind("hooks by a link", hooks_by_link),
    kind("git folder elsewhere", git_elsewhere),
    kind("hooks in the worktree", hooks_in_worktree),
];

fn as_it_is(folder: &Path) -> io::Result<PathBuf> {
    Ok(folder.to_owned())
}

fn packed(folder: &Path) -> io::Result<PathBuf> {
    git(folder, &["pack-refs", "--all"])?;
    git(folder, &["repack", "-q", "-a", "-d"])?;
    as_it_is(folder)
}

/// All objects lie in another repository; with `twice`, in one that this one borrows from.
fn alternates(folder: &Path, twice: bool) -> io::Result<PathBuf> {
    let lender = beside(folder, "lender.git");
    if twice {
        let bank = beside(folder, "bank.git");
        borrow(folder, &bank, &objects(&bank))?;
        git(folder, &["clone", "-q", "--bare", ".", &text(&lender)])?;
        lend(&lender.join("objects"), &objects(&bank))?;
        git(&lender, &["repack", "-q", "-a", "-d", "-l"])?;
        lend(&folder.join(".git/objects"), &objects(&lender))?;
    } else {
        borrow(folder, &lender, &objects(&lender))?;
    }
    as_it_is(folder)
}

/// As `git clone --reference` with a path that is written by hand: gitrepository-layout(5) allows it.
fn relative(folder: &Path) -> io::Result<PathBuf> {
    borrow(folder, &beside(folder, "lender.git"), "../../../lender.git/objects")?;
    as_it_is(folder)
}

/// Gives all objects to a new bare repository, and borrows them from there.
fn borrow(folder: &Path, lender: &Path, path: &str) -> io::Result<()> {
    git(folder, &["clone", "-q", "--bare", ".", &text(lender)])?;
    lend(&folder.join(".git/objects"), path)?;
    git(folder, &["repack", "-q", "-a", "-d", "-l"])
}

fn lend(to: &Path, path: &str) -> io::Result<()> {
    fs::create_dir_all(to.join("info"))?;
    fs::write(to.join("info/alternates"), format!("{path}\n"))
}

/// A clone of it, in its place.
fn clone(folder: &Path, how: &str) -> io::Result<PathBuf> {
    let origin = beside(folder, "origin");
    fs::rename(folder, &origin)?;
    git(&origin, &["config", "uploadpack.allowFilter", "true"])?;
    git(&origin, &["clone", "-q", how, &format!("file://{}", origin.display()), &text(folder)])?;
    super::identify(&folder.join(".git"))?;
    as_it_is(folder)
}

fn worktree_config(folder: &Path) -> io::Result<PathBuf> {
    git(folder, &["config", "extensions.worktreeConfig", "true"])?;
    git(folder, &["config", "--worktree", "core.abbrev", "12"])?;
    as_it_is(folder)
}

fn bare(folder: &Path) -> io::Result<PathBuf> {
    let bare = beside(folder, "demo.git");
    git(folder, &["clone", "-q", "--bare", ".", &text(&bare)])?;
    super::identify(&bare)?;
    Ok(bare)
}

fn submodule(folder: &Path) -> io::Result<PathBuf> {
    let part = beside(folder, "part");
    fs::create_dir_all(&part)?;
    git(&part, &["init", "-q", "-b", "main", "--template=", "."])?;
    git(&part, &["commit", "-q", "--allow-empty", "-m", "A part"])?;
    git(folder, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../part", "part"])?;
    git(folder, &["commit", "-q", "-m", "Add a part"])?;
    as_it_is(folder)
}

/// As git-lfs works: files are kept otherwise than they lie in a worktree.
fn filter(folder: &Path) -> io::Result<PathBuf> {
    git(folder, &["config", "filter.shout.clean", "tr a-z A-Z"])?;
    git(folder, &["config", "filter.shout.smudge", "tr A-Z a-z"])?;
    fs::write(folder.join(".gitattributes"), "*.shout filter=shout\n")?;
    fs::write(folder.join("word.shout"), "word\n")?;
    git(folder, &["add", "-A"])?;
    git(folder, &["commit", "-q", "-m", "Shout"])?;
    as_it_is(folder)
}

fn git_by_link(folder: &Path) -> io::Result<PathBuf> {
    let real = beside(folder, "git-of-demo");
    fs::rename(folder.join(".git"), &real)?;
    symlink(&real, folder.join(".git"))?;
    as_it_is(folder)
}

fn hooks_by_link(folder: &Path) -> io::Result<PathBuf> {
    let hooks = beside(folder, "hooks");
    fs::create_dir_all(&hooks)?;
    hook(&hooks)?;
    symlink(&hooks, folder.join(".git/hooks"))?;
    as_it_is(folder)
}

fn git_elsewhere(folder: &Path) -> io::Result<PathBuf> {
    git(folder, &["init", "-q", "--separate-git-dir", &text(&beside(folder, "elsewhere.git"))])?;
    as_it_is(folder)
}

/// As husky sets it up.
fn hooks_in_worktree(folder: &Path) -> io::Result<PathBuf> {
    let hooks = folder.join(".husky");
    fs::create_dir_all(&hooks)?;
    hook(&hooks)?;
    git(folder, &["add", "-A"])?;
    git(folder, &["commit", "-q", "-m", "Add hooks"])?;
    git(folder, &["config", "core.hooksPath", ".husky"])?;
    as_it_is(folder)
}

/// A hook that lets every commit pass.
fn hook(folder: &Path) -> io::Result<()> {
    let path = folder.join("pre-commit");
    fs::write(&path, "#!/bin/sh\nexit 0\n")?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

fn objects(bare: &Path) -> String {
    text(&bare.join("objects"))
}

fn beside(folder: &Path, name: &str) -> PathBuf {
    folder.with_file_name(name)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_name_of_its_own() {
        for kind in KINDS {
            assert_eq!(KINDS.iter().filter(|other| other.name == kind.name).count(), 1, "{}", kind.name);
        }
        assert!(Kind::named("ordinary").is_some() && Kind::named("odd").is_none());
    }
}
