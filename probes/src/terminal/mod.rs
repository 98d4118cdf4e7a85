//! Terminals: what is known of one, and whether it can be typed into or taken (tty_ioctl(4)).

mod controlling;
mod injection;
mod line;
mod tty;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("tty", |words| boxed(tty::Tty::parse(words))),
    ("open-tty", |words| boxed(controlling::OpenTty::parse(words))),
    ("tiocsctty", |words| boxed(controlling::Tiocsctty::parse(words))),
    ("tiocsti", |words| boxed(injection::Tiocsti::parse(words))),
    ("tioclinux", |words| boxed(injection::Tioclinux::parse(words))),
];
