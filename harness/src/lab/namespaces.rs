//! Entering the lab: the processes and namespaces, for both ways of starting.
//!
//! ```text
//! conformance ─ fork ─ maker: unshare(all) ─ fork ─ pid 1: builds root, network ─┬─ outside: own net namespace, user dev
//!                                                                               └─ engine: user dev, runs the scenarios
//! ```
//! Started as root the maker stays root until [`drop_to_user`]; started by a user it is root of a new user namespace,
//! and [`drop_to_user`] enters a nested one that maps the same user to [`super::UID`]. Both end without capabilities.
#![allow(unsafe_code)] // close_range, fork, capset: each with its SAFETY sentence

use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;

use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{self, ForkResult, Gid, Pid, Uid};

use super::world::control::World;
use super::world::tls::Authority;
use super::{Lab, Start, UID, home, network, root, world};

/// Exit code for "this host cannot make the lab".
pub const BLOCKED: u8 = 3;

/// Builds the lab, runs `engine` in it as the unprivileged user, and returns its exit code.
///
/// Must be called before any thread is started. Whatever cannot be made is told on stderr and ends with [`BLOCKED`]:
/// nothing of the suite ever runs on the real host instead.
pub fn run_inside(supplies: &root::Supplies, engine: impl FnOnce(&Lab) -> u8) -> u8 {
    if let Err(e) = close_on_exec() {
        eprintln!("conformance: blocked: the caller's descriptors could not be closed: {e} (Linux 5.11 is needed)");
        return BLOCKED;
    }
    fork_and_wait(move || make(supplies, engine)).unwrap_or_else(|e| {
        eprintln!("conformance: blocked: the lab could not be started: {e}");
        BLOCKED
    })
}

/// Whoever started the suite may have left descriptors open, as terminals and CI runners do: none of them may reach a launch,
/// where it would pass for the sandbox's. close_range(2) with CLOSE_RANGE_CLOEXEC.
fn close_on_exec() -> io::Result<()> {
    const CLOEXEC: libc::c_uint = 4;
    // SAFETY: three numbers; no descriptor is closed, and our own are opened close-on-exec by std already.
    let result = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOEXEC) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Root of a container lacks CAP_SYS_ADMIN: it becomes the user before the lab, and starts as an ordinary user does.
fn how_to_start() -> io::Result<Start> {
    if !Uid::effective().is_root() {
        return Ok(Start::Unprivileged);
    }
    if can_administer()? {
        return Ok(Start::Root);
    }
    drop_to_user(Start::Root)?;
    Ok(Start::Unprivileged)
}

/// Whether CAP_SYS_ADMIN (capabilities(7), bit 21) is effective.
fn can_administer() -> io::Result<bool> {
    let status = fs::read_to_string("/proc/self/status")?;
    let word = status.lines().find_map(|l| l.strip_prefix("CapEff:")).unwrap_or_default().trim();
    Ok(u64::from_str_radix(word, 16).is_ok_and(|set| set & (1 << 21) != 0))
}

fn make(supplies: &root::Supplies, engine: impl FnOnce(&Lab) -> u8) -> u8 {
    let start = match how_to_start() {
        Ok(start) => start,
        Err(e) => return blocked("user", &e, Start::Root),
    };
    let made = (|| -> io::Result<()> {
        die_with_parent()?;
        if start == Start::Unprivileged {
            enter_user_namespace(0)?;
        }
        unshare(
            CloneFlags::CLONE_NEWNS
                | CloneFlags::CLONE_NEWPID
                | CloneFlags::CLONE_NEWNET
                | CloneFlags::CLONE_NEWIPC
                | CloneFlags::CLONE_NEWUTS,
        )?;
        Ok(())
    })();
    if let Err(e) = made {
        return blocked("namespaces", &e, start);
    }
    match fork_and_wait(move || pid_one(supplies, start, engine)) {
        Ok(code) => code,
        Err(e) => {
            eprintln!("conformance: the lab's pid 1 is gone: {e}");
            1
        }
    }
}

fn pid_one(supplies: &root::Supplies, start: Start, engine: impl FnOnce(&Lab) -> u8) -> u8 {
    if let Err(e) = die_with_parent().and_then(|()| root::enter(supplies, start)) {
        return blocked("root file system", &e, start);
    }
    let world = match start_world(start) {
        Ok(world) => world,
        Err(e) => return blocked("network", &e, start),
    };
    let engine = fork_child(move || {
        let lab = match drop_to_user(start).and_then(|()| home::furnish(supplies, start, world)) {
            Ok(lab) => lab,
            Err(e) => return blocked("home", &e, start),
        };
        engine(&lab)
    });
    match engine {
        Ok(engine) => reap_until(engine),
        Err(e) => blocked("engine", &e, start),
    }
}

/// Forks the world: a process in a network namespace of its own that serves DNS and origins. It has been told that the link
/// is there before it uses it, and has bound every socket when this returns. What it has seen can be asked.
fn start_world(start: Start) -> io::Result<World> {
    let authority = Authority::new()?;
    authority.trust()?;
    let (ours, its) = UnixStream::pair()?;
    let (mut hear, tell) = io::pipe()?;
    let (mut wait, mut go) = io::pipe()?;
    let pid = fork_child(move || {
        let served = (|| -> io::Result<()> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            (&tell).write_all(b"n")?;
            wait.read_exact(&mut [0])?;
            network::set_up_world()?;
            drop_to_user(start)?;
            world::serve(authority, its, move || (&tell).write_all(b"b"))
        })();
        if let Err(e) = served {
            eprintln!("conformance: the world: {e}");
        }
        1
    })?;
    let gone = |_| io::Error::other("the world has ended");
    hear.read_exact(&mut [0]).map_err(gone)?;
    network::add_link(pid)?;
    network::join(if start == Start::Root { UID } else { 0 })?;
    go.write_all(b"g")?;
    hear.read_exact(&mut [0]).map_err(gone)?;
    World::new(ours)
}

/// Becomes the user for good: no capability is left, and none can come back.
fn drop_to_user(start: Start) -> io::Result<()> {
    match start {
        Start::Root => {
            unistd::setgroups(&[])?;
            unistd::setresgid(Gid::from_raw(UID), Gid::from_raw(UID), Gid::from_raw(UID))?;
            unistd::setresuid(Uid::from_raw(UID), Uid::from_raw(UID), Uid::from_raw(UID))?;
        }
        Start::Unprivileged => {
            enter_user_namespace(UID)?;
            drop_capabilities()?;
        }
    }
    // setresuid(2) makes the process undumpable, and /proc/self then belongs to root: faults write their uid_map there.
    prctl::set_dumpable(true)?;
    Ok(())
}

/// A new user namespace in which the present user is `inside`.
fn enter_user_namespace(inside: u32) -> io::Result<()> {
    let (uid, gid) = (Uid::effective(), Gid::effective());
    unshare(CloneFlags::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?; // user_namespaces(7): before an unprivileged gid_map
    fs::write("/proc/self/uid_map", format!("{inside} {uid} 1"))?;
    fs::write("/proc/self/gid_map", format!("{inside} {gid} 1"))?;
    Ok(())
}

fn drop_capabilities() -> io::Result<()> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    let header = Header { version: 0x2008_0522, pid: 0 }; // _LINUX_CAPABILITY_VERSION_3, capset(2)
    let none = [0u32; 6];
    // SAFETY: both pointers are valid for the sizes version 3 asks for: one header, two sets of three words.
    let result = unsafe { libc::syscall(libc::SYS_capset, &raw const header, none.as_ptr()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn die_with_parent() -> io::Result<()> {
    Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)
}

fn fork_child(child: impl FnOnce() -> u8) -> io::Result<Pid> {
    // SAFETY: the process has one thread (the caller's contract), so the child may do anything.
    match unsafe { unistd::fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            let code = child();
            let _ = io::stdout().flush();
            std::process::exit(i32::from(code))
        }
    }
}

fn fork_and_wait(child: impl FnOnce() -> u8) -> io::Result<u8> {
    let pid = fork_child(child)?;
    loop {
        match waitpid(pid, None) {
            Ok(WaitStatus::Exited(_, code)) => return Ok(u8::try_from(code).unwrap_or(1)),
            Ok(WaitStatus::Signaled(_, signal, _)) => {
                return Err(io::Error::other(format!("ended by {signal}")));
            }
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// The duty of pid 1: reap whatever ends, until the engine does.
fn reap_until(engine: Pid) -> u8 {
    loop {
        match waitpid(None, Some(WaitPidFlag::__WALL)) {
            Ok(WaitStatus::Exited(pid, code)) if pid == engine => {
                return u8::try_from(code).unwrap_or(1);
            }
            Ok(WaitStatus::Signaled(pid, signal, _)) if pid == engine => {
                eprintln!("conformance: the engine was ended by {signal}");
                return 1;
            }
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(_) => return 1,
        }
    }
}

fn blocked(part: &str, error: &io::Error, start: Start) -> u8 {
    eprintln!("conformance: blocked: this host cannot make the lab ({part}, started {}): {error}", start.word());
    if error.kind() == io::ErrorKind::InvalidInput && error.raw_os_error().is_none() {
        return BLOCKED;
    }
    let knob = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    if knob("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" {
        eprintln!(
            "conformance: AppArmor restricts user namespaces here; `make setup` prints the fix, or start as root."
        );
    } else if knob("/proc/sys/user/max_user_namespaces") == "0" {
        eprintln!(
            "conformance: user namespaces are off: set user.max_user_namespaces above 0 (sysctl), or start as root."
        );
    } else {
        eprintln!(
            "conformance: in a container, /proc must not be masked and seccomp must allow unshare and mount (docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)."
        );
    }
    BLOCKED
}
