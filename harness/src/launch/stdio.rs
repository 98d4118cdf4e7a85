//! A caller whose standard input, output and error are files: `step <in >>out 2>>err`.
//!
//! The files have a beginning that the step must neither change nor, where they are for output, read.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::lab::{HOME, home};

/// The three files.
#[derive(Clone, Debug)]
pub struct Files {
    folder: PathBuf,
    /// What each of them began with.
    began: [String; 3],
}

const MODE: u32 = 0o600;
const NAMES: [&str; 3] = ["in", "out", "err"];

impl Files {
    /// New files of one launch, in a folder of the home.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn new(launch: &str) -> io::Result<Self> {
        let folder = Path::new(HOME).join("stdio").join(launch);
        fs::create_dir_all(&folder)?;
        let secret = || home::token().map(|token| format!("said before: {token}\n"));
        let files = Self { folder, began: ["the step may read this\n".to_owned(), secret()?, secret()?] };
        for (number, text) in files.began.iter().enumerate() {
            fs::write(files.path(number), text)?;
            fs::set_permissions(files.path(number), Permissions::from_mode(MODE))?;
        }
        Ok(files)
    }

    /// They are opened as a shell does, input for reading alone, output for writing behind the end.
    ///
    /// # Errors
    /// When one cannot be opened.
    pub fn open(&self) -> io::Result<[Stdio; 3]> {
        let output = |number| OpenOptions::new().append(true).open(self.path(number)).map(Stdio::from);
        Ok([File::open(self.path(0))?.into(), output(1)?, output(2)?])
    }

    /// What stands behind the beginning of the output or of the errors; all of it, where the beginning is gone.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn said(&self) -> io::Result<[Vec<u8>; 2]> {
        let said = |number: usize| -> io::Result<Vec<u8>> {
            let text = fs::read(self.path(number))?;
            Ok(text.strip_prefix(self.began[number].as_bytes()).map_or(text.clone(), <[u8]>::to_vec))
        };
        Ok([said(1)?, said(2)?])
    }

    /// What was done to them that a step may not do, if anything.
    pub fn harm(&self) -> Option<String> {
        (0..3).find_map(|number| {
            let path = self.path(number);
            let text = fs::read(&path).unwrap_or_default();
            let mode = fs::symlink_metadata(&path).map_or(0, |meta| meta.permissions().mode() & 0o7777);
            let kept = if number == 0 {
                text == self.began[0].as_bytes()
            } else {
                text.starts_with(self.began[number].as_bytes())
            };
            (!kept || mode != MODE).then(|| format!("{}: mode {mode:o}, beginning kept: {kept}", path.display()))
        })
    }

    fn path(&self, number: usize) -> PathBuf {
        self.folder.join(NAMES[number])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_is_seen() {
        let folder = std::env::temp_dir().join(format!("kusaw-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let files = Files { folder: folder.clone(), began: ["a\n", "b\n", "c\n"].map(str::to_owned) };
        let fresh = || {
            for (number, text) in files.began.iter().enumerate() {
                fs::write(files.path(number), text).unwrap();
                fs::set_permissions(files.path(number), Permissions::from_mode(MODE)).unwrap();
            }
        };
        fresh();
        assert_eq!(files.harm(), None);
        fs::write(files.path(1), "b\nsaid").unwrap();
        assert_eq!((files.harm(), files.said().unwrap()), (None, [b"said".to_vec(), Vec::new()]));
        fs::write(files.path(1), "said").unwrap();
        assert!(files.harm().is_some() && files.said().unwrap()[0] == b"said");
        for number in 0..3 {
            fresh();
            fs::set_permissions(files.path(number), Permissions::from_mode(0o666)).unwrap();
            assert!(files.harm().is_some(), "{number}");
        }
        fresh();
        fs::write(files.path(0), "a\nmore").unwrap();
        assert!(files.harm().is_some(), "nothing may be written behind the input");
        fs::remove_dir_all(&folder).unwrap();
    }
}
