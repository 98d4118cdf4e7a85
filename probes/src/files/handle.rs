//! `handle PATH`: opens a file by the handle of it (open_by_handle_at(2)), as one could with a handle that was guessed,
//! and reads its beginning.

#![allow(unsafe_code)]

use std::ffi::{CString, OsString, c_int, c_uint};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::path::Path;

use nix::errno::Errno;

use super::read;
use crate::action::Action;
use crate::descriptor;
use crate::json::Json;
use crate::seen::{Seen, errno};
use crate::words::{Usage, Words, c_string};

/// MAX_HANDLE_SZ of open_by_handle_at(2).
const MAX_HANDLE: usize = 128;
const MAX: u64 = 4096;

/// Opens by handle.
pub struct Handle {
    path: OsString,
    c_path: CString,
}

impl Handle {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [path] = words.exactly(["PATH"])?;
        Ok(Self { c_path: c_string(path.clone(), "PATH")?, path })
    }

    fn named(&self) -> io::Result<FileHandle> {
        let mut handle = FileHandle { bytes: MAX_HANDLE as c_uint, kind: 0, data: [0; MAX_HANDLE] };
        let mut mount: c_int = 0;
        let (here, path) = (libc::AT_FDCWD, self.c_path.as_ptr());
        // SAFETY: the path ends with NUL; the kernel writes one number and at most as many bytes as the handle says it
        // has.
        Errno::result(unsafe {
            libc::syscall(libc::SYS_name_to_handle_at, here, path, &raw mut handle, &raw mut mount, 0)
        })?;
        Ok(handle)
    }

    /// The folder stands for the mount that the file is on.
    fn text(&self, handle: &FileHandle) -> io::Result<Vec<u8>> {
        let folder = Path::new(&self.path).parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let folder = read::open(folder, libc::O_DIRECTORY)?;
        let flags = libc::O_RDONLY | libc::O_CLOEXEC | libc::O_NONBLOCK | libc::O_NOCTTY;
        // SAFETY: the kernel reads the handle, which is whole; the answer is a new descriptor.
        let file = unsafe {
            descriptor::made(libc::syscall(libc::SYS_open_by_handle_at, folder.as_raw_fd(), &raw const *handle, flags))?
        };
        let mut text = Vec::new();
        File::from(file).take(MAX).read_to_end(&mut text)?;
        Ok(text)
    }
}

impl Action for Handle {
    fn target(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// `name` is the errno of name_to_handle_at(2).
    fn run(&self) -> Seen {
        let named = self.named();
        let name = named.as_ref().err().map_or(Json::Null, |error| Json::from(errno(error)));
        let text = named.and_then(|handle| self.text(&handle));
        let read = text.as_ref().map_or(Json::Null, |text| Json::from(&text[..]));
        Seen::tried(text, Json::object([("name", name), ("text", read)]))
    }
}

/// struct file_handle of open_by_handle_at(2).
#[repr(C)]
struct FileHandle {
    bytes: c_uint,
    kind: c_int,
    data: [u8; MAX_HANDLE],
}
