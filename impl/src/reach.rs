//! `Reach`: what one attempt can read, write, connect to and see in its environment. A plain value that
//! settings make and backends consume; whatever is not in it must not exist for the step.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use kusaw_enter::place::Identity;

use crate::egress::grant::{Grant, PROXY_PORT};
use crate::outcome::{Reason, Refusal};
use crate::private;

/// What one attempt can reach. Every path is absolute and real (no link in it), and the same inside.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// The private temp folder, the attempt's only: see `Temp`.
    pub temp: Temp,
    /// Where the private, empty home appears: the user's own path.
    pub home: PathBuf,
    /// No private home: what the settings allow to be read holds the real one.
    pub home_is_open: bool,
    /// Readable besides the system: the attempt folder, the agent's program, what the settings allow.
    pub read: Vec<PathBuf>,
    /// Writable: artifacts and worktrees, what the settings allow.
    pub write: Vec<PathBuf>,
    /// Must not be seen, although they lie in something readable.
    pub hide: Vec<PathBuf>,
    /// Links to make where nothing else is shown, and what stands in them.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// Which file or folder must be shown at a path, or the step does not start.
    pub identities: Vec<(PathBuf, Identity)>,
    /// Writable, and shown where something else lies on the host: the private stores, in place of git folders.
    pub instead: Vec<Shown>,
    /// Laid over parts of all that, in this order.
    pub parts: Vec<Shown>,
    /// Outbound connections.
    pub connect: Connect,
    /// The whole environment, in order.
    pub env: Vec<(OsString, OsString)>,
}

/// A file or folder of the host at a path inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// On the host.
    pub from: PathBuf,
    /// Inside.
    pub to: PathBuf,
    /// Not read-only.
    pub write: bool,
}

/// Outbound connections.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Connect {
    /// The network as it is, host services included.
    #[default]
    Anywhere,
    /// These hosts through the proxy, nothing else.
    Allowed(Grant),
}

/// The parts of a private temp folder. `root` lies on the host and only its owner can enter it; inside,
/// `/tmp` is one part of it, with folders in it whose names no other attempt has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Temp {
    /// The folder that is removed at the end.
    pub root: PathBuf,
}

impl Temp {
    /// On the host: what appears as the home.
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// On the host: what appears as `/tmp`.
    pub fn slash_tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Inside: TMPDIR.
    pub fn tmpdir(&self) -> PathBuf {
        self.inside("tmp")
    }

    /// Inside: XDG_CACHE_HOME.
    pub fn cache(&self) -> PathBuf {
        self.inside("cache")
    }

    /// Inside: XDG_RUNTIME_DIR.
    pub fn runtime(&self) -> PathBuf {
        self.inside("run")
    }

    /// Inside: a file with what git is told before all other settings.
    pub fn git_settings(&self) -> PathBuf {
        self.runtime().join("gitconfig")
    }

    /// On the host: where a path below the inner `/tmp` lies.
    pub fn on_host(&self, inside: &Path) -> PathBuf {
        self.slash_tmp().join(inside.strip_prefix("/tmp").unwrap_or(inside))
    }

    fn inside(&self, part: &str) -> PathBuf {
        let mut name = self.root.file_name().unwrap_or_default().to_owned();
        name.push("-");
        name.push(part);
        Path::new("/tmp").join(name)
    }
}

/// Below it, a port inside needs a capability that no step has.
const FIRST_UNPRIVILEGED: u16 = 1024;

impl Reach {
    /// Hides kusaw's own places in everything readable, whoever asked for it to be shown.
    pub fn hide_private(&mut self) {
        for place in private::shown_by(&self.read) {
            if !self.hide.iter().any(|hidden| place.starts_with(hidden)) {
                self.hide.push(place);
            }
        }
    }

    /// Ports to listen on inside.
    pub fn ports(&self) -> Vec<u16> {
        match &self.connect {
            Connect::Allowed(grant) => grant.listeners().into_iter().map(|(port, _)| port).collect(),
            Connect::Anywhere => Vec::new(),
        }
    }
}

/// Whether every port that this grant names on localhost can be listened on inside. One that cannot is refused:
/// left out, the step would reach something else there, or nothing.
pub fn all_can_listen(grant: &Grant) -> Result<(), Refusal> {
    for port in grant.local_ports() {
        let why = match port {
            PROXY_PORT => "the proxy listens there itself",
            ..FIRST_UNPRIVILEGED => "ports below 1024 cannot be listened on inside",
            _ => continue,
        };
        let detail = format!("sandbox.egress.allow: localhost:{port}: {why}");
        let fix = format!("let the service listen on another port from {FIRST_UNPRIVILEGED} on, and name that");
        return Err(Refusal { fix: Some(fix), ..Refusal::new(Reason::NotImplemented, detail) });
    }
    Ok(())
}

/// The path of the home inside: the user's own where it can be laid over the sandbox's root, else one that
/// is the same for every attempt.
pub fn home() -> PathBuf {
    own_home().filter(|home| usable_home(home)).unwrap_or_else(|| "/home/user".into())
}

/// The user's own home, if it is known.
pub fn own_home() -> Option<PathBuf> {
    absolute("HOME")
}

/// A base folder of the XDG specification on the host: the variable, if it is absolute, else this folder of the home.
pub fn base(variable: &str, below_home: &str) -> Option<PathBuf> {
    absolute(variable).or_else(|| own_home().map(|home| home.join(below_home)))
}

fn absolute(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Whether a home at `path` can be laid over the sandbox's root: absolute, plain, and not part of what
/// the system's own folders bring.
fn usable_home(path: &Path) -> bool {
    use std::path::Component::{Normal, RootDir};
    let plain = path.components().all(|c| matches!(c, Normal(_) | RootDir)) && path.is_absolute();
    let system = ["/usr", "/etc", "/proc", "/dev", "/bin", "/sbin", "/lib", "/lib64", "/sys"];
    plain && path != Path::new("/") && path != Path::new("/tmp") && !system.iter().any(|s| path.starts_with(s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::entry::Entry;

    #[test]
    fn a_port_that_cannot_be_listened_on_is_refused_by_name() {
        let refused = |entry: &str| {
            all_can_listen(&Grant { entries: vec![Entry::parse(entry).unwrap()], ..Grant::default() })
                .err()
                .map(|r| r.detail)
        };
        for fine in ["localhost", "localhost:1024", "localhost:65535", "127.0.0.1:80", "a.example:80"] {
            assert_eq!(refused(fine), None, "{fine}");
        }
        for bad in ["localhost:1", "localhost:80", "localhost:1023", "localhost:3128"] {
            assert!(refused(bad).unwrap().contains(bad), "{bad}");
        }
    }

    #[test]
    fn a_home_inside_the_system_is_not_usable() {
        for fine in ["/home/dev", "/root", "/nonexistent", "/tmp/lab/home", "/var/lib/ci"] {
            assert!(usable_home(fine.as_ref()), "{fine}");
        }
        for bad in ["", "/", "home", "/usr/home/x", "/etc", "/home/../etc", "/tmp", "/proc/1", "/dev/shm"] {
            assert!(!usable_home(bad.as_ref()), "{bad}");
        }
    }
}
