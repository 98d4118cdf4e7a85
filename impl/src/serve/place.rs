//! Where a factory's `serve` listens: `attempts/.serve/serve.sock`, which `serve.sock` beside kusaw.yaml leads to. The folder is what is
//! hidden from every step, whether there is a `serve` at that time or not. The socket is reached through a descriptor of the
//! folder: the path of one may have 107 bytes only (unix(7)), and that of a factory more.

use std::fs::{DirBuilder, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::sys::socket::{AddressFamily, Backlog, SockFlag, SockType, UnixAddr, bind, connect, listen, socket};
use nix::sys::stat::{Mode, fchmod};
use nix::unistd::geteuid;

use crate::remove::absent_is_fine;

/// The folder, in that of the factory. No attempt is called like this: a name begins with a letter or a digit.
pub const FOLDER: &str = "attempts/.serve";
/// The socket in it, and the link to it in the folder of the factory.
pub const SOCKET: &str = "serve.sock";
const LOCK: &str = "lock";

/// Between two tries where too many wait to be taken.
const AGAIN: Duration = Duration::from_millis(5);

/// The folder, open.
#[derive(Debug)]
pub struct Place {
    folder: File,
    factory: PathBuf,
}

impl Place {
    /// That of a factory, made if it is not there.
    ///
    /// # Errors
    /// Those of the file system, and where it is not this user's alone.
    pub fn make(factory: &Path) -> io::Result<Place> {
        std::fs::create_dir(factory.join("attempts")).or_else(there_is_fine)?;
        DirBuilder::new().mode(0o700).create(factory.join(FOLDER)).or_else(there_is_fine)?;
        Place::of(factory)?.ok_or_else(|| ErrorKind::NotFound.into())
    }

    /// That of a factory, if there is one.
    ///
    /// # Errors
    /// See [`Place::make`].
    pub fn of(factory: &Path) -> io::Result<Option<Place>> {
        let flags = (OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW).bits();
        let folder = match File::options().read(true).custom_flags(flags).open(factory.join(FOLDER)) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let meta = folder.metadata()?;
        if meta.uid() != geteuid().as_raw() || meta.mode() & 0o077 != 0 {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "it is not this user's alone"));
        }
        Ok(Some(Place { folder, factory: factory.into() }))
    }

    /// The path that is told to people.
    pub fn shown(&self) -> PathBuf {
        self.factory.join(SOCKET)
    }

    /// Keeps every other `serve` away as long as it is open; none where another has it. It decides, not the socket: a `serve`
    /// that was killed leaves one behind.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn lock(&self) -> io::Result<Option<File>> {
        let mut open = File::options();
        open.read(true).write(true).create(true).mode(0o600).custom_flags(OFlag::O_NOFOLLOW.bits());
        let lock = open.open(self.inner(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(lock)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(e),
        }
    }

    /// Listens, in place of whoever died there. Only for whoever has the lock.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn listen(&self) -> io::Result<OwnedFd> {
        self.clear()?;
        let listener = open_socket()?;
        // Of a socket that is not bound yet this is the mode that its file gets, whatever the umask adds to it.
        fchmod(&listener, Mode::S_IRUSR | Mode::S_IWUSR)?;
        bind(listener.as_raw_fd(), &UnixAddr::new(&self.inner(SOCKET))?)?;
        listen(&listener, Backlog::new(1024)?)?;
        symlink(Path::new(FOLDER).join(SOCKET), self.shown())?;
        Ok(listener)
    }

    /// Removes the socket, and the link to it. Only for whoever has the lock.
    ///
    /// # Errors
    /// Those of the file system, and where something else lies at the place of the link.
    pub fn clear(&self) -> io::Result<()> {
        match std::fs::read_link(self.shown()) {
            Ok(_) => std::fs::remove_file(self.shown())?,
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(_) => {
                let what = format!("{} is there and was not made by kusaw", self.shown().display());
                return Err(io::Error::new(ErrorKind::AlreadyExists, what));
            }
        }
        std::fs::remove_file(self.inner(SOCKET)).or_else(absent_is_fine)
    }

    /// A connection to whoever listens, if anybody does. It does not block; connecting may, until then.
    ///
    /// # Errors
    /// Where somebody may listen but cannot be reached.
    pub fn connect(&self, until: Instant) -> io::Result<Option<UnixStream>> {
        let stream = open_socket()?;
        let address = UnixAddr::new(&self.inner(SOCKET))?;
        loop {
            match connect(stream.as_raw_fd(), &address) {
                Ok(()) => return Ok(Some(UnixStream::from(stream))),
                Err(Errno::ENOENT | Errno::ECONNREFUSED) => return Ok(None),
                Err(Errno::EAGAIN) if Instant::now() < until => std::thread::sleep(AGAIN),
                Err(Errno::EAGAIN) => return Err(ErrorKind::TimedOut.into()),
                Err(Errno::EINTR) => {}
                Err(e) => return Err(e.into()),
            }
        }
    }

    fn inner(&self, name: &str) -> PathBuf {
        Path::new("/proc/self/fd").join(self.folder.as_fd().as_raw_fd().to_string()).join(name)
    }
}

fn there_is_fine(e: io::Error) -> io::Result<()> {
    if e.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(e) }
}

fn open_socket() -> nix::Result<OwnedFd> {
    socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileTypeExt;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[test]
    fn what_a_dead_one_left_is_replaced_at_any_depth() {
        let above = tempfile::tempdir().unwrap();
        let factory = above.path().join("d".repeat(120)).join("e".repeat(120));
        std::fs::create_dir_all(&factory).unwrap();
        assert!(Place::of(&factory).unwrap().is_none());
        let place = Place::make(&factory).unwrap();
        assert!(place.connect(soon()).unwrap().is_none(), "nobody yet");
        for _ in 0..2 {
            let listener = place.listen().unwrap();
            assert!(place.connect(soon()).unwrap().is_some());
            let meta = place.shown().metadata().unwrap();
            assert!(meta.file_type().is_socket() && meta.mode() & 0o777 == 0o600);
            drop(listener);
            assert!(place.connect(soon()).unwrap().is_none(), "it is dead");
        }
        place.clear().unwrap();
        assert!(place.shown().symlink_metadata().is_err());
    }

    #[test]
    fn one_has_the_lock_and_what_is_not_ours_stays() {
        let factory = tempfile::tempdir().unwrap();
        let place = Place::make(factory.path()).unwrap();
        let held = place.lock().unwrap().unwrap();
        assert!(Place::make(factory.path()).unwrap().lock().unwrap().is_none());
        drop(held);
        assert!(place.lock().unwrap().is_some());
        std::fs::write(place.shown(), "notes").unwrap();
        assert_eq!(place.listen().unwrap_err().kind(), ErrorKind::AlreadyExists);
        std::fs::set_permissions(factory.path().join(FOLDER), std::os::unix::fs::PermissionsExt::from_mode(0o755))
            .unwrap();
        assert!(Place::of(factory.path()).is_err());
    }
}
