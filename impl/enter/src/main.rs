//! `kusaw-enter`: pid 1 of a sandbox, between bubblewrap and the step. It takes the job from its
//! launcher, starts the step when told to, reaps, forwards signals and reports. It must never show its
//! own memory to the step, never outlive its launcher, and never start a step without the word `Go`.
//!
//! Usage (by the launcher only): `kusaw-enter NAME CTL_FD EXE_FD`

mod child;
mod init;

use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::exit;

use kusaw_enter::channel::{receive_job, receive_word, send_word};
use kusaw_enter::{Job, Word};

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
        let _ = send_word(ctl.as_fd(), Word::NotConfined(pid), &[], None);
        exit(1);
    }
    exit(stage(ctl))
}

fn stage(ctl: OwnedFd) -> i32 {
    let Ok((bytes, stdio)) = receive_job(ctl.as_fd(), None) else { return ORPHANED };
    let (Ok(job), Ok(stdio)) = (Job::decode(&bytes), <[OwnedFd; 3]>::try_from(stdio)) else {
        return failed(ctl.as_fd(), libc::EBADMSG);
    };
    // Listening comes before the fork, so the step's first connection can never be too early.
    let listeners: Vec<TcpListener> = match job.ports.iter().map(|p| TcpListener::bind(("127.0.0.1", *p))).collect() {
        Ok(all) => all,
        Err(e) => {
            let _ = send_word(ctl.as_fd(), Word::NoListener(errno(&e)), &[], None);
            return 1;
        }
    };
    let fds: Vec<_> = listeners.iter().map(AsRawFd::as_raw_fd).collect();
    if send_word(ctl.as_fd(), Word::Ready(fds.len() as i32), &fds, None).is_err() {
        return ORPHANED;
    }
    drop(listeners);
    match receive_word(ctl.as_fd(), &mut Vec::new(), None) {
        Ok(Word::Go) => {}
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
    let _ = send_word(ctl, Word::Failed(errno), &[], None);
    1
}

fn errno(e: &std::io::Error) -> i32 {
    e.raw_os_error().unwrap_or(libc::EIO)
}
