//! A walk over what a step has left, by descriptor: no path is ever longer than one name, no link is followed, and nothing that
//! the step closed, made too deep or made odd keeps the rest from being looked at.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use nix::dir::{Dir, Type};
use nix::errno::Errno;
use nix::fcntl::AT_FDCWD;
use nix::sys::stat::FileStat;

use super::open::{kind_of, open_folder};

/// Folders on the way down that are held open.
const OPEN: usize = 64;

/// A folder of the walk.
pub struct Place<'a> {
    pub folder: BorrowedFd<'a>,
    /// From the root, without a slash at its ends; empty for the root.
    pub path: &'a [u8],
}

/// What is to become of an entry.
pub enum Seen {
    /// It stays, and a folder is gone into.
    Stays,
    /// It stays, and nobody looks into it.
    Passed,
    /// It is taken when its folder has been read.
    Taken(&'static str),
}

/// Whoever looks.
pub trait Look {
    /// At one entry, while its folder is read.
    fn look(&mut self, at: &Place, name: &CStr, kind: Type) -> io::Result<Seen>;

    /// Takes an entry away. A folder that is to be gone into all the same has the name that is returned.
    fn take(&mut self, at: &Place, name: &CStr, kind: Type, what: &'static str) -> io::Result<Option<CString>>;

    /// What else there is to take in a folder, now that all of it was seen.
    fn end(&mut self, _at: &Place) -> Option<(CString, &'static str)> {
        None
    }
}

/// What could not be looked at or changed. What is gone by itself, because something outside removed it, is none.
#[derive(Default)]
pub struct Trouble {
    /// The first one: where, from the root, and why.
    pub first: Option<(Vec<u8>, io::Error)>,
    /// How many more there were.
    pub more: u64,
}

impl Trouble {
    fn note(&mut self, folder: &[u8], name: &[u8], e: io::Error) {
        match e.raw_os_error().map(Errno::from_raw) {
            Some(Errno::ENOENT | Errno::ESTALE) => {}
            _ if self.first.is_some() => self.more += 1,
            _ => self.first = Some(([folder, b"/", name].concat(), e)),
        }
    }
}

/// Shows all entries below `root` to `look`. Folders that are closed to their owner are opened, and stay so.
pub fn walk(root: &Path, look: &mut dyn Look) -> Trouble {
    let mut walk = Walk { root: None, stack: Vec::new(), path: Vec::new(), trouble: Trouble::default() };
    match open_folder(AT_FDCWD, root).and_then(|(folder, stat)| Ok((folder.try_clone()?, folder, stat))) {
        Ok((root, folder, stat)) => {
            walk.root = Some(root);
            walk.enter(folder, stat, 0, look);
        }
        Err(e) => walk.trouble.note(b"", b"", e),
    }
    while let Some(frame) = walk.stack.last_mut() {
        match frame.below.pop() {
            Some(name) => walk.down(&name, look),
            None => walk.up(),
        }
    }
    walk.trouble
}

struct Walk {
    root: Option<OwnedFd>,
    stack: Vec<Frame>,
    path: Vec<u8>,
    trouble: Trouble,
}

/// A folder on the way down.
struct Frame {
    /// Not all are held open: depth costs memory, not descriptors.
    folder: Option<OwnedFd>,
    /// Device and inode: `..` of a folder leads elsewhere when somebody outside has moved it.
    id: (u64, u64),
    /// Its path is the walk's up to here.
    path: usize,
    below: Vec<CString>,
}

impl Walk {
    fn down(&mut self, name: &CStr, look: &mut dyn Look) {
        let Some(Frame { folder: Some(parent), path, .. }) = self.stack.last() else { return };
        let path = *path;
        match open_folder(parent, name) {
            Ok((folder, stat)) => {
                self.path.truncate(path);
                self.path.extend_from_slice(if path == 0 { b"" } else { b"/" });
                self.path.extend_from_slice(name.to_bytes());
                self.enter(folder, stat, self.path.len(), look);
            }
            // No folder any more: only somebody outside can have done that.
            Err(e) if matches!(e.raw_os_error(), Some(libc::ENOTDIR | libc::ELOOP)) => {}
            Err(e) => self.trouble.note(&self.path[..path], name.to_bytes(), e),
        }
    }

    fn enter(&mut self, folder: OwnedFd, stat: FileStat, path: usize, look: &mut dyn Look) {
        let place = Place { folder: folder.as_fd(), path: &self.path[..path] };
        let mut below = Vec::new();
        if let Err(e) = read(&place, look, &mut below, &mut self.trouble) {
            self.trouble.note(place.path, b"", e);
        }
        if let Some(far) = self.stack.len().checked_sub(OPEN) {
            self.stack[far].folder = None;
        }
        self.stack.push(Frame { folder: Some(folder), id: (stat.st_dev, stat.st_ino), path, below });
    }

    fn up(&mut self) {
        let Some(done) = self.stack.pop() else { return };
        let Some(parent) = self.stack.last() else { return };
        if parent.folder.is_some() {
            return;
        }
        let found = match self.above(done.folder.as_ref(), parent) {
            Ok(folder) => Some(folder),
            Err(e) => {
                self.trouble.note(&self.path[..parent.path], b"", e);
                None
            }
        };
        if let Some(parent) = self.stack.last_mut() {
            if found.is_none() {
                parent.below.clear();
            }
            parent.folder = found;
        }
    }

    /// By `..`, and where that leads elsewhere, by its names from the root.
    fn above(&self, done: Option<&OwnedFd>, parent: &Frame) -> io::Result<OwnedFd> {
        if let Some((folder, stat)) = done.and_then(|done| open_folder(done, "..").ok())
            && (stat.st_dev, stat.st_ino) == parent.id
        {
            return Ok(folder);
        }
        let mut folder = self.root.as_ref().ok_or(Errno::ENOENT)?.try_clone()?;
        for name in self.path[..parent.path].split(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
            folder = open_folder(&folder, name)?.0;
        }
        Ok(folder)
    }
}

/// Looks at all entries of a folder, takes what is to be taken, and lists the folders below.
fn read(place: &Place, look: &mut dyn Look, below: &mut Vec<CString>, trouble: &mut Trouble) -> io::Result<()> {
    let mut taken = Vec::new();
    for entry in Dir::from_fd(place.folder.try_clone_to_owned()?)?.iter() {
        let entry = match entry {
            Ok(entry) => entry,
            // What has been seen of it is taken all the same.
            Err(e) => {
                trouble.note(place.path, b"", e.into());
                break;
            }
        };
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let seen =
            kind_of(place.folder, name, entry.file_type()).and_then(|kind| Ok((look.look(place, name, kind)?, kind)));
        match seen {
            Ok((Seen::Stays, Type::Directory)) => below.push(name.to_owned()),
            Ok((Seen::Stays | Seen::Passed, _)) => {}
            Ok((Seen::Taken(what), kind)) => taken.push((name.to_owned(), kind, what)),
            Err(e) => trouble.note(place.path, name.to_bytes(), e),
        }
    }
    // Not before: what a folder shows while entries of it go is not the same on every file system.
    let more = look.end(place).map(|(name, what)| (name, Type::File, what));
    for (name, kind, what) in taken.into_iter().chain(more) {
        match look.take(place, &name, kind, what) {
            Ok(again) => below.extend(again.filter(|_| kind == Type::Directory)),
            Err(e) => trouble.note(place.path, name.to_bytes(), e),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::fcntl::AtFlags;
    use nix::sys::stat::fstatat;
    use std::fs;
    use std::path::PathBuf;

    /// Sees names, and does something at each.
    struct Seeing<F>(Vec<String>, F);

    impl<F: FnMut(&str)> Look for Seeing<F> {
        fn look(&mut self, at: &Place, name: &CStr, _: Type) -> io::Result<Seen> {
            let name = name.to_str().unwrap();
            self.1(name);
            fstatat(at.folder, name, AtFlags::AT_SYMLINK_NOFOLLOW)?;
            self.0.push(name.into());
            Ok(Seen::Stays)
        }

        fn take(&mut self, _: &Place, _: &CStr, _: Type, _: &'static str) -> io::Result<Option<CString>> {
            Ok(None)
        }
    }

    fn seen(root: &Path, at_each: impl FnMut(&str)) -> Vec<String> {
        let mut look = Seeing(Vec::new(), at_each);
        let trouble = walk(root, &mut look);
        assert!(trouble.first.is_none(), "{:?}", trouble.first);
        look.0.sort();
        look.0
    }

    /// Folders d0/d1/…, each with a folder beside.
    fn chain(root: &Path, depth: usize) -> PathBuf {
        (0..depth).fold(root.to_path_buf(), |at, level| {
            fs::create_dir_all(at.join(format!("side{level}/inner{level}"))).unwrap();
            at.join(format!("d{level}"))
        })
    }

    #[test]
    fn depth_hides_nothing_and_needs_no_descriptors() {
        let root = tempfile::tempdir().unwrap();
        let end = chain(root.path(), 5 * OPEN);
        fs::create_dir_all(&end).unwrap();
        // Those of this walk: other tests run in this process.
        let held = || {
            let held = fs::read_dir("/proc/self/fd").unwrap().flatten().map(|entry| fs::read_link(entry.path()));
            held.flatten().filter(|at| at.starts_with(root.path())).count()
        };
        let mut most = 0;
        let names = seen(root.path(), |_| most = most.max(held()));
        assert_eq!(names.len(), 3 * 5 * OPEN);
        assert!((OPEN..OPEN + 5).contains(&most), "{most}");
    }

    #[test]
    fn what_is_gone_is_no_trouble() {
        let root = tempfile::tempdir().unwrap();
        (0..100).for_each(|i| fs::create_dir_all(root.path().join(format!("{i}/x"))).unwrap());
        (100..200).for_each(|i| fs::write(root.path().join(i.to_string()), "").unwrap());
        let mut looked = 0;
        let names = seen(root.path(), |_| {
            looked += 1;
            if looked == 20 {
                (0..100).for_each(|i| fs::remove_dir_all(root.path().join(i.to_string())).unwrap());
                (100..200).for_each(|i| fs::remove_file(root.path().join(i.to_string())).unwrap());
            }
        });
        assert_eq!(names.len(), 19);
    }

    #[test]
    fn a_folder_that_is_moved_meanwhile_does_not_lead_the_walk_away() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/tmp").unwrap());
        let end = chain(root.path(), 3 * OPEN);
        fs::create_dir_all(end.join("end")).unwrap();
        fs::create_dir(outside.path().join("precious")).unwrap();
        let moved = root.path().join("d0/d1/d2");
        let names = seen(root.path(), |name| {
            if name == "end" {
                fs::rename(&moved, outside.path().join("d2")).unwrap();
            }
        });
        assert!(!names.iter().any(|name| name == "precious"));
        assert!(["inner0", "inner1", "inner2"].iter().all(|inner| names.iter().any(|name| name == inner)), "{names:?}");
    }

    #[test]
    fn no_link_is_followed() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir(outside.path().join("precious")).unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        assert_eq!(seen(root.path(), |_| {}), ["link"]);
    }
}
