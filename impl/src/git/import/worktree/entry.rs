//! What an entry is that a step has left, and what makes it harmless where it lies. No file is opened for reading.

use std::ffi::{CStr, CString};
use std::io;

use nix::dir::Type;
use nix::fcntl::{AtFlags, OFlag, openat};
use nix::sys::stat::{FileStat, Mode, fstat, fstatat};

use super::open::set_mode;
use super::walk::Place;

/// Set-user-id and set-group-id.
const SET_ID: u32 = 0o6000;

/// What holds whoever opens it, or leads to whoever listens, or to a device.
pub fn special(kind: Type) -> Option<&'static str> {
    match kind {
        Type::Fifo => Some("a FIFO"),
        Type::Socket => Some("a socket"),
        Type::BlockDevice | Type::CharacterDevice => Some("a device"),
        Type::Directory | Type::File | Type::Symlink => None,
    }
}

/// What every git reads whole before it does anything, in the folder it works in: git itself refuses only attributes of this size
/// (ATTR_MAX_FILE_SIZE in its attr.h), and links to all of them but `.gitmodules`, which no tree may have as a link either.
pub fn whole(name: &CStr, kind: Type, stat: Option<&FileStat>) -> Option<&'static str> {
    if !READ_WHOLE.contains(&name.to_bytes()) {
        return None;
    }
    match kind {
        Type::Symlink => (name == c".gitmodules").then_some("a link that git would follow"),
        _ => stat.is_some_and(|stat| stat.st_size > LARGEST).then_some("larger than what git should read whole"),
    }
}

const READ_WHOLE: [&[u8]; 4] = [b".gitignore", b".gitattributes", b".gitmodules", b".mailmap"];

/// In bytes.
const LARGEST: i64 = 100 << 20;

/// Nobody but root can open it any more.
pub fn close(at: &Place, name: &CStr) -> io::Result<()> {
    let handle = openat(at.folder, name, OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC, Mode::empty())?;
    if fstat(&handle)?.st_mode & 0o7777 == 0 { Ok(()) } else { set_mode(&handle, 0) }
}

/// Takes a file's set-id bits away. The value is what the file was before.
pub fn without_set_id(at: &Place, name: &CStr) -> io::Result<FileStat> {
    let stat = fstatat(at.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
    if has_set_id(&stat) {
        let handle = openat(at.folder, name, OFlag::O_PATH | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC, Mode::empty())?;
        let now = fstat(&handle)?;
        if has_set_id(&now) {
            set_mode(&handle, now.st_mode & 0o7777 & !SET_ID)?;
        }
    }
    Ok(stat)
}

/// Whether it is a file that runs as somebody else than its caller. On a folder the bit means something harmless.
pub fn has_set_id(stat: &FileStat) -> bool {
    stat.st_mode & libc::S_IFMT == libc::S_IFREG && stat.st_mode & SET_ID != 0
}

/// The names by which git knows a folder as a repository without a `.git`: is_git_directory in its setup.c. The real ones and
/// those of a file system that ignores case.
#[derive(Default)]
pub struct Marks {
    head: Option<CString>,
    objects: bool,
    refs: bool,
    common: bool,
}

impl Marks {
    pub fn see(&mut self, name: &CStr, kind: Type) {
        let is = |what: &str| name.to_bytes().eq_ignore_ascii_case(what.as_bytes());
        match name.to_bytes().len() {
            4 if is("HEAD") && kind != Type::Directory && (self.head.is_none() || name == c"HEAD") => {
                self.head = Some(name.to_owned());
            }
            4 if is("refs") => self.refs = true,
            7 if is("objects") => self.objects = true,
            9 if is("commondir") => self.common = true,
            _ => {}
        }
    }

    /// The name of its HEAD, if the folder is a repository; without it, it is none. Forgets all of it.
    pub fn head(&mut self) -> Option<CString> {
        let Marks { head, objects, refs, common } = std::mem::take(self);
        head.filter(|_| common || objects && refs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_known_by_its_names() {
        let head = |names: &[&CStr]| {
            let mut marks = Marks::default();
            names.iter().for_each(|name| marks.see(name, Type::File));
            let head = marks.head();
            assert!(marks.head().is_none(), "it is forgotten");
            head
        };
        assert_eq!(head(&[c"HEAD", c"objects", c"refs"]).as_deref(), Some(c"HEAD"));
        assert_eq!(head(&[c"HEAD", c"commondir"]).as_deref(), Some(c"HEAD"));
        assert_eq!(head(&[c"HEAD", c"head", c"OBJECTS", c"Refs"]).as_deref(), Some(c"HEAD"));
        assert_eq!(head(&[c"head", c"HEAD", c"OBJECTS", c"Refs"]).as_deref(), Some(c"HEAD"));
        assert!(head(&[c"HEAD", c"objects"]).is_none() && head(&[c"objects", c"refs", c"commondir"]).is_none());
    }
}
