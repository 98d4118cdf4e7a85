//! How the store's files come to disk and from there: written aside, synced and renamed, one writer at a time, and read only
//! where they are ours alone. Killed anywhere, the old file or the new one is there.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::MAX;

/// What is not whole yet. Under the lock there is one writer, so the next one may take away what a killed one left.
const ASIDE: &str = ".new";

/// A folder for us alone; what is there already must be that.
pub fn make(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    only_ours(&folder.symlink_metadata()?, folder)
}

/// Puts a file there, in place of an earlier one; on disk when this returns. For whoever holds the store's lock.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::other("no folder"))?;
    let aside = folder.join(ASIDE);
    remove(&aside)?;
    let written = write(&aside, bytes).and_then(|()| fs::rename(&aside, path));
    if let Err(e) = written {
        // What is half there is of no use; the next one would take it away as well.
        let _ = fs::remove_file(&aside);
        return Err(io::Error::new(e.kind(), format!("{}: {e}", path.display())));
    }
    sync(folder)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Takes a file away; whether it was there.
pub fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        done => done.map(|()| true),
    }
}

/// A rename or removal in a folder is on disk only when the folder is: fsync(2).
pub fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// A file of ours that nobody else can read or write, through no link.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let file = opened.map_err(|e| match e.raw_os_error() {
        Some(libc::ELOOP) => io::Error::other(format!("{}: a link", path.display())),
        _ => io::Error::new(e.kind(), format!("{}: {e}", path.display())),
    })?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other(format!("{}: not a file", path.display())));
    }
    only_ours(&meta, path)?;
    let mut bytes = Vec::with_capacity(MAX);
    file.take(2 * MAX as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether a file or folder is ours alone; `meta` does not follow links.
pub fn only_ours(meta: &fs::Metadata, path: &Path) -> io::Result<()> {
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
