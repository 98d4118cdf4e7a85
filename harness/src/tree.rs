//! The host's tree, remembered and compared: what a launch made, changed or took away, wherever it lies.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Not looked at: the kernel's own, the system's programs (read-only), and what the suite itself keeps.
pub const NOT: [&str; 5] = ["/proc", "/sys", "/usr", "/dev/pts", "/opt/suite"];

/// Where programs make temp folders.
const TEMP: [&str; 4] = ["/tmp", "/var/tmp", "/dev/shm", "/run/user/42042"];

/// Names, kinds, modes and sizes of everything below a folder at one moment, and the mount points of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    entries: BTreeMap<PathBuf, Entry>,
    mounts: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    /// File type and permissions, as in st_mode (inode(7)).
    mode: u32,
    /// Size in bytes, time of the last change in nanoseconds, and inode of a regular file: what is written again, or anew.
    file: Option<(u64, i64, u64)>,
    /// Where a symbolic link leads.
    target: Option<PathBuf>,
}

impl Tree {
    /// The whole host but `skip` and all below it.
    pub fn of_host(skip: &[PathBuf]) -> Tree {
        let skip: Vec<&Path> = NOT.iter().map(Path::new).chain(skip.iter().map(PathBuf::as_path)).collect();
        let mut tree = Tree::below(Path::new("/"), &skip);
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        tree.mounts = mounts.lines().filter_map(|line| Some(line.split(' ').nth(4)?.to_owned())).collect();
        tree
    }

    /// A folder's content but `skip` and all below it. What goes away while it is looked at is not there.
    pub fn below(folder: &Path, skip: &[&Path]) -> Tree {
        let mut tree = Tree::default();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let Ok(meta) = fs::symlink_metadata(&path) else { continue };
                if skip.contains(&path.as_path()) {
                    continue;
                }
                if meta.is_dir() {
                    folders.push(path.clone());
                }
                let changed = meta.mtime() * 1_000_000_000 + meta.mtime_nsec();
                let file = meta.is_file().then(|| (meta.len(), changed, meta.ino()));
                tree.entries.insert(path.clone(), Entry { mode: meta.mode(), file, target: fs::read_link(&path).ok() });
            }
        }
        tree
    }

    /// The paths below `folder`, relative to it.
    pub fn names(&self, folder: &Path) -> Vec<&Path> {
        self.entries.keys().filter_map(|path| path.strip_prefix(folder).ok()).collect()
    }

    /// What is new, gone or other in `later`, in words; an empty list says that the trees are the same.
    pub fn differences(&self, later: &Tree) -> Vec<String> {
        let mut told = Vec::new();
        for (path, entry) in &later.entries {
            match self.entries.get(path) {
                None => told.push(format!("new: {}", path.display())),
                Some(earlier) if earlier != entry => told.push(format!("other: {}", path.display())),
                Some(_) => {}
            }
        }
        told.extend(
            self.entries.keys().filter(|p| !later.entries.contains_key(*p)).map(|p| format!("gone: {}", p.display())),
        );
        if self.mounts != later.mounts {
            told.push(format!("mount points: {} before, {} later", self.mounts.len(), later.mounts.len()));
        }
        told
    }

    /// The same without the private temp folders that `earlier` has not: those that lie where programs make temp folders,
    /// and that nobody but their owner can enter.
    pub fn without_private_temp(mut self, earlier: &Tree) -> Tree {
        let in_temp = |path: &Path| TEMP.iter().any(|temp| path.parent() == Some(Path::new(temp)));
        let private = |(path, entry): (&PathBuf, &Entry)| {
            let is_private = entry.mode & libc::S_IFMT == libc::S_IFDIR && entry.mode & 0o077 == 0;
            (in_temp(path) && is_private && !earlier.entries.contains_key(path)).then(|| path.clone())
        };
        let folders: Vec<PathBuf> = self.entries.iter().filter_map(private).collect();
        self.entries.retain(|path, _| !folders.iter().any(|folder| path.starts_with(folder)));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_gone_or_other_is_told() {
        let folder = std::env::temp_dir().join(format!("kusaw-tree-{}", std::process::id()));
        fs::create_dir_all(folder.join("kept/inner")).unwrap();
        fs::write(folder.join("file"), "x").unwrap();
        let before = Tree::below(&folder, &[]);
        assert!(before.differences(&Tree::below(&folder, &[])).is_empty());
        fs::write(folder.join("file"), "y").unwrap();
        fs::write(folder.join("kept/inner/placeholder"), "").unwrap();
        let told = before.differences(&Tree::below(&folder, &[])).join(" ");
        assert!(told.contains("other: ") && told.contains("new: ") && told.contains("placeholder"), "{told}");
        fs::remove_dir_all(folder.join("kept")).unwrap();
        assert!(before.differences(&Tree::below(&folder, &[])).join(" ").contains("gone: "));
        assert_eq!(before.names(&folder).len(), 3);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_everybody_can_enter_is_no_private_temp() {
        let entry = |mode| Entry { mode: libc::S_IFDIR | mode, file: None, target: None };
        let tree = |path: &str, mode| Tree {
            entries: BTreeMap::from([(PathBuf::from(path), entry(mode)), (Path::new(path).join("x"), entry(0o755))]),
            mounts: Vec::new(),
        };
        let left = |path, mode| tree(path, mode).without_private_temp(&Tree::default()).entries.len();
        assert_eq!(left("/tmp/private", 0o700), 0);
        assert_eq!(left("/tmp/shared", 0o755), 2);
        assert_eq!(left("/home/dev/.bashrc", 0o700), 2);
        assert_eq!(tree("/tmp/a", 0o700).without_private_temp(&tree("/tmp/a", 0o700)).entries.len(), 2);
    }
}
