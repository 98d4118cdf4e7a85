//! What a factory has that no step may see: a secret store, the keys that open it, and a signing shim with its socket.
//!
//! Where they lie is the driver's; what lies there is the lab's, with a token in all of it.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{home, services};

/// The file of a store, and the one of its keys.
const FILES: [&str; 2] = ["secrets", "identity"];

/// Fills the three folders, those that are not filled yet. Needs the runtime of the caller, for the socket.
///
/// # Errors
/// When something cannot be written, or the socket cannot be bound.
pub fn fill(store: &Path, keys: &Path, signing: &Path) -> io::Result<()> {
    for (folder, file) in [store, keys].into_iter().zip(FILES) {
        // The factory may have made the folder itself meanwhile.
        if !folder.join(file).exists() {
            home::canary(&folder.join(file))?;
            home::canary(&folder.join(format!("{}.txt", home::token()?)))?;
            // A factory may refuse a store that others can look into.
            fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        }
    }
    if signing.exists() {
        return Ok(());
    }
    fs::create_dir_all(signing)?;
    let shim = signing.join("shim");
    fs::write(&shim, format!("#!/bin/sh\n# Signs for whoever runs it.\necho '{}'\n", home::token()?))?;
    fs::set_permissions(&shim, fs::Permissions::from_mode(0o755))?;
    home::canary(&signing.join(format!("{}.txt", home::token()?)))?;
    services::listen(&signing.join("socket"))
}
