//! Which file or folder a path leads to, beyond its name: between a look at a path and its mount a step of another attempt
//! can exchange what lies there.

use std::ffi::CString;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{AT_FDCWD, OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::fstat;

/// A file or folder of this machine, as long as it is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// `st_dev`.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
}

/// A path and what is there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Absolute, without links.
    pub path: CString,
    /// What it leads to.
    pub is: Identity,
}

impl Identity {
    /// Of what an absolute path leads to; ELOOP if there is a link in it. openat2(2), Linux 5.6.
    pub fn of(path: &Path) -> Result<Identity, Errno> {
        let how = OpenHow::new().flags(OFlag::O_PATH | OFlag::O_CLOEXEC).resolve(ResolveFlag::RESOLVE_NO_SYMLINKS);
        let stat = fstat(openat2(AT_FDCWD, path, how)?)?;
        Ok(Identity { device: stat.st_dev, inode: stat.st_ino })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_file_and_no_link_is_followed() {
        assert_eq!(Identity::of("/usr/../usr".as_ref()), Identity::of("/usr".as_ref()));
        assert_ne!(Identity::of("/usr".as_ref()).unwrap(), Identity::of("/".as_ref()).unwrap());
        assert_eq!(Identity::of("/proc/self/cwd".as_ref()), Err(Errno::ELOOP));
        assert_eq!(Identity::of("/nothere".as_ref()), Err(Errno::ENOENT));
    }
}
