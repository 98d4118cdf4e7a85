//! The way from a written path to the real one, name by name, with every place that was looked at and every link that was
//! followed. Only names are looked at: nothing is opened, and a path that cannot be gone to its end stays an error.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{self, FileType};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};

use kusaw_enter::place::Identity;
use nix::errno::Errno;
use nix::unistd::geteuid;

/// As many as the kernel follows, path_resolution(7).
const MOST_LINKS: usize = 40;

/// A way that was gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// Every place looked at, in order, the last one last: no link in it but perhaps its last name.
    pub places: Vec<PathBuf>,
    /// The links among them, and what stands in them.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// What is at the end, or why it was not reached: then the last of `places` is where.
    pub end: Result<End, Errno>,
}

/// The end of a way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    /// The real path.
    pub path: PathBuf,
    /// What is there.
    pub what: What,
    /// Which one, so that the mount can be seen to be of the same.
    pub is: Identity,
}

/// What is at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A folder.
    Folder,
    /// A file, or a FIFO.
    File,
    /// A pathname socket.
    Socket,
    /// A device node.
    Device,
}

/// More places than any way of sense has; links full of `x/../` have more.
const MOST_PLACES: usize = 256;

/// Goes to `path`, which is absolute.
pub fn walk(path: &Path) -> Walk {
    let mut walk = Walk { places: Vec::new(), links: Vec::new(), end: Err(Errno::ENOENT) };
    walk.end = go(path, &mut walk);
    walk
}

fn go(path: &Path, walk: &mut Walk) -> Result<End, Errno> {
    let mut real = PathBuf::from("/");
    let mut what = What::Folder;
    let mut ahead: VecDeque<OsString> = names(path).collect();
    while let Some(name) = ahead.pop_front() {
        if name == "/" {
            real = "/".into();
            what = What::Folder;
            continue;
        }
        if what != What::Folder {
            return Err(Errno::ENOTDIR);
        }
        if name == ".." {
            real.pop();
            continue;
        }
        let place = real.join(&name);
        if walk.places.len() == MOST_PLACES {
            return Err(Errno::ELOOP);
        }
        walk.places.push(place.clone());
        let meta = fs::symlink_metadata(&place).map_err(errno)?;
        let kind = meta.file_type();
        if kind.is_symlink() {
            let folder = fs::metadata(&real).map_err(errno)?;
            if !is_trusted(meta.uid(), folder.mode(), folder.uid(), geteuid().as_raw()) {
                return Err(Errno::EACCES);
            }
            let target = fs::read_link(&place).map_err(errno)?;
            names(&target).rev().for_each(|name| ahead.push_front(name));
            walk.links.push((place, target));
            if walk.links.len() > MOST_LINKS {
                return Err(Errno::ELOOP);
            }
        } else {
            what = what_is(kind);
            real = place;
        }
    }
    // Once more in one go: names may have been exchanged between the steps, and what is guarded is the path.
    let is = Identity::of(&real)?;
    Ok(End { path: real, what, is })
}

/// Whether a link is followed: in a folder that everybody can write, one's own and the folder's owner's, as the kernel has it
/// for /tmp (proc_sys_fs(5), protected_symlinks; it can be turned off).
fn is_trusted(owner: u32, folder_mode: u32, folder_owner: u32, own: u32) -> bool {
    folder_mode & 0o002 == 0 || owner == own || owner == folder_owner
}

/// The names on a path; the first of an absolute one is `/`.
fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> {
    path.components().filter(|c| *c != Component::CurDir).map(|c| c.as_os_str().to_os_string())
}

fn what_is(kind: FileType) -> What {
    match kind {
        kind if kind.is_dir() => What::Folder,
        kind if kind.is_socket() => What::Socket,
        kind if kind.is_block_device() || kind.is_char_device() => What::Device,
        _ => What::File,
    }
}

fn errno(e: std::io::Error) -> Errno {
    e.raw_os_error().map_or(Errno::EIO, Errno::from_raw)
}

/// The real path of something that need not be there: real as far as there is something.
pub fn as_far_as_real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|above| Some((above, fs::canonicalize(above).ok()?)));
    let whole = there.and_then(|(above, real)| Some(real.join(path.strip_prefix(above).ok()?)));
    // Joining nothing adds a slash at the end; components do not have it.
    whole.map_or_else(|| path.into(), |path| path.components().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn the_end_is_what_the_kernel_finds_and_every_place_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(at("a/b")).unwrap();
        fs::write(at("a/b/file"), "").unwrap();
        symlink("a/../a/b", at("relative")).unwrap();
        symlink(at("relative"), at("a/absolute")).unwrap();
        let walk = walk(&at("a/absolute/./file"));
        let is = Identity::of(&at("a/b/file")).unwrap();
        assert_eq!(walk.end, Ok(End { path: at("a/b/file"), what: What::File, is }));
        assert_eq!(walk.links.iter().map(|l| &l.0).collect::<Vec<_>>(), [&at("a/absolute"), &at("relative")]);
        assert!([at("a"), at("relative"), at("a/b/file")].iter().all(|place| walk.places.contains(place)));
    }

    #[test]
    fn a_link_of_another_user_in_a_folder_of_everybody_is_not_followed() {
        let (root, own, other) = (0, 1000, 1001);
        assert!(!is_trusted(other, 0o041777, root, own) && !is_trusted(other, 0o040777, own, own));
        assert!(is_trusted(own, 0o041777, root, own) && is_trusted(root, 0o041777, root, own));
        assert!(is_trusted(other, 0o040755, root, own));
    }

    #[test]
    fn what_cannot_be_reached_is_an_error_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        symlink("loop", at("loop")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        fs::write(at("file"), "").unwrap();
        symlink("a/../".repeat(MOST_PLACES) + "a", at("long")).unwrap();
        fs::create_dir(at("a")).unwrap();
        assert_eq!(walk(&at("long")).end, Err(Errno::ELOOP));
        for (path, errno, place) in [
            ("loop/x", Errno::ELOOP, "loop"),
            ("dangling", Errno::ENOENT, "nowhere"),
            ("missing/x", Errno::ENOENT, "missing"),
        ] {
            let walk = walk(&at(path));
            assert_eq!((walk.end, walk.places.last()), (Err(errno), Some(&at(place))), "{path}");
        }
        assert_eq!(walk(&at("file/x")).end, Err(Errno::ENOTDIR));
        assert_eq!(as_far_as_real(&at("file")), at("file"));
        assert_eq!(as_far_as_real(&at("not/there")), at("not/there"));
    }
}
