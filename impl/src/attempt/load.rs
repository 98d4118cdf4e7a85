//! Reads a factory's settings. What is there may be anything: it must neither hold kusaw nor be read without a bound.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::outcome::{Reason, Refusal};
use crate::settings::{self, Complaints, Settings};

/// The factory's real path and its settings.
pub fn load(factory: &Path) -> Result<(PathBuf, Settings), Refusal> {
    let file = factory.join(settings::FILE);
    let unreadable = |e: std::io::Error| Refusal::new(Reason::BadSettings, format!("{}: {e}", file.display()));
    let mut bytes = Vec::new();
    // A pipe or a device must not hold us: it is opened without waiting, and refused.
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
    let opened = File::options().read(true).custom_flags(flags).open(&file).map_err(unreadable)?;
    if !opened.metadata().map_err(unreadable)?.is_file() {
        return Err(unreadable(std::io::Error::other("not a file")));
    }
    opened.take(settings::MAX as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    let wrong = |c: Box<Complaints>| Refusal::new(Reason::BadSettings, c);
    let settings = settings::read(&file, &bytes).map_err(wrong)?;
    Ok((fs::canonicalize(factory).map_err(unreadable)?, settings))
}
