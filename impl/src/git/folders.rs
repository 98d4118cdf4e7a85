//! Where git finds what it obeys in a repository: its folder `.git`, wherever that is. The files it reads on the way may be
//! anything that a step left there.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Longest file that only names a folder, in bytes: PATH_MAX.
const LONGEST: u64 = 4096;

/// The control files of the repository that `repo` is, or lies in: `.git`, and the folders that a linked worktree's leads to;
/// of a bare one itself. git looks upwards until it is content, so each one above counts.
pub fn control(repo: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in repo.ancestors() {
        let git = folder.join(".git");
        if is_there(&git) {
            found.push(git.clone());
            found.extend(git_folders(folder, &git));
        } else if is_there(&folder.join("HEAD")) && is_there(&folder.join("objects")) {
            found.push(folder.into());
        }
    }
    found
}

/// The git folders of the repository that a folder is, or lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Its own, with its HEAD: of a linked worktree the one in `worktrees/`.
    pub own: PathBuf,
    /// The one that all worktrees share.
    pub common: PathBuf,
}

/// Looks upwards for it, as git does: real paths, or none.
pub fn of(repo: &Path) -> Option<Folders> {
    let repo = repo.canonicalize().ok()?;
    repo.ancestors().find_map(own).and_then(|own| {
        let named = line(&own.join("commondir")).map(|common| own.join(common.trim_end_matches('\n')));
        let common = named.unwrap_or_else(|| own.clone()).canonicalize().ok()?;
        Some(Folders { own, common })
    })
}

/// The git folder of this folder: `.git` in it, what a file of that name leads to, or the folder itself.
fn own(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    let named = match line(&git) {
        Some(text) => folder.join(text.strip_prefix("gitdir:")?.trim()),
        None if git.is_dir() => git,
        None => folder.into(),
    };
    let own = named.canonicalize().ok()?;
    let has = |entry: &str| is_there(&own.join(entry));
    (has("HEAD") && (has("objects") || has("commondir"))).then_some(own)
}

fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// gitrepository-layout(5): "gitdir: PATH", and there a file with the path of the common folder.
fn git_folders(folder: &Path, git: &Path) -> Vec<PathBuf> {
    let Some(text) = line(git) else { return Vec::new() };
    let Some(own) = text.strip_prefix("gitdir:").map(|own| folder.join(own.trim())) else { return Vec::new() };
    let common = line(&own.join("commondir")).map(|common| own.join(common.trim()));
    [own].into_iter().chain(common).collect()
}

/// The text of a short file. A pipe must not hold us.
fn line(path: &Path) -> Option<String> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    let mut text = String::new();
    let is_file = file.metadata().ok()?.is_file();
    file.take(if is_file { LONGEST } else { 0 }).read_to_string(&mut text).ok()?;
    is_file.then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allow::walk::as_far_as_real;
    use nix::sys::stat::Mode;

    #[test]
    fn the_git_folders_of_every_kind_of_repository_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        let real = |name: &str| control(&at(name)).iter().map(|place| as_far_as_real(place)).collect::<Vec<_>>();
        ["main/.git/worktrees/w", "main/sub/deep", "linked", "bare/objects", "main/nested/.git"]
            .iter()
            .for_each(|name| fs::create_dir_all(at(name)).unwrap());
        fs::write(at("linked/.git"), "gitdir: ../main/.git/worktrees/w\n").unwrap();
        fs::write(at("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
        fs::write(at("bare/HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(real("main"), [at("main/.git")]);
        assert_eq!(real("main/sub/deep"), [at("main/.git")]);
        assert_eq!(real("main/nested"), [at("main/nested/.git"), at("main/.git")]);
        assert_eq!(real("linked"), [at("linked/.git"), at("main/.git/worktrees/w"), at("main/.git")]);
        assert_eq!(real("bare"), [at("bare")]);
        assert!(real("").is_empty());
    }

    #[test]
    fn the_own_and_the_common_folder_of_every_kind_of_repository() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        ["main/.git/worktrees/w", "main/.git/objects", "main/sub/deep", "linked/sub", "bare/objects", "none"]
            .iter()
            .for_each(|name| fs::create_dir_all(at(name)).unwrap());
        for git in ["main/.git", "main/.git/worktrees/w", "bare"] {
            fs::write(at(git).join("HEAD"), "ref: refs/heads/main\n").unwrap();
        }
        fs::write(at("linked/.git"), "gitdir: ../main/.git/worktrees/w\n").unwrap();
        fs::write(at("main/.git/worktrees/w/commondir"), "../..\n").unwrap();
        std::os::unix::fs::symlink(at("bare"), at("none/.git")).unwrap();
        let both = |git: &str| Some(Folders { own: at(git), common: at(git) });
        assert_eq!(of(&at("main")), both("main/.git"));
        assert_eq!(of(&at("main/sub/deep")), both("main/.git"));
        assert_eq!(of(&at("linked/sub")), Some(Folders { own: at("main/.git/worktrees/w"), common: at("main/.git") }));
        assert_eq!((of(&at("bare")), of(&at("none"))), (both("bare"), both("bare")));
        fs::remove_file(at("none/.git")).unwrap();
        assert_eq!(of(&at("none")), None);
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        nix::unistd::mkfifo(&at("commondir"), Mode::S_IRWXU).unwrap();
        fs::write(at(".git"), "gitdir: .\n").unwrap();
        assert_eq!(control(folder.path())[0], at(".git"));
    }
}
