//! The lab: a throw-away host that nobody minds losing.
//!
//! It has its own mount, PID, network, IPC and UTS namespaces, a root file system of its own, a home with canaries, and
//! a second network namespace, the world. Everything in it runs as one unprivileged user. Its pid 1 takes everything
//! along when it dies. Of the real host it sees, read-only and without setuid, the system's programs (/usr and its like,
//! /sys), a few devices such as /dev/null, and a copy of what everybody may read of /etc. Kernel keyrings have no namespace:
//! what the lab does there, `keyring` says.

pub mod agent;
pub mod bystander;
pub mod fault;
pub mod home;
pub mod installed;
pub mod ipc;
pub mod keyring;
pub mod local;
mod mounts;
pub mod namespaces;
pub mod network;
pub mod on_host;
pub mod programs;
pub mod protected;
pub mod repository;
pub mod root;
pub mod services;
pub mod windows;
pub mod world;

use std::path::{Path, PathBuf};

use crate::seal::Key;

/// The lab's user, in both ways of starting. High, so that no person of a real host has it.
pub const UID: u32 = 42_042;
/// The user's name.
pub const USER: &str = "dev";
/// The user's home.
pub const HOME: &str = "/home/dev";
/// The user's folders: the home, and one in each place where people keep things.
pub const OWN_FOLDERS: &[&str] =
    &[HOME, "/run/user/42042", "/srv/data", "/mnt/data", "/media/data", "/opt/data", "/var/data", "/var/lib/data"];
/// Folders of the system in which the user may write: without them, "cannot write below /usr" would have no control.
/// Readable in many a sandbox, so they hold no secret.
pub const SYSTEM_FOLDERS: &[&str] = &["/etc/data", "/usr/local/games"];
/// Where the driver under test lies: its folders, each by its name.
pub const DRIVER: &str = "/opt/driver";
/// Where its programs lie.
pub const DRIVER_BIN: &str = "/opt/driver/bin";
/// Where its set-user-ID programs lie.
pub const DRIVER_SET_USER_ID: &str = "/opt/driver/set-user-id";
/// Where another bubblewrap than the system's lies.
pub const OTHER_BUBBLEWRAP: &str = "/opt/bubblewrap";
/// Where the suite's own files lie: the probe, a copy of the real backend, fault scripts.
pub const SUITE: &str = "/opt/suite";
/// The probe, for runs without any sandbox.
pub const PROBE: &str = "/opt/suite/kusaw-probe";
/// What starts bubblewrap with a guard less.
pub const SABOTEUR: &str = "/opt/suite/kusaw-saboteur";

/// How the lab was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// As root, which made the namespaces and then dropped to [`UID`] for good.
    Root,
    /// As an ordinary user, in a user namespace.
    Unprivileged,
}

impl Start {
    /// The word in the record.
    pub fn word(self) -> &'static str {
        match self {
            Self::Root => "root, dropped",
            Self::Unprivileged => "unprivileged",
        }
    }
}

/// The lab as its inhabitants see it.
#[derive(Clone, Debug)]
pub struct Lab {
    /// How it was entered.
    pub start: Start,
    /// The real backend program of the driver, before any fault is made in it.
    pub backend: Option<PathBuf>,
    /// What its probe seals its lines with.
    pub key: Key,
    /// Whom to ask what arrived.
    pub world: world::control::World,
}

impl Lab {
    /// PATH of a user in the lab.
    pub fn search_path() -> String {
        format!("{HOME}/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin")
    }

    /// Finds a program on the lab's PATH.
    pub fn which(name: &str) -> Option<PathBuf> {
        Self::search_path().split(':').map(|folder| Path::new(folder).join(name)).find(|path| is_program(path))
    }

    /// Finds a program that scenarios use inside a sandbox: in the system's folders only. One in the home, as version
    /// managers install them, is not there inside.
    pub fn program(name: &str) -> Option<PathBuf> {
        ["/usr/bin", "/usr/local/bin", "/bin"]
            .map(|f| Path::new(f).join(name))
            .into_iter()
            .find(|path| is_program(path))
    }

    /// The release of git here: 2 and 47 of `git version 2.47.3`.
    pub fn git() -> Option<(u32, u32)> {
        let line = crate::host::first_line(&Self::which("git")?, &["--version"])?;
        let mut numbers = line.rsplit(' ').find(|word| word.contains('.'))?.split('.').map(str::parse);
        Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
    }

    /// A folder with links to every program on PATH but `name`: PATH as if it were not installed.
    pub fn path_without(name: &str) -> PathBuf {
        Path::new(SUITE).join(format!("path-without-{name}"))
    }

    /// `~/x` as an absolute path; any other path as it is.
    pub fn expand(path: &str) -> String {
        match path.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HOME}{rest}"),
            _ => path.to_owned(),
        }
    }
}

fn is_program(path: &Path) -> bool {
    nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok() && path.is_file()
}
