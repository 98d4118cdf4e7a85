//! Faults of the host, made for one launch alone: what is missing or broken when an attempt starts.
//!
//! A fault is made between fork and exec of the launched program, in a user and mount namespace of its own, so that
//! neither the lab nor another scenario sees it. Nothing is done by path tricks that only some implementations notice:
//! the backend's file itself is covered.
#![allow(unsafe_code)] // pre_exec: the closure only makes system calls, on data prepared before the fork

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, setrlimit};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};
use tokio::process::Command;

use super::{DRIVER_BIN, SUITE, UID};

/// What is wrong with the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The backend's file is covered by this script.
    Backend(String),
    /// The backend's file is there but may not be executed.
    BackendNotExecutable,
    /// PATH leads to every program but the backend.
    BackendNotOnPath,
    /// `user.max_user_namespaces` is 0.
    NoUserNamespaces,
    /// `user.max_net_namespaces` is 0.
    NoNetworkNamespaces,
    /// A filter of system calls forbids new user namespaces, as container engines' does.
    FilteredNamespaces,
    /// A filter of system calls forbids pivot_root(2).
    FilteredPivotRoot,
    /// A part of /proc is covered, as container engines do.
    ProcMasked,
    /// listen(2) fails with EACCES, so no proxy can start.
    NoListen,
    /// RLIMIT_NOFILE.
    OpenFiles(u64),
    /// TMPDIR names a folder that is not there.
    NoTemp,
    /// The program of this name in the driver's folder may not be executed.
    NoProgram(String),
}

/// A fault that is ready to be made in one launch.
#[derive(Debug)]
pub struct Prepared {
    fault: Fault,
    cover: Option<(CString, CString)>,
    filter: Option<BpfProgram>,
}

impl Fault {
    /// Prepares the fault; `backend` is the real program, `name` a file name no other launch uses.
    ///
    /// # Errors
    /// When the driver has no backend to break, or a file cannot be written.
    pub fn prepare(&self, backend: Option<&Path>, name: &str) -> io::Result<Prepared> {
        let missing = || io::Error::other("the driver's manifest names no backend that is on PATH");
        let cover = match self {
            Self::Backend(text) => Some((script(text, name)?, backend.ok_or_else(missing)?.to_owned())),
            Self::BackendNotExecutable => Some((PathBuf::from("/dev/null"), backend.ok_or_else(missing)?.to_owned())),
            Self::NoProgram(name) => Some((PathBuf::from("/dev/null"), Path::new(DRIVER_BIN).join(name))),
            Self::ProcMasked => Some((PathBuf::from("/dev/null"), PathBuf::from("/proc/cmdline"))),
            _ => None,
        };
        let cover = match cover {
            Some((from, to)) => Some((c_path(&from)?, c_path(&to)?)),
            None => None,
        };
        let filter = match self {
            Self::NoListen => Some(without(&[libc::SYS_listen], libc::EACCES, Vec::new())?),
            Self::FilteredNamespaces => Some(no_user_namespace()?),
            Self::FilteredPivotRoot => Some(without(&[libc::SYS_pivot_root], libc::EPERM, Vec::new())?),
            _ => None,
        };
        Ok(Prepared { fault: self.clone(), cover, filter })
    }
}

impl Prepared {
    /// Arranges that the fault is made when `command` is started.
    pub fn arrange(self, command: &mut Command, backend_name: &str) {
        if self.fault == Fault::NoTemp {
            command.env("TMPDIR", "/nonexistent");
            return;
        }
        if self.fault == Fault::BackendNotOnPath {
            command.env("PATH", super::Lab::path_without(backend_name));
            return;
        }
        // SAFETY: runs between fork and exec; `make` only makes system calls and allocates nothing that another
        // thread could hold a lock for (nix keeps short paths on the stack; the rest was prepared before).
        unsafe {
            command.pre_exec(move || self.make());
        }
    }

    fn make(&self) -> io::Result<()> {
        if let Fault::OpenFiles(limit) = self.fault {
            setrlimit(Resource::RLIMIT_NOFILE, limit, limit)?;
            return Ok(());
        }
        if let Some(filter) = &self.filter {
            return seccompiler::apply_filter(filter).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL));
        }
        unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
        map_self()?;
        if let Some((from, to)) = &self.cover {
            mount(Some(from.as_c_str()), to.as_c_str(), None::<&str>, MsFlags::MS_BIND, None::<&str>)?;
        }
        match self.fault {
            Fault::NoUserNamespaces => write_once("/proc/sys/user/max_user_namespaces", b"0")?,
            Fault::NoNetworkNamespaces => write_once("/proc/sys/user/max_net_namespaces", b"0")?,
            _ => {}
        }
        Ok(()) // exec takes the capabilities away: the user is not root in this namespace
    }
}

/// The same user inside as outside.
fn map_self() -> io::Result<()> {
    const MAP: &[u8] = b"42042 42042 1";
    const { assert!(UID == 42_042) };
    write_once("/proc/self/setgroups", b"deny")?;
    write_once("/proc/self/uid_map", MAP)?;
    write_once("/proc/self/gid_map", MAP)
}

fn write_once(path: &str, bytes: &[u8]) -> io::Result<()> {
    fs::OpenOptions::new().write(true).open(path)?.write_all(bytes)
}

fn script(text: &str, name: &str) -> io::Result<PathBuf> {
    let path = Path::new(SUITE).join(format!("fault-{name}"));
    fs::write(&path, format!("#!/bin/sh\n{text}\n"))?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// As container engines' default: unshare(2) and clone(2) with the flag.
fn no_user_namespace() -> io::Result<BpfProgram> {
    let flag = libc::CLONE_NEWUSER as u64;
    let asks =
        SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag).map_err(seccomp)?;
    let asked = vec![SeccompRule::new(vec![asks]).map_err(seccomp)?];
    without(&[libc::SYS_unshare, libc::SYS_clone], libc::EPERM, asked)
}

/// A filter by which calls fail: each time, or where one of the rules says so.
fn without(calls: &[i64], errno: i32, rules: Vec<SeccompRule>) -> io::Result<BpfProgram> {
    let deny = SeccompAction::Errno(errno as u32);
    let rules: BTreeMap<i64, Vec<SeccompRule>> = calls.iter().map(|call| (*call, rules.clone())).collect();
    let arch = std::env::consts::ARCH.try_into().map_err(seccomp)?;
    SeccompFilter::new(rules, SeccompAction::Allow, deny, arch).and_then(BpfProgram::try_from).map_err(seccomp)
}

fn seccomp(e: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("seccomp: {e}"))
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_encoded_bytes())?)
}
