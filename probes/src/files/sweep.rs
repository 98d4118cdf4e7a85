//! `sweep ROOT --find TEXT [--find TEXT..] [--skip DIR..] [--max-file BYTES]`: walks everything below
//! ROOT and looks for the texts in the head of each regular file. It follows no link and opens
//! nothing but regular files and folders, so nothing can make it wait. (/proc/self/cmdline holds the
//! texts: skip /proc, or expect it.)

use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::action::Action;
use crate::files::read;
use crate::json::Json;
use crate::seen::{self, Seen};
use crate::words::{Usage, Words};

const MAX_FILE: u64 = 1_048_576;
const MAX_HITS: usize = 100;

/// Searches a tree.
pub struct Sweep {
    root: PathBuf,
    find: Vec<OsString>,
    skip: Vec<PathBuf>,
    max_file: u64,
}

impl Sweep {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let find = words.values("--find")?;
        let skip = words.values("--skip")?.into_iter().map(PathBuf::from).collect();
        let max_file = words.number("--max-file", MAX_FILE)?;
        let [root] = words.exactly(["ROOT"])?;
        if find.is_empty() || find.iter().any(|text| text.is_empty()) {
            return Err(Usage("needs --find TEXT, not empty".to_owned()));
        }
        Ok(Self { root: root.into(), find, skip, max_file })
    }

    fn walk(&self) -> Found {
        let mut found = Found::default();
        let mut waiting = vec![self.root.clone()];
        while let Some(path) = waiting.pop() {
            if self.skip.contains(&path) {
                continue;
            }
            match self.visit(&path, &mut found) {
                Ok(below) => waiting.extend(below),
                Err(error) if path == self.root => found.root = Some(seen::errno(&error)),
                Err(_) => found.unreadable += 1,
            }
        }
        found
    }

    /// Looks at one path; gives what lies below it.
    fn visit(&self, path: &Path, found: &mut Found) -> io::Result<Vec<PathBuf>> {
        let kind = fs::symlink_metadata(path)?.file_type();
        if kind.is_dir() {
            let entries = fs::read_dir(path)?;
            found.folders += 1;
            return Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).collect());
        }
        if kind.is_file() {
            let head = self.head(path)?;
            found.files += 1;
            for (index, text) in self.find.iter().enumerate() {
                if found.hits.len() < MAX_HITS && contains(&head, text.as_bytes()) {
                    found.hits.push((path.to_owned(), index));
                }
            }
        }
        Ok(Vec::new())
    }

    fn head(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = read::open(path, libc::O_NOFOLLOW)?;
        let mut head = Vec::new();
        // The path may have become something else since it was looked at.
        if file.metadata()?.is_file() {
            file.take(self.max_file).read_to_end(&mut head)?;
        }
        Ok(head)
    }
}

impl Action for Sweep {
    fn target(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let found = self.walk();
        let hit = |(path, index): &(PathBuf, usize)| {
            Json::object([("path", Json::from(path.as_os_str())), ("text", Json::count(*index))])
        };
        let detail = Json::object([
            ("files", Json::Number(found.files)),
            ("folders", Json::Number(found.folders)),
            ("unreadable", Json::Number(found.unreadable)),
            ("hits", Json::list(found.hits.iter().map(hit))),
        ]);
        Seen { errno: found.root, detail }
    }
}

#[derive(Default)]
struct Found {
    files: i64,
    folders: i64,
    unreadable: i64,
    hits: Vec<(PathBuf, usize)>,
    root: Option<String>,
}

/// Whether the text, not empty, stands anywhere in the bytes.
/// `skip_until` is memchr(3) in disguise: quick in a debug build too.
pub fn contains(bytes: &[u8], text: &[u8]) -> bool {
    let (first, mut rest) = (text[0], bytes);
    while rest.skip_until(first).is_ok_and(|skipped| skipped > 0) {
        let at = bytes.len() - rest.len() - 1;
        if bytes[at..].starts_with(text) {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_found_wherever_it_stands() {
        for (bytes, found) in [
            ("abc", true),
            ("xxabc", true),
            ("ababc", true),
            ("abcx", true),
            ("aabbcc", false),
            ("ab", false),
            ("", false),
            ("a", false),
        ] {
            assert_eq!(contains(bytes.as_bytes(), b"abc"), found, "{bytes:?}");
        }
        assert!(contains(b"x", b"x") && !contains(b"y", b"x"));
    }
}
