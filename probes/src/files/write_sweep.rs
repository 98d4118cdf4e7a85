//! `write-sweep ROOT [--skip DIR..] [--name NAME] [--keep]`: tries to make a file NAME in every folder
//! at and below ROOT and below every mount point there, and removes it again, unless it is to stay for
//! others to see. It follows no link below ROOT and makes nothing but new files (O_EXCL).
//!
//! A mount point counts as a beginning of its own, so that one behind a folder that cannot be listed is
//! tried too, and the shallow folders come first, so that a deep tree hides no other.

use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};
use std::process;

use crate::action::Action;
use crate::files::mounts;
use crate::json::Json;
use crate::seen::{self, Seen};
use crate::words::{Usage, Words};

const MAX_DEPTH: usize = 6;
const MAX_FOLDERS: i64 = 20_000;
const MAX_WRITTEN: usize = 200;

/// Looks for every place where a file can be made.
pub struct WriteSweep {
    root: PathBuf,
    skip: Vec<PathBuf>,
    name: OsString,
    keep: bool,
}

impl WriteSweep {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let skip = words.values("--skip")?.into_iter().map(real).collect();
        let name = words.value("--name")?.unwrap_or_else(|| format!(".kusaw-probe-{}", process::id()).into());
        let keep = words.flag("--keep");
        let [root] = words.exactly(["ROOT"])?;
        let mut parts = Path::new(&name).components();
        if !matches!((parts.next(), parts.next()), (Some(Component::Normal(part)), None) if part == name) {
            return Err(Usage(format!("--name is a name, not {name:?}")));
        }
        Ok(Self { root: root.into(), skip, name, keep })
    }

    fn walk(&self) -> io::Result<Found> {
        let root = fs::canonicalize(&self.root)?;
        if !fs::metadata(&root)?.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
        }
        let (mounts, points) = below(&root);
        let mut found = Found { mounts, ..Found::default() };
        let mut known = HashSet::new();
        let mut waiting: VecDeque<_> = [root].into_iter().chain(points).map(|path| (path, 0)).collect();
        while let Some((path, depth)) = waiting.pop_front() {
            let folder = fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir());
            // A mount point below a skipped folder is skipped with it.
            let skipped = self.skip.iter().any(|skip| path.starts_with(skip));
            if !folder || skipped || !known.insert(path.clone()) {
                continue;
            }
            if found.tried == MAX_FOLDERS {
                found.capped = true;
                break;
            }
            self.make(&path, &mut found);
            let Ok(entries) = fs::read_dir(&path) else { continue };
            found.folders += 1;
            if depth < MAX_DEPTH {
                let folders = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
                waiting.extend(folders.map(|entry| (entry.path(), depth + 1)));
            }
        }
        Ok(found)
    }

    /// Tries one folder.
    fn make(&self, folder: &Path, found: &mut Found) {
        let path = folder.join(&self.name);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        found.tried += 1;
        match options.open(&path) {
            Ok(mut file) => {
                found.made += 1;
                found.bytes += i64::from(file.write_all(b"x").is_ok());
                if self.keep || fs::remove_file(&path).is_err() {
                    found.left += 1;
                }
                if found.written.len() < MAX_WRITTEN {
                    found.written.push(path);
                }
            }
            Err(error) => found.existed += i64::from(error.kind() == io::ErrorKind::AlreadyExists),
        }
    }
}

impl Action for WriteSweep {
    fn target(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let found = match self.walk() {
            Ok(found) => found,
            Err(error) => return error.into(),
        };
        Seen::ok(Json::object([
            ("folders", Json::Number(found.folders)),
            ("tried", Json::Number(found.tried)),
            ("made", Json::Number(found.made)),
            ("bytes", Json::Number(found.bytes)),
            ("left", Json::Number(found.left)),
            ("existed", Json::Number(found.existed)),
            ("written", Json::list(found.written.iter().map(|path| path.as_os_str()))),
            ("mounts", found.mounts),
            ("capped", Json::Bool(found.capped)),
            ("kept", Json::Bool(self.keep)),
        ]))
    }
}

#[derive(Default)]
struct Found {
    /// Folders that could be listed; all were tried.
    folders: i64,
    tried: i64,
    made: i64,
    /// Files that took their byte: a full disk or a quota may refuse it.
    bytes: i64,
    /// Files that are still there.
    left: i64,
    /// Places where NAME was taken.
    existed: i64,
    written: Vec<PathBuf>,
    mounts: Json,
    capped: bool,
}

/// The mount points at and below a folder, and their number or why they cannot be known.
fn below(root: &Path) -> (Json, Vec<PathBuf>) {
    match mounts::points() {
        Ok(mut points) => {
            points.retain(|point| point.starts_with(root));
            (Json::count(points.len()), points)
        }
        Err(error) => (Json::from(seen::errno(&error)), Vec::new()),
    }
}

/// As the walk will name it.
fn real(skip: OsString) -> PathBuf {
    fs::canonicalize(&skip).unwrap_or_else(|_| skip.into())
}
