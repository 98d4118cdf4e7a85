//! What attempts have left whose kusaw was killed: commits that nobody imported, and records without their last line. Every
//! run, and `serve` when it starts, looks for them; an attempt that anybody holds is left alone.

use std::io;
use std::path::Path;

use super::repos;
use crate::egress::settle::{self, Records};
use crate::remove::absent_is_fine;
use crate::stderr;

/// Beside the records of an attempt that has ended while `serve`, stopped or too slow, still had its summary to write; the
/// first run that finds it written, or writes it, removes this.
pub const UNSETTLED: &str = "egress.unsettled";

/// Completes all of a factory; `factory` is a real path.
pub fn settle(factory: &Path) {
    repos::recover(factory);
    let attempts =
        std::fs::read_dir(factory.join("attempts")).into_iter().flatten().flatten().map(|entry| entry.path());
    for attempt in attempts.filter(|attempt| is_unsettled(attempt)) {
        if let Err(e) = complete(&attempt) {
            stderr::warn(format!("{}: its egress.summary could not be written: {e}", attempt.display()));
        }
    }
}

fn complete(attempt: &Path) -> io::Result<()> {
    match settle::left(attempt)? {
        Records::Held => Ok(()),
        Records::Complete => std::fs::remove_file(attempt.join(UNSETTLED)).or_else(absent_is_fine),
    }
}

/// Most attempts have ended well: that is all that is looked at for those.
fn is_unsettled(attempt: &Path) -> bool {
    let has = |name: &str| attempt.join(name).symlink_metadata().is_ok();
    (!has("outcome.json") || has(UNSETTLED)) && has(settle::LOG)
}
