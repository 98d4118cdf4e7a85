//! `open-tree PATH TO`: copies the mounts at PATH and puts them at TO (open_tree(2), move_mount(2)).

#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;

use crate::action::Action;
use crate::descriptor;
use crate::json::Json;
use crate::seen::{Seen, errno};
use crate::words::{Usage, Words, c_string};

/// Copies.
pub struct OpenTree {
    from: CString,
    to: CString,
}

impl OpenTree {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [from, to] = words.exactly(["PATH", "TO"])?;
        Ok(Self { from: c_string(from, "PATH")?, to: c_string(to, "TO")? })
    }

    fn copied(&self) -> io::Result<OwnedFd> {
        let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | libc::AT_RECURSIVE.cast_unsigned();
        // SAFETY: the path ends with NUL and outlives the call; the answer is a new descriptor.
        unsafe { descriptor::made(libc::syscall(libc::SYS_open_tree, libc::AT_FDCWD, self.from.as_ptr(), flags)) }
    }

    fn moved(&self, tree: &OwnedFd) -> io::Result<()> {
        let (tree, here, flags) = (tree.as_raw_fd(), libc::AT_FDCWD, libc::MOVE_MOUNT_F_EMPTY_PATH);
        // SAFETY: both paths end with NUL and outlive the call.
        Errno::result(unsafe {
            libc::syscall(libc::SYS_move_mount, tree, c"".as_ptr(), here, self.to.as_ptr(), flags)
        })?;
        Ok(())
    }
}

impl Action for OpenTree {
    fn target(&self) -> String {
        self.to.to_string_lossy().into_owned()
    }

    /// Without a copy, `move` is null: it was not tried.
    fn run(&self) -> Seen {
        let copied = self.copied();
        let moved = copied.as_ref().map_or(Ok(()), |tree| self.moved(tree));
        let symbol = |error: Option<&io::Error>| error.map_or(Json::Null, |error| Json::from(errno(error)));
        let detail = Json::object([("tree", symbol(copied.as_ref().err())), ("move", symbol(moved.as_ref().err()))]);
        Seen::tried(copied.and(moved), detail)
    }
}
