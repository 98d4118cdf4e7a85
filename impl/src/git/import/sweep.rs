//! The first look at a private store, by names and kinds alone: what no git may be given to read. Nothing is opened but
//! folders; nothing is followed.

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;

use super::code::{Code, Fault};

/// Entries that are looked at: a step that works has some thousand.
const MOST: usize = 1_000_000;

/// A loose ref holds one id, or the name of another ref; in bytes.
const LOOSE_REF: u64 = 4096;

/// `packed-refs`, or a table: two million refs, in bytes.
const REFS: u64 = 256 << 20;

/// Looks through what of the step's git folder will be shown to git.
///
/// # Errors
/// What is not as git makes it.
pub fn sweep(git: &Path) -> Result<(), Fault> {
    let mut left = MOST;
    walk(&git.join("objects"), u64::MAX, &mut left)?;
    walk(&git.join("refs"), LOOSE_REF, &mut left)?;
    walk(&git.join("packed-refs"), REFS, &mut left)?;
    walk(&git.join("reftable"), REFS, &mut left)?;
    for name in ["alternates", "http-alternates"] {
        let borrows = git.join("objects/info").join(name);
        match fs::symlink_metadata(&borrows) {
            Ok(meta) if meta.len() > 0 => return Err(Fault::new(Code::StoreBorrows, borrows.display())),
            _ => {}
        }
    }
    Ok(())
}

/// `largest`: that a file may have, in bytes.
fn walk(root: &Path, largest: u64, left: &mut usize) -> Result<(), Fault> {
    let wrong = |at: &Path, what: String| Fault::new(Code::StoreFile, format!("{}: {what}", at.display()));
    let mut folders = Vec::new();
    match fs::symlink_metadata(root) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(wrong(root, e.to_string())),
        Ok(meta) if meta.is_dir() => folders.push(root.to_path_buf()),
        Ok(meta) => file(root, &meta, largest)?,
    }
    while let Some(folder) = folders.pop() {
        let list = fs::read_dir(&folder).map_err(|e| wrong(&folder, e.to_string()))?;
        for entry in list {
            let entry = entry.map_err(|e| wrong(&folder, e.to_string()))?;
            let at = entry.path();
            let kind = entry.file_type().map_err(|e| wrong(&at, e.to_string()))?;
            *left = left.checked_sub(1).ok_or_else(|| {
                Fault::new(Code::StoreTooLarge, format!("{}: more than {MOST} entries", root.display()))
            })?;
            if kind.is_dir() {
                folders.push(at);
            } else if !kind.is_file() || largest != u64::MAX {
                file(&at, &entry.metadata().map_err(|e| wrong(&at, e.to_string()))?, largest)?;
            }
        }
    }
    Ok(())
}

fn file(at: &Path, meta: &Metadata, largest: u64) -> Result<(), Fault> {
    match meta.is_file() {
        false => Err(Fault::new(Code::StoreFile, format!("{}: neither a file nor a folder", at.display()))),
        true if meta.len() > largest => {
            Err(Fault::new(Code::StoreTooLarge, format!("{}: {} bytes", at.display(), meta.len())))
        }
        true => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_files_and_folders_of_sense_pass() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        ["objects/info", "objects/pack", "objects/ab", "refs/heads"]
            .iter()
            .for_each(|name| fs::create_dir_all(at(name)).unwrap());
        fs::write(at("objects/info/alternates"), "").unwrap();
        fs::write(at("refs/heads/main"), "0".repeat(41)).unwrap();
        sweep(folder.path()).unwrap();
        let code = || sweep(folder.path()).unwrap_err().code;
        let mode = nix::sys::stat::Mode::S_IRWXU;
        for name in ["objects/ab/cd", "objects/pack/x.idx", "refs/heads/x", "packed-refs", "reftable"] {
            nix::unistd::mkfifo(&at(name), mode).unwrap();
            assert_eq!(code(), Code::StoreFile, "{name}");
            fs::remove_file(at(name)).unwrap();
            symlink("/dev/zero", at(name)).unwrap();
            assert_eq!(code(), Code::StoreFile, "{name}");
            fs::remove_file(at(name)).unwrap();
        }
        let large = fs::File::create(at("refs/heads/large")).unwrap();
        large.set_len(2 << 30).unwrap();
        assert_eq!(code(), Code::StoreTooLarge);
        fs::remove_file(at("refs/heads/large")).unwrap();
        for name in ["alternates", "http-alternates"] {
            fs::write(at("objects/info").join(name), "/else\n").unwrap();
            assert_eq!(code(), Code::StoreBorrows);
            fs::write(at("objects/info").join(name), "").unwrap();
        }
        fs::rename(at("refs"), at("elsewhere")).unwrap();
        symlink("elsewhere", at("refs")).unwrap();
        assert_eq!(code(), Code::StoreFile);
    }
}
