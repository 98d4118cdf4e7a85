//! `descriptors`: every open descriptor of this process, and what can be done with it. Of a folder it
//! tries to list what is in it and what is above it; standard input, output and error it tries to open
//! again for writing and to give the mode that they have. Nothing changes.
//!
//! Where 0, 1 or 2 is closed, the language's runtime has opened /dev/null there.

#![allow(unsafe_code)]

use std::fs::{self, OpenOptions};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::dir::Dir;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::stat::{Mode, fchmod, fstat};

use crate::action::Action;
use crate::files::stat;
use crate::json::Json;
use crate::seen::{Seen, or_errno};
use crate::words::{Usage, Words};

/// How far descriptors are counted through where /proc cannot tell them.
const HIGHEST: RawFd = 65_536;
const MAX_NAMES: usize = 100;
const STANDARD: [RawFd; 3] = [0, 1, 2];

/// Shows the descriptors.
pub struct Descriptors;

impl Descriptors {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [] = words.exactly([])?;
        Ok(Self)
    }
}

impl Action for Descriptors {
    fn target(&self) -> String {
        String::new()
    }

    fn run(&self) -> Seen {
        Seen::ok(Json::object([("descriptors", Json::list(numbers().into_iter().filter_map(described)))]))
    }
}

/// The numbers that may be open. The folder that is read for them is closed again at the end.
fn numbers() -> Vec<RawFd> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return (0..HIGHEST).collect();
    };
    let mut numbers: Vec<RawFd> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// All about one number, if it is open.
fn described(number: RawFd) -> Option<Json> {
    // SAFETY: used in this function only, and no other thread runs that could close or open it. Where
    // the number is not open, the first call says so (EBADF) and it is not used again.
    let fd = unsafe { BorrowedFd::borrow_raw(number) };
    let flags = fcntl(fd, FcntlArg::F_GETFL).ok()?;
    let link = link(number);
    let target = fs::read_link(&link).map(|target| Json::from(target.as_os_str()));
    let mut members = vec![
        ("fd", Json::Number(number.into())),
        ("target", or_errno(target)),
        ("kind", or_errno(fs::metadata(&link).map(|it| Json::from(stat::kind(it.file_type()))))),
        ("access", Json::from(access(flags))),
        ("flags", Json::from(format!("{flags:07o}"))),
        ("directory", Json::Bool(flags & libc::O_DIRECTORY != 0)),
    ];
    if STANDARD.contains(&number) {
        members.push(("reopen", done(reopen(&link))));
        members.push(("fchmod", done(same_mode(fd))));
    } else {
        members.push(("here", or_errno(names(fd, "."))));
        members.push(("above", or_errno(names(fd, ".."))));
    }
    Some(Json::object(members))
}

fn link(number: RawFd) -> PathBuf {
    format!("/proc/self/fd/{number}").into()
}

fn access(flags: i32) -> &'static str {
    match flags & libc::O_ACCMODE {
        #[cfg(target_os = "linux")]
        _ if flags & libc::O_PATH != 0 => "path",
        libc::O_RDONLY => "read",
        libc::O_WRONLY => "write",
        _ => "read-write",
    }
}

fn done(result: io::Result<()>) -> Json {
    or_errno(result.map(|()| Json::from("ok")))
}

fn reopen(link: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    options.open(link).map(drop)
}

fn same_mode(fd: BorrowedFd) -> io::Result<()> {
    let mode = Mode::from_bits_truncate(fstat(fd)?.st_mode);
    Ok(fchmod(fd, mode)?)
}

fn names(fd: BorrowedFd, path: &str) -> io::Result<Json> {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
    let mut folder = Dir::openat(fd, path, flags, Mode::empty())?;
    let names = folder.iter().flatten().map(|entry| entry.file_name().to_bytes().to_vec());
    let mut names: Vec<_> = names.filter(|name| name != b"." && name != b"..").take(MAX_NAMES).collect();
    names.sort();
    Ok(Json::list(names.iter().map(|name| &name[..])))
}
