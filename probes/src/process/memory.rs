//! `memory PID`: reads the first bytes that can be read of a process (process_vm_readv(2)), and reports only their number.
//! `memory --find TEXT PID`: looks for TEXT in its memory and reports it with the word that follows, so that a secret planted
//! as `TEXTsecret` arrives.

use std::ffi::OsString;
use std::io::{self, IoSliceMut};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;

use nix::sys::uio::{RemoteIoVec, process_vm_readv};

use super::pid::Pid;
use super::processes::content;
use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// What is asked for without `--find`.
const LENGTH: usize = 64;
/// Where a program that is not position-independent lies: what is tried where no mapping is told.
const USUAL: u64 = 0x40_0000;
/// A search ends here.
const MAX: usize = 16 << 20;
const PIECE: usize = 1 << 20;
const MAX_WORD: usize = 32;

/// Reads memory.
pub struct Memory {
    find: Option<OsString>,
    pid: Pid,
}

impl Memory {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let find = words.value("--find")?;
        if find.as_ref().is_some_and(|text| text.is_empty()) {
            return Err(Usage("--find needs a TEXT, not empty".to_owned()));
        }
        let [pid] = words.exactly(["PID"])?;
        Ok(Self { find, pid: Pid::parse(&pid)? })
    }
}

impl Action for Memory {
    fn target(&self) -> String {
        self.pid.to_string()
    }

    fn run(&self) -> Seen {
        let mappings = readable(self.pid);
        let Some(text) = &self.find else {
            let at = mappings.first().map_or(USUAL, |mapping| mapping.start);
            return match read(self.pid, at, LENGTH) {
                Ok(bytes) => Seen::ok(Json::object([("bytes", Json::count(bytes.len()))])),
                Err(error) => error.into(),
            };
        };
        let search = searched(text.as_bytes(), mappings, |at, length| read(self.pid, at, length));
        let word = search.word.map_or(Json::Null, |word| Json::from(&[text.as_bytes(), &word].concat()[..]));
        let detail = Json::object([("bytes", Json::count(search.bytes)), ("text", word)]);
        match search.bytes {
            0 => Seen::tried(read(self.pid, USUAL, LENGTH), detail),
            _ => Seen::ok(detail),
        }
    }
}

/// Where the first mapping that can be read begins, if the mappings can be seen.
pub fn first_readable(pid: Pid) -> Option<u64> {
    readable(pid).first().map(|mapping| mapping.start)
}

fn readable(pid: Pid) -> Vec<Range<u64>> {
    let maps = content(&pid.folder().join("maps")).unwrap_or_default();
    ranges(&String::from_utf8_lossy(&maps))
}

/// What can be written stands first: there lies what a program was given or keeps.
fn ranges(maps: &str) -> Vec<Range<u64>> {
    let range = |line: &str| {
        let (range, rights) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let parse = |word| u64::from_str_radix(word, 16).ok();
        rights.starts_with('r').then_some((!rights.starts_with("rw"), parse(start)?..parse(end)?))
    };
    let mut ranges: Vec<_> = maps.lines().filter_map(range).collect();
    ranges.sort_by_key(|(only_read, _)| *only_read);
    ranges.into_iter().map(|(_, range)| range).collect()
}

/// What is there, which may be less.
fn read(pid: Pid, at: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    let there = [RemoteIoVec { base: usize::try_from(at).unwrap_or(usize::MAX), len: length }];
    let read = process_vm_readv(nix::unistd::Pid::from_raw(pid.number()), &mut [IoSliceMut::new(&mut bytes)], &there)?;
    bytes.truncate(read);
    Ok(bytes)
}

#[derive(Debug, PartialEq, Eq)]
struct Search {
    bytes: usize,
    word: Option<Vec<u8>>,
}

/// Goes through the mappings until the text is found.
fn searched(
    text: &[u8],
    mappings: impl IntoIterator<Item = Range<u64>>,
    read: impl Fn(u64, usize) -> io::Result<Vec<u8>>,
) -> Search {
    let mut search = Search { bytes: 0, word: None };
    for mapping in mappings {
        let mut bytes = Vec::new();
        let (mut at, mut left) = (mapping.start, MAX - search.bytes);
        while at < mapping.end && left > 0 {
            let length = usize::try_from(mapping.end - at).unwrap_or(PIECE).min(PIECE).min(left);
            let Ok(piece) = read(at, length) else { break };
            (at, left) = (at + length as u64, left - length);
            bytes.extend(piece);
        }
        search.bytes += bytes.len();
        search.word = word_behind(text, &bytes);
        if search.word.is_some() {
            break;
        }
    }
    search
}

/// The first word that follows the text and is not empty.
fn word_behind(text: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
    let word = |behind: &[u8]| -> Vec<u8> {
        let in_word = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'-');
        behind.iter().take(MAX_WORD).take_while(in_word).copied().collect()
    };
    let starts = bytes.windows(text.len()).enumerate().filter(|(_, window)| *window == text);
    starts.map(|(at, _)| word(&bytes[at + text.len()..])).find(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mappings_that_can_be_written_come_first() {
        let maps = "400000-401000 r--p 0 0:0 0 /x\n401000-402000 ---p 0 0:0 0\n500000-501000 rw-p 0 0:0 0 [heap]\n";
        assert_eq!(ranges(maps), [0x50_0000..0x50_1000, 0x40_0000..0x40_1000]);
        assert_eq!(ranges("nonsense\n"), []);
    }

    #[test]
    fn a_word_is_found_behind_the_text_also_across_pieces() {
        let mut memory = vec![0_u8; 3 * PIECE];
        let at = PIECE - 5;
        memory[10..13].copy_from_slice(b"KEY");
        memory[at..at + 13].copy_from_slice(b"KEYs3cr3t_x-9");
        let read = |from: u64, length| Ok(memory[from as usize..][..length].to_vec());
        let found = searched(b"KEY", Some(0..memory.len() as u64), read);
        assert_eq!(found, Search { bytes: 3 * PIECE, word: Some(b"s3cr3t_x-9".to_vec()) });
        let none = searched(b"ABSENT", Some(0..memory.len() as u64), read);
        assert_eq!(none, Search { bytes: 3 * PIECE, word: None });
        let unreadable = searched(b"KEY", Some(0..10), |_, _| Err(io::ErrorKind::PermissionDenied.into()));
        assert_eq!(unreadable, Search { bytes: 0, word: None });
    }
}
