//! Landlock (landlock(7)), for what no namespace keeps apart: in the open network the host's abstract sockets, and signals to
//! pid 1. No files: mounts decide about those, and a domain that knows files would forbid nested sandboxes theirs.
#![allow(unsafe_code)]

use std::ptr;

use nix::errno::Errno;

/// The first ABI that has scopes (Linux 6.12).
pub const SCOPES: i32 = 6;

/// struct landlock_ruleset_attr of linux/landlock.h.
#[repr(C)]
struct Ruleset {
    files: u64,
    ports: u64,
    scoped: u64,
}

/// LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET and LANDLOCK_SCOPE_SIGNAL.
const BOTH: u64 = 1 | 2;

/// The kernel's ABI; ENOSYS where Landlock is not built in, EOPNOTSUPP where it was not turned on at boot.
pub fn abi() -> Result<i32, Errno> {
    const VERSION: u32 = 1;
    // SAFETY: with this flag the kernel reads nothing.
    let abi = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<Ruleset>(), 0, VERSION) };
    Errno::result(abi as i32)
}

/// Whether this kernel has the scopes; an error is one that says neither.
pub fn has_scopes() -> Result<bool, Errno> {
    match abi() {
        Ok(abi) => Ok(abi >= SCOPES),
        Err(Errno::ENOSYS | Errno::EOPNOTSUPP) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Confines this thread and all that it starts to signals and abstract sockets among themselves, where the kernel can.
/// Async-signal-safe. Needs no_new_privs.
pub fn scope() -> Result<(), Errno> {
    if !has_scopes()? {
        return Ok(());
    }
    let ruleset = Ruleset { files: 0, ports: 0, scoped: BOTH };
    // SAFETY: the kernel reads `ruleset`, whose size it is told, and makes a descriptor, which is closed here.
    unsafe {
        let number = libc::syscall(libc::SYS_landlock_create_ruleset, &raw const ruleset, size_of::<Ruleset>(), 0);
        let fd = Errno::result(number)? as i32;
        let restricted = Errno::result(libc::syscall(libc::SYS_landlock_restrict_self, fd, 0));
        libc::close(fd);
        restricted.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

    #[test]
    fn signals_and_abstract_sockets_of_others_are_out_of_reach_and_the_own_are_not() {
        let name =
            |which: &str| SocketAddr::from_abstract_name(format!("kusaw-{which}-{}", std::process::id())).unwrap();
        let _others = UnixListener::bind_addr(&name("others")).unwrap();
        let connect = |which| UnixStream::connect_addr(&name(which)).map_err(|e| e.raw_os_error()).err();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let other = nix::unistd::Pid::from_raw(child.id() as i32);
        // Signal 0 only asks.
        let ask = |pid| nix::sys::signal::kill(pid, None).err();
        assert_eq!((connect("others"), ask(other)), (None, None));
        let inside = std::thread::scope(|threads| {
            let thread = threads.spawn(|| {
                nix::sys::prctl::set_no_new_privs().unwrap();
                scope().unwrap();
                let _own = UnixListener::bind_addr(&name("own")).unwrap();
                (connect("others"), connect("own"), ask(other), ask(nix::unistd::getpid()))
            });
            thread.join().unwrap()
        });
        child.kill().and_then(|()| child.wait()).unwrap();
        let (socket, signal) =
            if has_scopes().unwrap() { (Some(Some(libc::EPERM)), Some(Errno::EPERM)) } else { (None, None) };
        assert_eq!(inside, (socket, None, signal, None));
    }
}
