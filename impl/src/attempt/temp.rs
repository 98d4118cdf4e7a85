//! The private temp folder: made with its parts before the launch, removed when the sandbox is dead.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use nix::fcntl::{Flock, FlockArg};

use crate::reach::Temp;
use crate::remove::remove;
use crate::stderr;

/// Owns the folder on the host; dropping it removes it.
#[derive(Debug)]
pub struct TempFolder {
    /// Its parts.
    pub temp: Temp,
    /// flock(2) on the folder as long as this process lives.
    _lock: Flock<File>,
}

/// Six letters or digits follow. A folder of the user's can be called like this as well: see `leftover`.
pub const PREFIX: &str = "kusaw-private-";

/// What a copy of an agent's file is called in it, with a number, where it cannot be in the home.
pub const STATE: &str = "state-";

/// Folders that are made and swept by another before one is held.
const TURNS: u32 = 16;

impl TempFolder {
    /// Makes the folder below the system's temp folder, a short path, entered by its owner only. What is in it besides the
    /// home and /tmp, `furnish` makes.
    pub fn make() -> io::Result<TempFolder> {
        let private = Permissions::from_mode(0o700);
        let above = std::env::temp_dir().canonicalize()?;
        let (root, lock) = some_turns(|| {
            let root = tempfile::Builder::new().prefix(PREFIX).permissions(private.clone()).tempdir_in(&above)?.keep();
            Ok(hold(&root)?.map(|lock| (root, lock)))
        })?;
        let folder = TempFolder { temp: Temp { root }, _lock: lock };
        [folder.temp.home(), folder.temp.slash_tmp()].iter().try_for_each(|part| private_folder(part))?;
        Ok(folder)
    }

    /// Makes what the step needs in it and bubblewrap does not: there is time for that while bubblewrap starts.
    pub fn furnish(&self) -> io::Result<()> {
        for inner in [self.temp.tmpdir(), self.temp.cache(), self.temp.runtime()] {
            private_folder(&self.temp.on_host(&inner))?;
        }
        std::fs::set_permissions(self.temp.slash_tmp(), Permissions::from_mode(0o1777))?;
        Ok(())
    }
}

fn private_folder(at: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(at)
}

/// Until there is one: whoever sweeps can come between making and locking, but not time after time.
fn some_turns<T>(mut make: impl FnMut() -> io::Result<Option<T>>) -> io::Result<T> {
    for _ in 0..TURNS {
        if let Some(made) = make()? {
            return Ok(made);
        }
    }
    Err(io::Error::other(format!("made {TURNS} times, and each time something removed it before it was locked")))
}

/// Locks a folder that has just been made; none when it was swept before that.
pub fn hold(root: &Path) -> io::Result<Option<Flock<File>>> {
    let opened = match File::open(root) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    let lock = Flock::lock(opened, FlockArg::LockExclusive).map_err(|(_, e)| e)?;
    let held = lock.metadata()?;
    let there = root.symlink_metadata().is_ok_and(|meta| (meta.dev(), meta.ino()) == (held.dev(), held.ino()));
    Ok(there.then_some(lock))
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        if let Err(e) = remove(&self.temp.root) {
            stderr::warn(format!("{} could not be removed: {e}", self.temp.root.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_removed_each_time_it_is_made_is_an_error() {
        let mut turns = 0;
        let never = some_turns(|| {
            turns += 1;
            Ok(None::<()>)
        });
        assert!(never.unwrap_err().to_string().starts_with("made 16 times"));
        assert_eq!((turns, some_turns(|| Ok(Some(3))).unwrap()), (16, 3));
    }

    /// Whoever is swept between making its folder and locking it makes another.
    #[test]
    fn many_at_once_sweep_nothing_that_is_used() {
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..40 {
                        let folder = TempFolder::make().unwrap();
                        folder.furnish().unwrap();
                        crate::attempt::leftover::sweep();
                        assert!(folder.temp.on_host(&folder.temp.tmpdir()).is_dir());
                    }
                });
            }
        });
    }
}
