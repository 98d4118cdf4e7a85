//! Starting bubblewrap: direct child, own session, empty environment, no descriptor but those it needs,
//! and a session keyring without the user's keys. Nothing of the step is in its argv. It waits for its
//! arguments: loading it takes as long as finding out what they are.
#![allow(unsafe_code)]

use std::ffi::{CStr, OsString};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::Path;

use kusaw_enter::channel::{Until, wait};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::PollFlags;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use nix::unistd::pipe2;

use crate::outcome::{Reason, Refusal};
use crate::process::pidfd;

/// A bubblewrap that waits for its arguments; dropped, it is killed and reaped.
#[derive(Debug)]
pub struct Waiting {
    sandbox: Option<Sandbox>,
    /// Does not block. Where it ends, as when this process is killed, bubblewrap goes on with what it has been given; the
    /// stage that it starts finds no job then, and ends.
    arguments: File,
}

/// A bubblewrap that has been started.
#[derive(Debug)]
pub struct Sandbox {
    /// Its process id; also that of its session and process group.
    pub pid: libc::pid_t,
    /// Becomes readable when it has ended.
    pub pidfd: OwnedFd,
    /// Our end of the socketpair to the stage.
    pub ctl: UnixStream,
    /// What bubblewrap says on stderr; does not block.
    pub diagnosis: File,
}

/// Numbers inside bubblewrap and the stage.
const ARGS: RawFd = 10;
const CTL: RawFd = 11;
const EXE: RawFd = 12;
const ARGS_TEXT: &CStr = c"10";
const CTL_TEXT: &CStr = c"11";
const EXE_TEXT: &CStr = c"12";
const EXE_PATH: &CStr = c"/proc/self/fd/12";

/// Above every number that is a target below.
const ABOVE: RawFd = 20;

/// `kusaw-enter` beside this program, opened: it is started by descriptor and needs no path inside.
pub fn open_stage() -> Result<File, Refusal> {
    let missing = |what: String| Refusal::new(Reason::StageMissing, what);
    let own = std::env::current_exe().map_err(|e| missing(format!("own path: {e}")))?;
    let path = own.with_file_name("kusaw-enter");
    let told = |what: &str| missing(format!("{}: {what}", path.display()));
    let file = File::open(&path).map_err(|e| told(&e.to_string()))?;
    let meta = file.metadata().map_err(|e| told(&e.to_string()))?;
    let mut magic = [0; 4];
    let program = meta.is_file() && meta.permissions().mode() & 0o111 != 0;
    if !program || file.read_exact_at(&mut magic, 0).is_err() || magic != *b"\x7fELF" {
        return Err(told("not a program"));
    }
    Ok(file)
}

/// Starts `program`; `name` is what the stage is called in its argv.
pub fn spawn(program: &Path, name: &CStr, stage: &File) -> Result<Waiting, Refusal> {
    let failed = |what: &str, e: &dyn std::fmt::Display| Refusal::new(Reason::SetupFailed, format!("{what}: {e}"));
    let (args, arguments) = pipe2(OFlag::O_CLOEXEC).map_err(|e| failed("pipe", &e))?;
    fcntl(&arguments, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|e| failed("pipe", &e))?;
    let (ctl, inner) = UnixStream::pair().map_err(|e| failed("socketpair", &e))?;
    let (diagnosis, stderr) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).map_err(|e| failed("pipe", &e))?;
    let null = File::options().read(true).write(true).open("/dev/null").map_err(|e| failed("/dev/null", &e))?;
    leave_session_keyring().map_err(|e| failed("session keyring", &e))?;
    let start = || -> nix::Result<libc::pid_t> {
        let mut actions = PosixSpawnFileActions::init()?;
        let mut sources = Vec::new();
        for (fd, target) in [
            (null.as_fd(), 0),
            (null.as_fd(), 1),
            (stderr.as_fd(), 2),
            (args.as_fd(), ARGS),
            (inner.as_fd(), CTL),
            (stage.as_fd(), EXE),
        ] {
            let high = above(fd)?;
            actions.add_dup2(high.as_raw_fd(), target)?;
            sources.push(high);
        }
        let argv = argv(name);
        let none: [&CStr; 0] = [];
        Ok(posix_spawn(program, &actions, &attributes()?, &argv, &none)?.as_raw())
    };
    let pid = start().map_err(|e| Refusal::new(Reason::BwrapFailed, format!("{}: {e}", program.display())))?;
    let pidfd = pidfd::open(pid).map_err(|e| {
        // SAFETY: our own child, not reaped yet.
        unsafe { libc::kill(pid, libc::SIGKILL) };
        failed("pidfd_open", &e)
    })?;
    let sandbox = Sandbox { pid, pidfd, ctl, diagnosis: File::from(diagnosis) };
    Ok(Waiting { sandbox: Some(sandbox), arguments: File::from(arguments) })
}

/// What is executed; `name` is what the stage is called in its argv.
pub fn argv(name: &CStr) -> [&CStr; 8] {
    [c"bwrap", c"--args", ARGS_TEXT, c"--", EXE_PATH, name, CTL_TEXT, EXE_TEXT]
}

impl Waiting {
    /// Gives it all of its arguments. One that has ended gets none: what it said tells why.
    pub fn give(mut self, arguments: &[OsString], until: Until) -> io::Result<Sandbox> {
        let blob = blob(arguments)?;
        make_room(&self.arguments, blob.len());
        let mut rest = &blob[..];
        while !rest.is_empty() {
            match self.arguments.write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == ErrorKind::BrokenPipe => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    wait(self.arguments.as_fd(), PollFlags::POLLOUT, until)?;
                }
                Err(e) => return Err(e),
            }
        }
        self.sandbox.take().ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(sandbox) = &self.sandbox else { return };
        // SAFETY: plain numbers; our own child, not reaped, so the pid is its own. It is killed before it can see the end of
        // its arguments, which is only closed after this.
        unsafe {
            libc::kill(-sandbox.pid, libc::SIGKILL);
            libc::kill(sandbox.pid, libc::SIGKILL);
            libc::waitpid(sandbox.pid, std::ptr::null_mut(), 0);
        }
    }
}

/// Room in the pipe for all of them, so that they go in as one piece: killed between two, this process would leave bubblewrap
/// with half a plan, and the end of a path that is cut off can be a mount point made on the host. Where so much is refused
/// (/proc/sys/fs/pipe-max-size, for an ordinary user 1 MiB), they go in as many.
fn make_room(pipe: &File, size: usize) {
    if fcntl(pipe, FcntlArg::F_GETPIPE_SZ).is_ok_and(|has| (has as usize) < size) {
        let _ = i32::try_from(size).map(|size| fcntl(pipe, FcntlArg::F_SETPIPE_SZ(size)));
    }
}

/// As bubblewrap reads them: each ends with a NUL.
fn blob(arguments: &[OsString]) -> io::Result<Vec<u8>> {
    let mut blob = Vec::new();
    for argument in arguments.iter().map(|argument| argument.as_bytes()) {
        if argument.contains(&0) {
            return Err(io::Error::other("NUL byte in a path"));
        }
        blob.extend(argument);
        blob.push(0);
    }
    Ok(blob)
}

fn above(fd: BorrowedFd) -> nix::Result<OwnedFd> {
    let high = fcntl(fd, FcntlArg::F_DUPFD_CLOEXEC(ABOVE))?;
    // SAFETY: fcntl has just made this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(high) })
}

fn attributes() -> nix::Result<PosixSpawnAttr> {
    let mut attributes = PosixSpawnAttr::init()?;
    let own_session = PosixSpawnFlags::from_bits_retain(libc::POSIX_SPAWN_SETSID as _);
    attributes
        .set_flags(PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | own_session)?;
    attributes.set_sigdefault(&SigSet::all())?;
    attributes.set_sigmask(&SigSet::empty())?;
    Ok(attributes)
}

/// A new, empty session keyring for this thread and its children. Where keyctl is filtered or not built
/// in, nobody inside can use it either; any other failure would leave the caller's keys readable.
fn leave_session_keyring() -> io::Result<()> {
    const JOIN_SESSION_KEYRING: libc::c_long = 1;
    // SAFETY: a raw system call without pointers (no name: anonymous).
    if unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, 0) } >= 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EPERM | libc::ENOSYS | libc::EACCES) => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// Nobody reads meanwhile.
    #[test]
    fn a_long_plan_goes_in_as_one_piece() {
        let (reader, writer) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).unwrap();
        let waiting = Waiting { sandbox: None, arguments: File::from(writer) };
        let arguments = vec![OsString::from("x".repeat(99)); 5_000];
        let given = waiting.give(&arguments, Until::at(std::time::Instant::now()));
        assert_eq!(given.map(|_| ()).unwrap_err().kind(), ErrorKind::NotFound, "no sandbox, but room");
        let mut all = Vec::new();
        File::from(reader).read_to_end(&mut all).unwrap();
        assert_eq!(all, blob(&arguments).unwrap());
    }
}
