//! What Linux in WSL2 sees of Windows: its drives below /mnt, and the socket through which its programs are started.
//!
//! A look-alike made of plain folders, so that a step can be seen not to see them; the real ones are another file system
//! (drvfs over 9p) on another machine. What is judged on it is named as judged on fixtures.

use std::io;
use std::path::Path;

use super::home;

/// Folders that are the lab's user's. On a real one everybody may enter them.
pub const FOLDERS: [&str; 3] = ["/mnt/c", "/mnt/wsl", "/run/WSL"];

/// The socket that `WSL_INTEROP` names (/init listens there).
pub const INTEROP: &str = "/run/WSL/1_interop";

const FILES: [&str; 4] = [
    "/mnt/c/Users/Dev/.ssh/id_ed25519",
    "/mnt/c/Users/Dev/Documents/letter to the bank.docx",
    "/mnt/c/Windows/System32/cmd.exe",
    "/mnt/wsl/resolv.conf",
];

/// Folders in which a file has a token in its name.
const LISTED: [&str; 4] = ["/mnt/c", "/mnt/c/Users/Dev", "/mnt/wsl", "/run/WSL"];

/// Fills the folders.
///
/// # Errors
/// When something cannot be written.
pub fn furnish() -> io::Result<()> {
    FILES.iter().try_for_each(|file| home::canary(Path::new(file)))?;
    LISTED.iter().try_for_each(|folder| home::canary(&Path::new(folder).join(format!("{}.txt", home::token()?))))
}
