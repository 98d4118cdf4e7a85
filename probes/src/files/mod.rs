//! Files and folders: reading, writing, making and searching them.

mod chmod;
mod fill;
#[cfg(target_os = "linux")]
mod handle;
mod link;
mod list;
mod mkdir;
mod mkfifo;
mod mounts;
pub mod read;
mod remove;
mod rename;
pub mod stat;
pub mod sweep;
mod write;
mod write_sweep;

use crate::action::{Entry, boxed};

pub const ACTIONS: &[Entry] = &[
    ("read", |words| boxed(read::Read::parse(words))),
    ("list", |words| boxed(list::List::parse(words))),
    ("stat", |words| boxed(stat::Stat::parse(words))),
    ("write", |words| boxed(write::Write::parse(words))),
    ("append", |words| boxed(write::Append::parse(words))),
    ("create", |words| boxed(write::Create::parse(words))),
    ("open-write", |words| boxed(write::OpenWrite::parse(words))),
    ("link", |words| boxed(link::Link::parse(words))),
    ("symlink", |words| boxed(link::Symlink::parse(words))),
    ("rename", |words| boxed(rename::Rename::parse(words))),
    ("exchange", |words| boxed(rename::Exchange::parse(words))),
    ("remove", |words| boxed(remove::Remove::parse(words))),
    ("mkdir", |words| boxed(mkdir::Mkdir::parse(words))),
    ("mkfifo", |words| boxed(mkfifo::Mkfifo::parse(words))),
    ("chmod", |words| boxed(chmod::Chmod::parse(words))),
    ("fill", |words| boxed(fill::Fill::parse(words))),
    #[cfg(target_os = "linux")]
    ("handle", |words| boxed(handle::Handle::parse(words))),
    ("sweep", |words| boxed(sweep::Sweep::parse(words))),
    ("write-sweep", |words| boxed(write_sweep::WriteSweep::parse(words))),
];
