//! `kusaw-enter`: pid 1 of a sandbox, between bubblewrap and the step. It takes the job from its
//! launcher, starts the step when told to, reaps, forwards signals and reports. It must never show its
//! own memory to the step, never outlive its launcher, and never start a step without the message `Go`.
//!
//! Usage (by the launcher only): `kusaw-enter NAME CTL_FD EXE_FD`

mod child;
mod filter;
mod init;
mod terminal;

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::exit;

use kusaw_enter::channel::{Until, receive_job, receive_message, send_message};
use kusaw_enter::job::mount_namespace;
use kusaw_enter::place::{Identity, Place};
use kusaw_enter::{Job, Message, Part};

/// The launcher is gone or makes no sense: as if killed (128 + SIGKILL).
const ORPHANED: i32 = 137;

fn main() {
    // First of all: from here on the step's uid can neither trace this process nor read its /proc files.
    if nix::sys::prctl::set_dumpable(false).is_err() {
        exit(1);
    }
    // Started by descriptor, it would be called "12" in process lists.
    let _ = nix::sys::prctl::set_name(c"kusaw-enter");
    let arguments: Vec<String> = std::env::args().collect();
    let descriptors = arguments.get(2).zip(arguments.get(3));
    let Some((Ok(ctl), Ok(exe))) = descriptors.map(|(c, e)| (c.parse(), e.parse())) else {
        eprintln!("kusaw-enter is started by kusaw inside a sandbox; it is of no use by itself");
        exit(2);
    };
    let Some(ctl) = init::adopt(ctl, exe) else { exit(2) };
    let pid = std::process::id() as i32;
    if pid != 1 {
        exit(refused(ctl.as_fd(), Message::NotConfined(pid)));
    }
    exit(stage(ctl))
}

fn stage(ctl: OwnedFd) -> i32 {
    let ctl = ctl.as_fd();
    // Only now does the launcher send what is the step's: one that is killed before leaves none of it in the socket.
    if send_message(ctl, Message::Here, &[], Until::default()).is_err() {
        return ORPHANED;
    }
    let Ok((bytes, given)) = receive_job(ctl, Until::default()) else { return ORPHANED };
    // The slave stays open here: with nobody on it for a moment, the launcher would take the terminal for gone.
    let Prepared { job, stdio, outgoing, slave: _slave } = match prepare(&bytes, given) {
        Ok(prepared) => prepared,
        Err(why) => return refused(ctl, why),
    };
    let fds: Vec<_> = outgoing.iter().map(AsRawFd::as_raw_fd).collect();
    if send_message(ctl, Message::Ready(fds.len() as i32), &fds, Until::default()).is_err() {
        return ORPHANED;
    }
    drop(outgoing);
    match receive_message(ctl, &mut Vec::new(), Until::default()) {
        Ok(Message::Go) => {}
        _ => return ORPHANED,
    }
    let plan = child::Plan::new(&job, &stdio);
    match init::run(ctl, plan, stdio) {
        Ok(code) => code,
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => ORPHANED,
        Err(e) => refused(ctl, Message::Failed(errno(&e))),
    }
}

/// What there is before the step.
struct Prepared {
    job: Job,
    stdio: [OwnedFd; 3],
    /// For the launcher: the listeners, one or two a port, and the master of the step's terminal if it has one.
    outgoing: Vec<OwnedFd>,
    slave: Option<OwnedFd>,
}

/// Looks at everything that must be so, and makes what the launcher gets; an error is why there will be no step.
fn prepare(bytes: &[u8], given: Vec<OwnedFd>) -> Result<Prepared, Message> {
    let job = Job::decode(bytes).map_err(|_| Message::Failed(libc::EBADMSG))?;
    if mount_namespace().map_err(|e| Message::Failed(errno(&e)))? == job.outside {
        return Err(Message::NotConfined(1));
    }
    let is_shown = |place: &Place| Identity::of(Path::new(OsStr::from_bytes(place.path.as_bytes()))) == Ok(place.is);
    if let Some(n) = job.places.iter().position(|place| !is_shown(place)) {
        return Err(Message::Exchanged(n as i32));
    }
    let pty = job.terminal.contains(&true).then(terminal::make).transpose();
    let pty = pty.map_err(|e| Message::Setup(Part::Terminal, e as i32))?;
    let stdio = terminal::place(job.terminal, given, pty.as_ref()).map_err(|e| Message::Failed(e as i32))?;
    // Listening comes before the fork, so the step's first connection can never be too early.
    let mut outgoing = listen(&job.ports).map_err(|e| Message::NoListener(errno(&e)))?;
    let (master, slave) = pty.map(|pty| (pty.master, pty.slave)).unzip();
    outgoing.extend(master);
    Ok(Prepared { job, stdio, outgoing, slave })
}

/// Listens on each port of 127.0.0.1, and, behind it, of ::1: clients that ask for localhost try either first. Where the
/// kernel has no IPv6, or it is switched off, there is no ::1 that anybody could connect to.
fn listen(ports: &[u16]) -> std::io::Result<Vec<OwnedFd>> {
    let mut listeners = Vec::new();
    for port in ports {
        listeners.push(TcpListener::bind((Ipv4Addr::LOCALHOST, *port))?.into());
        match TcpListener::bind((Ipv6Addr::LOCALHOST, *port)) {
            Err(e) if matches!(e.raw_os_error(), Some(libc::EAFNOSUPPORT | libc::EADDRNOTAVAIL)) => {}
            listener => listeners.push(listener?.into()),
        }
    }
    Ok(listeners)
}

/// The last message; the value is the exit code.
fn refused(ctl: BorrowedFd, why: Message) -> i32 {
    let _ = send_message(ctl, why, &[], Until::default());
    1
}

fn errno(e: &std::io::Error) -> i32 {
    e.raw_os_error().unwrap_or(libc::EIO)
}
