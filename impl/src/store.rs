//! The secret store: one encrypted file a secret, the key that opens them in a folder of its own (`private.rs` says where; no step
//! ever sees either). A value is in memory only where it is used, and is overwritten when dropped.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use age::secrecy::ExposeSecret;
use age::x25519::{Identity, Recipient};
use zeroize::Zeroizing;

use crate::private;

/// Longest value in bytes: keys and tokens are far shorter.
pub const MAX: usize = 64 << 10;

/// Name of the key file.
const KEY: &str = "store.key";

/// A secret's bytes; overwritten when dropped, and never shown by a formatter.
pub struct Secret(Zeroizing<Vec<u8>>);

impl Secret {
    /// Takes the bytes over.
    pub fn new(bytes: Zeroizing<Vec<u8>>) -> Secret {
        Secret(bytes)
    }

    /// The bytes, for the one place that needs them.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }
}

/// Why there is no value to be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is none of this name.
    #[error("no secret {0} in the store")]
    Missing(String),
    /// Its file is there and cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// Its file is damaged, or was encrypted for another key.
    #[error("{0}")]
    Damaged(String),
    /// The key that opens the store is missing or damaged.
    #[error("{0}")]
    Key(String),
}

/// The user's store.
#[derive(Debug)]
pub struct Store {
    store: PathBuf,
    keys: PathBuf,
}

impl Store {
    /// The one in kusaw's data folder; nothing is made yet.
    pub fn own() -> io::Result<Store> {
        let data = private::data().into_iter().next();
        let data = data.ok_or_else(|| io::Error::other("neither XDG_DATA_HOME nor HOME says where the store is"))?;
        Ok(Store::at(&data))
    }

    /// The one below this folder.
    pub fn at(data: &Path) -> Store {
        Store { store: data.join("store"), keys: data.join("keys") }
    }

    /// Whether there is a secret of this name; its value is not read.
    pub fn has(&self, name: &str) -> bool {
        self.file(name).is_file()
    }

    /// Keeps a value under this name, in place of an earlier one. On disk when this returns.
    pub fn set(&self, name: &str, value: &Secret) -> io::Result<()> {
        for folder in [&self.store, &self.keys] {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            only_ours(&folder.symlink_metadata()?, folder)?;
        }
        let encrypted = age::encrypt(&self.recipient()?, value.expose()).map_err(io::Error::other)?;
        replace(&self.file(name), &encrypted)
    }

    /// The value of this name.
    ///
    /// # Errors
    /// Says which of the two files is at fault.
    pub fn get(&self, name: &str) -> Result<Secret, Fault> {
        for folder in [&self.store, &self.keys] {
            let ours = folder.symlink_metadata().map_or(Ok(()), |meta| only_ours(&meta, folder));
            ours.map_err(|e| Fault::Unreadable(e.to_string()))?;
        }
        let file = self.file(name);
        let encrypted = read(&file).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Fault::Missing(name.into()),
            _ => Fault::Unreadable(format!("secret {name}: {e}")),
        })?;
        let place = self.keys.join(KEY);
        let identity = self.identity().map_err(|e| match e.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidData => Fault::Key(format!("{}: {e}", place.display())),
            _ => Fault::Unreadable(e.to_string()),
        })?;
        let damaged = |e| Fault::Damaged(format!("secret {name}: {}: {e}", file.display()));
        Ok(Secret::new(Zeroizing::new(age::decrypt(&identity, &encrypted).map_err(damaged)?)))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.store.join(format!("{name}.age"))
    }

    fn identity(&self) -> io::Result<Identity> {
        let text = Zeroizing::new(read(&self.keys.join(KEY))?);
        let text = str::from_utf8(&text).map_err(|_| io::ErrorKind::InvalidData)?;
        text.trim_end().parse().map_err(|why: &str| io::Error::new(io::ErrorKind::InvalidData, why))
    }

    /// Without its key, a store must have no secret: a new key would open none of them.
    fn is_new(&self) -> io::Result<()> {
        let kept =
            std::fs::read_dir(&self.store)?.flatten().filter(|e| e.path().extension().is_some_and(|e| e == "age"));
        match kept.count() {
            0 => Ok(()),
            kept => Err(io::Error::other(format!(
                "{} is gone, and with it the {kept} secret(s) in {}: bring it back, or remove that folder and set every secret again",
                self.keys.join(KEY).display(),
                self.store.display()
            ))),
        }
    }

    /// Of the key that is there, or of a new one. Two that make one at a time agree on the first.
    fn recipient(&self) -> io::Result<Recipient> {
        match self.identity() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => self.is_new()?,
            known => return Ok(known?.to_public()),
        }
        let text = Identity::generate().to_string();
        let mut made = tempfile::NamedTempFile::new_in(&self.keys)?;
        made.write_all(text.expose_secret().as_bytes())?;
        made.as_file().sync_all()?;
        match made.persist_noclobber(self.keys.join(KEY)) {
            Err(e) if e.error.kind() != io::ErrorKind::AlreadyExists => return Err(e.error),
            _ => File::open(&self.keys)?.sync_all()?,
        }
        Ok(self.identity()?.to_public())
    }
}

/// Written beside, synced, renamed: a crash leaves the old value or the new one. tempfile makes files of mode 0600.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder"))?;
    let mut made = tempfile::NamedTempFile::new_in(folder)?;
    made.write_all(bytes)?;
    made.as_file().sync_all()?;
    made.persist(path).map_err(|e| e.error)?;
    File::open(folder)?.sync_all()
}

/// A file of ours that nobody else can read or write, through no link.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other(format!("{}: not a file", path.display())));
    }
    only_ours(&meta, path)?;
    let mut bytes = Vec::with_capacity(MAX);
    file.take(2 * MAX as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn only_ours(meta: &std::fs::Metadata, path: &Path) -> io::Result<()> {
    let (place, mode) = (path.display(), meta.mode() & 0o7777);
    if meta.file_type().is_symlink() {
        return Err(io::Error::other(format!("{place}: a link")));
    }
    if meta.uid() != nix::unistd::geteuid().as_raw() {
        return Err(io::Error::other(format!("{place}: belongs to uid {}", meta.uid())));
    }
    if mode & 0o077 != 0 {
        return Err(io::Error::other(format!("{place}: mode {mode:o} lets others in (chmod go= {place})")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn secret(text: &str) -> Secret {
        Secret::new(Zeroizing::new(text.into()))
    }

    #[test]
    fn a_value_comes_back_and_stands_nowhere_on_disk() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::at(data.path());
        assert_eq!(store.get("k").err(), Some(Fault::Missing("k".into())));
        for value in ["canary-one", "canary-two"] {
            store.set("k", &secret(value)).unwrap();
            assert_eq!(store.get("k").unwrap().expose(), value.as_bytes());
        }
        for folder in ["store", "keys"] {
            let folder = data.path().join(folder);
            assert_eq!(folder.metadata().unwrap().mode() & 0o777, 0o700);
            let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
            assert_eq!(files.len(), 1, "{files:?}");
            assert_eq!(files[0].metadata().unwrap().mode() & 0o777, 0o600);
            let bytes = std::fs::read(&files[0]).unwrap();
            assert!(!bytes.windows(6).any(|w| w == b"canary"));
        }
    }

    #[test]
    fn what_others_can_read_is_refused() {
        let data = tempfile::tempdir().unwrap();
        let store = Store::at(data.path());
        store.set("k", &secret("v")).unwrap();
        for file in ["store/k.age", "keys/store.key"] {
            let file = data.path().join(file);
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
            assert!(store.get("k").err().unwrap().to_string().contains("mode 640"));
            std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        }
        for folder in ["store", "keys"] {
            let folder = data.path().join(folder);
            std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
            assert!(store.get("k").err().unwrap().to_string().contains("mode 755"));
            std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
        }
        std::fs::remove_file(data.path().join("keys/store.key")).unwrap();
        assert!(store.set("other", &secret("v")).unwrap_err().to_string().contains("1 secret"));
        assert!(!data.path().join("store/other.age").exists());
        let (file, real) = (data.path().join("store/k.age"), data.path().join("real"));
        std::fs::rename(&file, &real).unwrap();
        std::os::unix::fs::symlink(&real, &file).unwrap();
        assert!(store.get("k").is_err());
    }
}
