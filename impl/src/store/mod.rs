//! The secret store: one encrypted file a secret, the key that opens them in a folder of its own (`private.rs` says where; no step
//! ever sees either). A value is in memory only where it is used, and is overwritten when dropped.

mod disk;
pub mod name;

use std::io;
use std::path::{Path, PathBuf};

use age::secrecy::ExposeSecret;
use age::x25519::{Identity, Recipient};
use zeroize::Zeroizing;

use crate::git::lock::Lock;
use crate::private;

/// Longest value in bytes: keys and tokens are far shorter.
pub const MAX: usize = 64 << 10;

/// Name of the key file.
const KEY: &str = "store.key";

/// What the file of a secret ends with.
const END: &str = ".age";

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
    #[error("no secret {} in the store", name::shown(.0))]
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

    /// Keeps a value under this name, in place of an earlier one. On disk when this returns; killed before, the earlier one is.
    pub fn set(&self, name: &str, value: &Secret) -> io::Result<()> {
        [&self.store, &self.keys].into_iter().try_for_each(|folder| disk::make(folder))?;
        let _lock = self.lock()?;
        // The folders themselves: without the key's the secret were lost.
        self.store.parent().map_or(Ok(()), disk::sync)?;
        let encrypted = age::encrypt(&self.recipient()?, value.expose()).map_err(io::Error::other)?;
        disk::replace(&self.file(name), &encrypted)
    }

    /// Takes a secret away; whether it was there.
    pub fn unset(&self, name: &str) -> io::Result<bool> {
        if !self
            .store
            .symlink_metadata()
            .map_or(Ok(false), |meta| disk::only_ours(&meta, &self.store).map(|()| true))?
        {
            return Ok(false);
        }
        let _lock = self.lock()?;
        let was_there = disk::remove(&self.file(name))?;
        disk::sync(&self.store)?;
        Ok(was_there)
    }

    /// The names of all secrets, in order; no value is read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(&self.store) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let file = entry?.file_name();
            names.extend(file.to_str().and_then(|file| file.strip_suffix(END)).map(str::to_owned));
        }
        names.sort();
        Ok(names)
    }

    /// The variables of a step of this factory that are kept, in order.
    pub fn of_step(&self, factory: &Path, step: &str) -> io::Result<Vec<String>> {
        let mark = name::mark(factory);
        let is_its = |kept: &String| {
            let of_step = name::OfStep::parse(name::shown(kept)).filter(|of_step| of_step.step == step);
            Some(of_step.filter(|_| name::owner(kept) == Some(&mark))?.variable.to_owned())
        };
        Ok(self.names()?.iter().filter_map(is_its).collect())
    }

    /// The value of this name.
    ///
    /// # Errors
    /// Says which of the two files is at fault.
    pub fn get(&self, name: &str) -> Result<Secret, Fault> {
        for folder in [&self.store, &self.keys] {
            let ours = folder.symlink_metadata().map_or(Ok(()), |meta| disk::only_ours(&meta, folder));
            ours.map_err(|e| Fault::Unreadable(e.to_string()))?;
        }
        let file = self.file(name);
        let encrypted = disk::read(&file).map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Fault::Missing(name.into()),
            _ => Fault::Unreadable(format!("secret {}: {e}", name::shown(name))),
        })?;
        let place = self.keys.join(KEY);
        let identity = self.identity().map_err(|e| match e.kind() {
            io::ErrorKind::NotFound => Fault::Key(e.to_string()),
            io::ErrorKind::InvalidData => Fault::Key(format!("{}: {e}", place.display())),
            _ => Fault::Unreadable(e.to_string()),
        })?;
        let damaged = |e| Fault::Damaged(format!("secret {}: {}: {e}", name::shown(name), file.display()));
        Ok(Secret::new(Zeroizing::new(age::decrypt(&identity, &encrypted).map_err(damaged)?)))
    }

    fn file(&self, name: &str) -> PathBuf {
        self.store.join(format!("{name}{END}"))
    }

    /// One writer at a time. The folder itself is locked: a file for it could be left, or be another's.
    fn lock(&self) -> io::Result<Lock> {
        let failed = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", self.store.display()));
        Lock::take(&self.store).map_err(failed)
    }

    fn identity(&self) -> io::Result<Identity> {
        let text = Zeroizing::new(disk::read(&self.keys.join(KEY))?);
        let text = str::from_utf8(&text).map_err(|_| io::ErrorKind::InvalidData)?;
        text.trim_end().parse().map_err(|why: &str| io::Error::new(io::ErrorKind::InvalidData, why))
    }

    /// Without its key, a store must have no secret: a new key would open none of them.
    fn is_new(&self) -> io::Result<()> {
        match self.names()?.len() {
            0 => Ok(()),
            kept => Err(io::Error::other(format!(
                "{} is gone, and with it the {kept} secret(s) in {}: bring it back, or remove that folder and set every secret again",
                self.keys.join(KEY).display(),
                self.store.display()
            ))),
        }
    }

    /// Of the key that is there, or of a new one, which is on disk before anything is encrypted for it.
    fn recipient(&self) -> io::Result<Recipient> {
        match self.identity() {
            Err(e) if e.kind() == io::ErrorKind::NotFound => self.is_new()?,
            known => return Ok(known?.to_public()),
        }
        let new = Identity::generate();
        disk::replace(&self.keys.join(KEY), new.to_string().expose_secret().as_bytes())?;
        Ok(new.to_public())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

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
