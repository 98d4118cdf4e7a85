//! Reads the facts of this host that the mount plan depends on. What it hides or makes read-only it looks
//! up each time; it must not let a link of the host lead a mount elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use super::etc::{self, Etc};
use super::plan::Host;
use crate::outcome::{Reason, Refusal};
use crate::reach::Reach;

/// Folders that a merged /usr turns into links.
const USUAL: &[&str] = &["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Below /usr, but not the system's.
const SOURCES: &[&str] = &["/usr/src", "/usr/local/src"];

/// Machine-wide switches, writable for uid 0 even without capabilities.
const PROC_READ_ONLY: &[&str] = &["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs"];

/// Kernel memory and keys, readable for uid 0.
const PROC_MASKED: &[&str] = &["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sched_debug"];

/// The facts, with the prepared /etc made if it is not there yet; it is held as long as the second value lives.
pub fn read(reach: &Reach) -> Result<(Host, Etc), Refusal> {
    let prepared = etc::prepare(reach)
        .map_err(|e| Refusal::new(Reason::SetupFailed, format!("the prepared /etc could not be made: {e}")))?;
    Ok((facts(reach, &prepared.path)?, prepared))
}

/// The facts, with the /etc that is or would be prepared.
pub fn facts(reach: &Reach, etc: &Path) -> Result<Host, Refusal> {
    let root = nix::unistd::geteuid().is_root();
    home_below_usr()?;
    let mut host = Host {
        empty: etc.join(etc::EMPTY),
        etc: etc.into(),
        files: reach.hide.iter().filter(|place| !place.is_dir()).cloned().collect(),
        hidden: hidden(),
        proc_read_only: paths(PROC_READ_ONLY).filter(|p| root && p.exists()).collect(),
        proc_masked: paths(PROC_MASKED).filter(|p| root && p.exists()).collect(),
        ..Host::default()
    };
    for name in paths(USUAL) {
        match fs::symlink_metadata(&name) {
            Ok(meta) if meta.is_symlink() => {
                if let Some(target) = fs::read_link(&name).ok().filter(|t| below_usr(t)) {
                    host.links.push((name, target));
                }
            }
            Ok(meta) if meta.is_dir() => host.folders.push(name),
            _ => {}
        }
    }
    Ok(host)
}

/// What lies below /usr and must not be shown with it: other people's sources, and a home.
pub fn hidden() -> Vec<PathBuf> {
    paths(SOURCES).filter(|p| has_entries(p)).chain(home_below_usr().ok().flatten()).collect()
}

fn paths(names: &'static [&'static str]) -> impl Iterator<Item = PathBuf> {
    names.iter().map(PathBuf::from)
}

/// The user's home, where it lies below /usr (`/home` may be a link to there): it must not come along with the system.
fn home_below_usr() -> Result<Option<PathBuf>, Refusal> {
    let Some(home) = std::env::var_os("HOME").and_then(|home| fs::canonicalize(home).ok()) else { return Ok(None) };
    if !home.starts_with("/usr") {
        return Ok(None);
    }
    let system =
        ["/usr", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/sbin", "/usr/share", "/usr/local", "/usr/libexec"];
    if system.iter().any(|folder| home == Path::new(folder)) {
        let what = format!("HOME is {}, which every program needs to see", home.display());
        return Err(Refusal::new(Reason::SetupFailed, what));
    }
    Ok(Some(home))
}

fn below_usr(target: &Path) -> bool {
    target.starts_with("usr") || target.starts_with("/usr")
}

/// A folder that cannot be listed counts as one with entries.
fn has_entries(folder: &Path) -> bool {
    folder.is_dir() && fs::read_dir(folder).map_or(true, |mut list| list.next().is_some())
}
