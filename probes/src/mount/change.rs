//! `remount PATH [--ro] [--superblock]` makes a mount writable, or read-only, or its whole file system with
//! `--superblock`. `mount-setattr PATH [--recursive]` makes it writable by the newer call. `private PATH` takes it and
//! all below out of its peer groups.

#![allow(unsafe_code)]

use std::ffi::{CString, OsString};
use std::io;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sys::statvfs::{FsFlags, statvfs};

use crate::action::Action;
use crate::seen::Seen;
use crate::words::{Usage, Words, c_string};

/// Changes a mount's flags.
pub struct Remount {
    read_only: bool,
    superblock: bool,
    at: OsString,
}

impl Remount {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let (read_only, superblock) = (words.flag("--ro"), words.flag("--superblock"));
        let [at] = words.exactly(["PATH"])?;
        Ok(Self { read_only, superblock, at })
    }

    /// The other flags stay: who may not take them away would be refused for that (mount_namespaces(7), locked flags).
    fn flags(&self) -> MsFlags {
        let now = statvfs(self.at.as_os_str()).map_or(FsFlags::empty(), |it| it.flags());
        let mut flags = MsFlags::MS_REMOUNT;
        flags.set(MsFlags::MS_BIND, !self.superblock);
        flags.set(MsFlags::MS_RDONLY, self.read_only);
        flags.set(MsFlags::MS_NOSUID, now.contains(FsFlags::ST_NOSUID));
        flags.set(MsFlags::MS_NODEV, now.contains(FsFlags::ST_NODEV));
        flags.set(MsFlags::MS_NOEXEC, now.contains(FsFlags::ST_NOEXEC));
        flags
    }
}

impl Action for Remount {
    fn target(&self) -> String {
        self.at.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let none = None::<&str>;
        Seen::of(mount(none, self.at.as_os_str(), none, self.flags(), none))
    }
}

/// Changes how mounts spread.
pub struct Private {
    at: OsString,
}

impl Private {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [at] = words.exactly(["PATH"])?;
        Ok(Self { at })
    }
}

impl Action for Private {
    fn target(&self) -> String {
        self.at.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let none = None::<&str>;
        Seen::of(mount(none, self.at.as_os_str(), none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none))
    }
}

/// Makes a mount writable.
pub struct MountSetattr {
    recursive: bool,
    at: CString,
}

impl MountSetattr {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let recursive = words.flag("--recursive");
        let [at] = words.exactly(["PATH"])?;
        Ok(Self { recursive, at: c_string(at, "PATH")? })
    }

    fn set(&self) -> io::Result<()> {
        let flags = if self.recursive { libc::AT_RECURSIVE } else { 0 };
        let attributes =
            libc::mount_attr { attr_set: 0, attr_clr: libc::MOUNT_ATTR_RDONLY, propagation: 0, userns_fd: 0 };
        let (at, size) = (self.at.as_ptr(), size_of::<libc::mount_attr>());
        // SAFETY: the path ends with NUL; of the attributes, the kernel reads as much as it is told, which is all of
        // them.
        Errno::result(unsafe {
            libc::syscall(libc::SYS_mount_setattr, libc::AT_FDCWD, at, flags, &raw const attributes, size)
        })?;
        Ok(())
    }
}

impl Action for MountSetattr {
    fn target(&self) -> String {
        self.at.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        Seen::of(self.set())
    }
}
