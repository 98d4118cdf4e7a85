//! A file that an agent's arguments name, read outside on the step's behalf: only what the step could have been given anyway. A
//! relative name is one in its worktree, which the repository fills, so no link in it is followed.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use kusaw_enter::place::Identity;
use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2};

use super::entry::{Entry, Kind};
use super::facts::Alone;
use super::host::Ways;
use super::look::Look;
use super::{danger, walk};
use crate::outcome::{Reason, Refusal};
use crate::settings::Settings;
use crate::stderr::one_line;

/// Largest file, in bytes: it becomes an argument, and the kernel takes none above 128 KiB, execve(2).
const MAX: u64 = 128 << 10;

/// A FIFO opens at once, and is none.
const FLAGS: OFlag = OFlag::O_NONBLOCK.union(OFlag::O_CLOEXEC).union(OFlag::O_NOCTTY);

/// The text of `name`, which stands under `key`, for a step that starts in `cwd`.
pub fn text(factory: &Path, settings: &Settings, key: &str, name: &str, cwd: &Path) -> Result<String, Refusal> {
    let refuse = |reason, why: String| {
        let fix = Some("name a file that has nothing to do with that, or write the settings themselves".to_string());
        Refusal { fix, ..Refusal::new(reason, one_line(&format!("{key}: {name:?}: {why}"))) }
    };
    let unresolved = |errno: Errno| refuse(Reason::UnresolvedPath, errno.to_string());
    let is_relative = !name.starts_with('~') && Path::new(name).is_relative();
    let opened = match is_relative {
        true => beneath(cwd, Path::new(name)).map_err(unresolved)?,
        false => {
            let mut ways = Ways::new(factory);
            let facts = ways.facts(settings, &mut Look::at_launch());
            let entry = Entry { key: key.into(), kind: Kind::Read, written: name.into() };
            let asked = ways.ask(vec![entry]).remove(0);
            match facts.alone(&asked) {
                Ok(Alone::At(_)) => {}
                Ok(Alone::Loose(place, outer)) => {
                    let why = format!("{} lies in {}, which a step can write", place.display(), outer.display());
                    return Err(refuse(Reason::StepWritablePath, why));
                }
                Err(refused) => return Err(refuse(refused.reason, refused.why)),
            }
            let end = asked.walk.end.clone().map_err(unresolved)?;
            if let Some(what) = danger::of_state(&end.path, &danger::all(factory, settings, &facts)) {
                return Err(refuse(Reason::ProtectedPath, format!("{}: it {what}", end.path.display())));
            }
            open(&end).map_err(unresolved)?
        }
    };
    read(opened).map_err(|e| refuse(Reason::UnresolvedPath, e.to_string()))
}

/// Opens what was looked at, and nothing that has come in its place since.
fn open(end: &walk::End) -> Result<File, Errno> {
    let how = OpenHow::new().flags(FLAGS).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
    let file = File::from(openat2(AT_FDCWD, &end.path, how)?);
    let meta = file.metadata().map_err(|_| Errno::EIO)?;
    match (Identity { device: meta.dev(), inode: meta.ino() }) == end.is {
        true => Ok(file),
        false => Err(Errno::ESTALE),
    }
}

fn beneath(folder: &Path, name: &Path) -> Result<File, Errno> {
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let folder: OwnedFd = openat2(AT_FDCWD, folder, OpenHow::new().flags(flags))?;
    let how = OpenHow::new()
        .flags(FLAGS)
        .resolve(ResolveFlag::RESOLVE_BENEATH | ResolveFlag::RESOLVE_NO_SYMLINKS | ResolveFlag::RESOLVE_NO_XDEV);
    openat2(folder, name, how).map(File::from)
}

fn read(file: File) -> std::io::Result<String> {
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is no file"));
    }
    let mut text = String::new();
    file.take(MAX + 1).read_to_string(&mut text)?;
    match text.len() as u64 {
        0..=MAX => Ok(text),
        _ => Err(std::io::Error::other(format!("it is larger than {MAX} bytes"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn in_a_worktree_no_link_is_followed_and_none_leads_out() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("w/in")).unwrap();
        std::fs::write(at("secret"), "s").unwrap();
        std::fs::write(at("w/in/fine"), "f").unwrap();
        symlink("../secret", at("w/link")).unwrap();
        symlink("in", at("w/door")).unwrap();
        let text = |name: &str| beneath(&at("w"), name.as_ref()).map(|file| read(file).unwrap());
        assert_eq!(text("in/fine"), Ok("f".into()));
        assert_eq!(text("in/../in/./fine"), Ok("f".into()));
        for bad in ["link", "door/fine", "../secret", "in/../../secret"] {
            assert!(text(bad).is_err(), "{bad}");
        }
        assert!(read(beneath(&at("w"), "in".as_ref()).unwrap()).is_err());
    }
}
