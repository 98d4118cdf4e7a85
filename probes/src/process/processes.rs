//! `processes [--find TEXT..]`: what every visible process shows of itself in /proc, and where one of
//! the texts stands in its environment, its command line or the targets of its links. Nothing of
//! another process's memory is reported but the number of bytes that could be read.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process;

use crate::action::Action;
use crate::files::read;
use crate::files::sweep::contains;
use crate::json::Json;
use crate::seen::{Seen, or_errno};
use crate::words::{Usage, Words};

const MAX_FILE: u64 = 1_048_576;
const MAX_SHOWN: usize = 64;
const MAX_HITS: usize = 100;
const MAX_LINKS: usize = 4096;
/// What is asked of a process's memory.
const MEMORY: usize = 64;

/// Looks at all processes.
pub struct Processes {
    find: Vec<OsString>,
}

impl Processes {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let find = words.values("--find")?;
        let [] = words.exactly([])?;
        if find.iter().any(|text| text.is_empty()) {
            return Err(Usage("--find needs a TEXT, not empty".to_owned()));
        }
        Ok(Self { find })
    }

    /// Looks at one process and says it in words: a number of bytes or names, or an errno.
    fn look(&self, pid: u32, hits: &mut Vec<Json>) -> Json {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        let comm = content(&folder.join("comm")).map(|comm| Json::from(comm.trim_ascii_end()));
        let mut members = vec![("pid", Json::count(pid)), ("comm", or_errno(comm))];
        for file in ["environ", "cmdline", "root", "cwd", "exe"] {
            let path = folder.join(file);
            let text = match file {
                "environ" | "cmdline" => content(&path),
                _ => target(&path),
            };
            if let Ok(text) = &text {
                self.search(pid, file, text, hits);
            }
            members.push((file, or_errno(text.map(|text| Json::count(text.len())))));
        }
        let links = links(&folder.join("fd"));
        for text in links.iter().flatten() {
            self.search(pid, "fd", text, hits);
        }
        members.push(("fd", or_errno(links.map(|links| Json::count(links.len())))));
        let maps = content(&folder.join("maps"));
        let memory = memory(&folder.join("mem"), maps.as_deref().unwrap_or_default());
        members.push(("maps", or_errno(maps.map(|maps| Json::count(maps.len())))));
        members.push(("mem", or_errno(memory.map(Json::count))));
        Json::object(members)
    }

    fn search(&self, pid: u32, file: &str, text: &[u8], hits: &mut Vec<Json>) {
        for (index, sought) in self.find.iter().enumerate() {
            let found = match file {
                "cmdline" => contains(&without_question(text, "--find", sought.as_bytes()), sought.as_bytes()),
                _ => contains(text, sought.as_bytes()),
            };
            if found && hits.len() < MAX_HITS {
                hits.push(Json::object([
                    ("pid", Json::count(pid)),
                    ("file", Json::from(file)),
                    ("index", Json::count(index)),
                ]));
            }
        }
    }
}

impl Action for Processes {
    fn target(&self) -> String {
        String::new()
    }

    fn run(&self) -> Seen {
        let pids = match pids() {
            Ok(pids) => pids,
            Err(error) => return error.into(),
        };
        let (mut shown, mut hits) = (Vec::new(), Vec::new());
        for pid in &pids {
            let process = self.look(*pid, &mut hits);
            if shown.len() < MAX_SHOWN {
                shown.push(process);
            }
        }
        Seen::ok(Json::object([
            ("count", Json::count(pids.len())),
            ("self", Json::count(process::id())),
            ("processes", Json::List(shown)),
            ("hits", Json::List(hits)),
        ]))
    }
}

/// All that /proc shows.
pub fn pids() -> io::Result<Vec<u32>> {
    let entries = fs::read_dir("/proc")?;
    let mut pids: Vec<u32> = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    pids.sort_unstable();
    Ok(pids)
}

/// The head of a file of /proc.
pub fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    read::open(path, 0)?.take(MAX_FILE).read_to_end(&mut content)?;
    Ok(content)
}

fn target(link: &Path) -> io::Result<Vec<u8>> {
    Ok(fs::read_link(link)?.into_os_string().into_vec())
}

/// The targets of all descriptors; one that is closed meanwhile is empty.
fn links(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let entries = fs::read_dir(folder)?.take(MAX_LINKS);
    entries.map(|entry| Ok(target(&entry?.path()).unwrap_or_default())).collect()
}

/// How much of the first mapping can be read; without a known mapping, zero once it is open.
fn memory(path: &Path, maps: &[u8]) -> io::Result<usize> {
    let memory = read::open(path, 0)?;
    let first = maps.split(|byte| *byte == b'-').next().and_then(|word| std::str::from_utf8(word).ok());
    let Some(at) = first.and_then(|word| u64::from_str_radix(word, 16).ok()) else {
        return Ok(0);
    };
    memory.read_at(&mut [0; MEMORY], at)
}

/// A command line without `WORD TEXT`, as in `--find TEXT`: what a probe was asked, here and in whoever started it, is
/// no sight of the text.
pub fn without_question(cmdline: &[u8], word: &str, text: &[u8]) -> Vec<u8> {
    let mut left = Vec::new();
    let mut rest = cmdline;
    while let Some((first, others)) = rest.split_first() {
        rest = match question(rest, word, text) {
            Some(behind) => behind,
            None => {
                left.push(*first);
                others
            }
        };
    }
    left
}

/// What stands behind a question at the beginning, as an argument or as a word for a shell, which may be quoted.
fn question<'a>(cmdline: &'a [u8], word: &str, text: &[u8]) -> Option<&'a [u8]> {
    let rest = quoted(cmdline, word.as_bytes())?;
    quoted(rest.strip_prefix(b"\0").or(rest.strip_prefix(b" "))?, text)
}

/// What stands behind `word` at the beginning, with quotes around it or without.
fn quoted<'a>(cmdline: &'a [u8], word: &[u8]) -> Option<&'a [u8]> {
    let quote = cmdline.first().filter(|byte| matches!(byte, b'\'' | b'"'));
    let quote = quote.map(std::slice::from_ref).unwrap_or_default();
    cmdline.strip_prefix(quote)?.strip_prefix(word)?.strip_prefix(quote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_no_sight_of_its_text() {
        for (cmdline, found) in [
            ("probe\0processes\0--find\0KEY\0", false),
            ("sh\0-c\0probe processes --find KEY\0", false),
            ("sh\0-c\0'probe' 'processes' '--find' 'KEY'\0", false),
            ("sh\0-c\0sh -c \"probe processes --find \"KEY\"\"\0", false),
            ("sh\0-c\0probe --find 'KEY\0", true),
            ("probe\0--find\0KEY\0--find\0KEY", false),
            ("probe\0KEY\0--find\0KEY", true),
            ("tool\0--key\0KEY\0", true),
            ("", false),
        ] {
            assert_eq!(contains(&without_question(cmdline.as_bytes(), "--find", b"KEY"), b"KEY"), found, "{cmdline:?}");
        }
    }
}
