//! `tty [FD]`: whether FD, by default stdin, is a terminal, its size and its mode. Nothing changes.

#![allow(unsafe_code)]

use std::fs;
use std::io;
use std::os::fd::BorrowedFd;

use nix::sys::termios::{LocalFlags, tcgetattr};

use super::line::{Given, Line, Open};
use crate::action::Action;
use crate::json::Json;
use crate::seen::{Seen, or_errno};
use crate::words::{Usage, Words};

/// Shows a terminal.
pub struct Tty {
    line: Line,
}

impl Tty {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        Ok(Self { line: words.at_most_one("FD")?.map_or(Line::Number(0), |word| Line::parse(&word)) })
    }
}

impl Action for Tty {
    fn target(&self) -> String {
        self.line.to_string()
    }

    fn run(&self) -> Seen {
        let open = match self.line.open() {
            Ok(open) => open,
            Err(error) => return error.into(),
        };
        let (mode, size) = (mode(&open), size(&open));
        let flag = |flag| mode.as_ref().map_or(Json::Null, |mode: &LocalFlags| Json::Bool(mode.contains(flag)));
        let number = |number: fn(&libc::winsize) -> u16| size.as_ref().map_or(Json::Null, |it| Json::count(number(it)));
        let name = fs::read_link(format!("/proc/self/fd/{}", open.number));
        let detail = Json::object([
            ("is", Json::Bool(mode.is_ok())),
            ("rows", number(|size| size.ws_row)),
            ("cols", number(|size| size.ws_col)),
            ("echo", flag(LocalFlags::ECHO)),
            ("canonical", flag(LocalFlags::ICANON)),
            ("name", or_errno(name.map(|name| Json::from(name.as_os_str())))),
        ]);
        Seen::tried(mode.and(size), detail)
    }
}

/// What isatty(3) asks for, too.
fn mode(open: &Open) -> io::Result<LocalFlags> {
    // SAFETY: used for this call only, and no other thread runs that could close it; where it is not open, the call
    // says so.
    let fd = unsafe { BorrowedFd::borrow_raw(open.number) };
    Ok(tcgetattr(fd)?.local_flags)
}

fn size(open: &Open) -> io::Result<libc::winsize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the request writes a struct winsize.
    unsafe { open.ioctl(libc::TIOCGWINSZ, false, Given::Place(&mut size))? };
    Ok(size)
}
