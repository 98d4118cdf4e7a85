//! `kusaw-enter`: pid 1 of a sandbox, between bubblewrap and the step. It takes the job from its
//! launcher, starts the step when told to, reaps, forwards signals and reports. It must never show its
//! own memory to the step, never outlive its launcher, and never start a step without the message `Go`.
//!
//! Usage (by the launcher only): `kusaw-enter NAME CTL_FD EXE_FD`

mod child;
mod filter;
mod init;

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::exit;

use kusaw_enter::channel::{Until, receive_job, receive_message, send_message};
use kusaw_enter::job::mount_namespace;
use kusaw_enter::place::{Identity, Place};
use kusaw_enter::{Job, Message};

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
        let _ = send_message(ctl.as_fd(), Message::NotConfined(pid), &[], Until::default());
        exit(1);
    }
    exit(stage(ctl))
}

fn stage(ctl: OwnedFd) -> i32 {
    let Ok((bytes, stdio)) = receive_job(ctl.as_fd(), Until::default()) else { return ORPHANED };
    let (Ok(job), Ok(stdio)) = (Job::decode(&bytes), <[OwnedFd; 3]>::try_from(stdio)) else {
        return failed(ctl.as_fd(), libc::EBADMSG);
    };
    match mount_namespace() {
        Ok(own) if own != job.outside => {}
        Ok(_) => {
            let _ = send_message(ctl.as_fd(), Message::NotConfined(1), &[], Until::default());
            return 1;
        }
        Err(e) => return failed(ctl.as_fd(), errno(&e)),
    }
    let is_shown = |place: &Place| Identity::of(Path::new(OsStr::from_bytes(place.path.as_bytes()))) == Ok(place.is);
    if let Some(n) = job.places.iter().position(|place| !is_shown(place)) {
        let _ = send_message(ctl.as_fd(), Message::Exchanged(n as i32), &[], Until::default());
        return 1;
    }
    // Listening comes before the fork, so the step's first connection can never be too early.
    let listeners: Vec<TcpListener> = match job.ports.iter().map(|p| TcpListener::bind(("127.0.0.1", *p))).collect() {
        Ok(all) => all,
        Err(e) => {
            let _ = send_message(ctl.as_fd(), Message::NoListener(errno(&e)), &[], Until::default());
            return 1;
        }
    };
    let fds: Vec<_> = listeners.iter().map(AsRawFd::as_raw_fd).collect();
    if send_message(ctl.as_fd(), Message::Ready(fds.len() as i32), &fds, Until::default()).is_err() {
        return ORPHANED;
    }
    drop(listeners);
    match receive_message(ctl.as_fd(), &mut Vec::new(), Until::default()) {
        Ok(Message::Go) => {}
        _ => return ORPHANED,
    }
    let plan = child::Plan::new(&job, &stdio);
    match init::run(ctl.as_fd(), plan, stdio) {
        Ok(code) => code,
        Err(e) if e.kind() == ErrorKind::UnexpectedEof => ORPHANED,
        Err(e) => failed(ctl.as_fd(), errno(&e)),
    }
}

fn failed(ctl: BorrowedFd, errno: i32) -> i32 {
    let _ = send_message(ctl, Message::Failed(errno), &[], Until::default());
    1
}

fn errno(e: &std::io::Error) -> i32 {
    e.raw_os_error().unwrap_or(libc::EIO)
}
