//! A settings file in the home that its agent replaces as a whole: it makes another beside it and renames that over it, which
//! does to no mount, and locks it by a folder beside it, which is in the attempt's private home. So each attempt works on a copy,
//! and what it has changed is put into the user's file when its sandbox is dead: under the agent's own lock, in one rename.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use kusaw_enter::place::Identity;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2};

use super::merge::merged;
use crate::allow::StateFile;

/// Largest file, in bytes.
const MAX: u64 = 64 << 20;

/// A lock that nobody has touched for so long is nobody's (proper-lockfile, which Claude Code uses).
const STALE: Duration = Duration::from_secs(10);

/// How long another's lock is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// A file of the user's of which the attempt has a copy.
#[derive(Debug)]
pub struct Exchanged {
    /// Its real path, for messages.
    real: PathBuf,
    /// The folder it lies in, held so that nobody can exchange that.
    folder: OwnedFd,
    name: PathBuf,
    /// What it held at first.
    first: Vec<u8>,
    /// On the host: the attempt's copy.
    copy: PathBuf,
}

impl Exchanged {
    /// Makes the copy at `copy`; the file must be the one that was looked at.
    pub fn take(file: &StateFile, copy: PathBuf) -> io::Result<Exchanged> {
        let (Some(above), Some(name)) = (file.real.parent(), file.real.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let how = OpenHow::new()
            .flags(OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC)
            .resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
        let folder = openat2(AT_FDCWD, above, how)?;
        let mut exchanged = Exchanged { real: file.real.clone(), folder, name: name.into(), first: Vec::new(), copy };
        let opened = open(&exchanged.at(&exchanged.name))?;
        let meta = opened.metadata()?;
        if (Identity { device: meta.dev(), inode: meta.ino() }) != file.is {
            return Err(io::Error::other("it was exchanged during the launch"));
        }
        exchanged.first = bytes(opened)?;
        let mut new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&exchanged.copy)?;
        new.write_all(&exchanged.first)?;
        Ok(exchanged)
    }

    /// Puts what the attempt has changed into the user's file. Nothing may write to the copy any more. The error says what was
    /// not taken over, and why; the user's file is whole in any case. Its lock is not waited for once `stop` says true.
    pub fn give_back(self, stop: &dyn Fn() -> bool) -> Result<(), String> {
        let about = |what: &dyn std::fmt::Display| {
            format!("{}: what the agent changed is not taken over: {what}", self.real.display())
        };
        let own = match open(&self.copy).and_then(bytes) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            read => read.map_err(|e| about(&e))?,
        };
        if own == self.first {
            return Ok(());
        }
        let lock =
            Lock::take(self.at(&with(&self.name, ".lock")), stop).map_err(|e| about(&format!("its lock: {e}")))?;
        let given = self.replace(&own);
        drop(lock);
        given.map_err(|e| about(&e))
    }

    fn replace(&self, own: &[u8]) -> io::Result<()> {
        let there = self.at(&self.name);
        let opened = match open(&there) {
            // What the user has removed stays removed.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        let mode = opened.metadata()?.mode() & 0o777;
        let theirs = bytes(opened)?;
        let text = merged(&self.first, own, &theirs, MAX as usize)
            .map_err(|e| io::Error::other(format!("it is not JSON as before: {e}")))?;
        let mut new = tempfile::Builder::new()
            .prefix(&with(&self.name, ".tmp."))
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(self.at("".as_ref()))?;
        new.write_all(&text)?;
        new.as_file().sync_all()?;
        new.persist(there)?;
        Ok(())
    }

    /// A name in the folder that is held.
    fn at(&self, name: &Path) -> PathBuf {
        Path::new("/proc/self/fd").join(self.folder.as_raw_fd().to_string()).join(name)
    }
}

fn with(name: &Path, end: &str) -> PathBuf {
    let mut name = name.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Opens a file and nothing else: a step can have left a link or a FIFO there.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no file")),
    }
}

fn bytes(file: File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MAX + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        0..=MAX => Ok(bytes),
        _ => Err(io::Error::other(format!("it is larger than {MAX} bytes"))),
    }
}

/// The agent's own lock: a folder.
struct Lock(PathBuf);

impl Lock {
    fn take(at: PathBuf, stop: &dyn Fn() -> bool) -> io::Result<Lock> {
        let until = Instant::now() + PATIENCE;
        loop {
            match fs::create_dir(&at) {
                Ok(()) => return Ok(Lock(at)),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists && Instant::now() < until && !stop() => {
                    let touched = at.symlink_metadata().and_then(|meta| meta.modified());
                    let is_stale = |at: SystemTime| at.elapsed().is_ok_and(|since| since > STALE);
                    if touched.is_ok_and(is_stale) {
                        // Whoever else removes it or takes it meanwhile has it: the next turn tells.
                        let _ = fs::remove_dir(&at);
                    }
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(e) => return Err(e),
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // One that cannot be removed is stale soon.
        let _ = fs::remove_dir(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(folder: &Path) -> StateFile {
        let real = folder.canonicalize().unwrap().join(".claude.json");
        StateFile { named: real.clone(), is: Identity::of(&real).unwrap(), real }
    }

    #[test]
    fn attempts_at_the_same_time_lose_nothing_of_each_other() {
        let (home, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(home.path().join(".claude.json"), r#"{"n":{}}"#).unwrap();
        let taken: Vec<Exchanged> =
            (0..8).map(|n| Exchanged::take(&file(home.path()), copies.path().join(n.to_string())).unwrap()).collect();
        std::thread::scope(|scope| {
            for (n, one) in taken.into_iter().enumerate() {
                fs::write(&one.copy, format!(r#"{{"n":{{"a{n}":{n}}}}}"#)).unwrap();
                scope.spawn(move || one.give_back(&|| false).unwrap());
            }
        });
        let after: serde_json::Value =
            serde_json::from_slice(&fs::read(home.path().join(".claude.json")).unwrap()).unwrap();
        assert_eq!(after["n"].as_object().unwrap().len(), 8, "{after}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn another_s_lock_is_not_waited_for_when_kusaw_is_to_end() {
        let (home, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(home.path().join(".claude.json"), r#"{"a":1}"#).unwrap();
        // A file is a lock that nobody takes away.
        fs::write(home.path().join(".claude.json.lock"), "").unwrap();
        let one = Exchanged::take(&file(home.path()), copies.path().join("0")).unwrap();
        fs::write(&one.copy, r#"{"a":2}"#).unwrap();
        let start = Instant::now();
        assert!(one.give_back(&|| true).unwrap_err().contains("its lock") && start.elapsed() < PATIENCE / 2);
    }

    #[test]
    fn nothing_but_json_is_taken_over_and_no_link_is_followed() {
        let (home, copies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let at = home.path().join(".claude.json");
        for (n, (left, fine)) in [("{", false), ("link", false), ("gone", true)].into_iter().enumerate() {
            fs::write(&at, r#"{"a":1}"#).unwrap();
            fs::set_permissions(&at, Permissions::from_mode(0o640)).unwrap();
            let one = Exchanged::take(&file(home.path()), copies.path().join(n.to_string())).unwrap();
            fs::remove_file(&one.copy).unwrap();
            match left {
                "link" => std::os::unix::fs::symlink(&at, &one.copy).unwrap(),
                "gone" => {}
                text => fs::write(&one.copy, text).unwrap(),
            }
            assert_eq!(one.give_back(&|| false).is_ok(), fine, "{left}");
            assert_eq!(fs::read(&at).unwrap(), br#"{"a":1}"#);
        }
        let one = Exchanged::take(&file(home.path()), copies.path().join("last")).unwrap();
        fs::write(&one.copy, r#"{"a":2}"#).unwrap();
        one.give_back(&|| false).unwrap();
        assert_eq!(fs::read(&at).unwrap(), br#"{"a":2}"#);
        assert_eq!(at.metadata().unwrap().mode() & 0o777, 0o640);
    }
}
