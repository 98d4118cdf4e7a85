//! What a run leaves on the real host.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// A file of the real host: opened before the lab is entered, and put in its place only if something was written.
pub struct Output {
    file: File,
    part: PathBuf,
    path: PathBuf,
}

impl Output {
    /// Opens it.
    ///
    /// # Errors
    /// When its folder cannot be made, or it cannot be written.
    pub fn create(folder: &Path, name: &str) -> Result<Self, String> {
        let (path, part) = (folder.join(name), folder.join(format!("{name}.part")));
        let create = || {
            fs::create_dir_all(folder)?;
            File::create(&part)
        };
        let file = create().map_err(|e| format!("{}: {e}", part.display()))?;
        Ok(Self { file, part, path })
    }

    /// A second handle of it.
    ///
    /// # Errors
    /// When the process has too many files open.
    pub fn handle(&self) -> Result<File, String> {
        self.file.try_clone().map_err(|e| format!("{}: {e}", self.path.display()))
    }

    /// Whether something was written, which then is in its place.
    ///
    /// # Errors
    /// When it cannot be put there.
    pub fn finish(self) -> Result<bool, String> {
        let put = || {
            let written = self.file.metadata()?.len() > 0;
            if written {
                fs::rename(&self.part, &self.path)?
            } else {
                fs::remove_file(&self.part)?
            }
            Ok(written)
        };
        put().map_err(|e: std::io::Error| format!("{}: {e}", self.path.display()))
    }
}

/// Files of the real host, opened before the lab was entered.
pub struct Files {
    /// The record.
    pub record: File,
    /// The report.
    pub report: File,
}
