//! The duties of pid 1: start the child, reap whatever ends, pass the launcher's signals to the step's process group,
//! report, and die with the launcher. When this process ends, the kernel kills all that is left inside;
//! it must therefore never wait for anything but the step, a signal or the launcher.
#![allow(unsafe_code)]

use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use kusaw_enter::channel::{Until, receive_message, send_message};
use kusaw_enter::{Message, Part};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::{ForkResult, fork, pipe2};

use crate::child::{Plan, REPORT};

/// Takes over the socketpair's end and closes the descriptor this program was started from.
pub fn adopt(ctl: RawFd, exe: RawFd) -> Option<OwnedFd> {
    if ctl <= 2 || exe <= 2 || ctl == exe {
        return None;
    }
    // SAFETY: the launcher left exactly these two numbers open for this process; nothing else here owns them.
    let (ctl, exe) = unsafe { (OwnedFd::from_raw_fd(ctl), OwnedFd::from_raw_fd(exe)) };
    fcntl(&ctl, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).ok()?;
    drop(exe);
    Some(ctl)
}

/// Starts the step and stays until it ends; the exit code says the same as the message `Status`.
pub fn run(ctl: BorrowedFd, mut plan: Plan, stdio: [OwnedFd; 3]) -> io::Result<i32> {
    // No other one: what a pid 1 neither blocks nor handles the kernel drops (pid_namespaces(7)), so that a step cannot keep
    // this process busy with signals.
    let ended = SigSet::from(Signal::SIGCHLD);
    ended.thread_block()?;
    let ended = SignalFd::with_flags(&ended, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let (report, child_report) = pipe2(OFlag::O_CLOEXEC)?;
    // SAFETY: this process has one thread, and the child makes only async-signal-safe calls.
    let step = match unsafe { fork() }? {
        ForkResult::Child => plan.become_step(child_report.as_fd()),
        ForkResult::Parent { child } => child,
    };
    drop((child_report, stdio));
    let mut init = Init { ctl, ended, report: Some(report), step: step.as_raw(), status: None, unreaped: false };
    loop {
        init.wait()?;
        if let (None, Some(status)) = (&init.report, init.status) {
            send_message(ctl, Message::Status(status), &[], Until::default())?;
            return Ok(if libc::WIFSIGNALED(status) {
                128 + libc::WTERMSIG(status)
            } else {
                libc::WEXITSTATUS(status)
            });
        }
    }
}

struct Init<'a> {
    ctl: BorrowedFd<'a>,
    /// Can be read when a child has ended, or a process says so.
    ended: SignalFd,
    /// Open until the step has been executed or has said why not.
    report: Option<OwnedFd>,
    step: libc::pid_t,
    status: Option<i32>,
    /// There may be more children that have ended.
    unreaped: bool,
}

/// Children that are reaped before the launcher is listened to again: orphans can end as fast as they are reaped.
const AT_ONCE: usize = 64;

impl Init<'_> {
    fn wait(&mut self) -> io::Result<()> {
        let report = self.report.as_ref().map_or(self.ctl, |r| r.as_fd());
        let mut on = [self.ctl, self.ended.as_fd(), report].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        match poll(&mut on, if self.unreaped { PollTimeout::ZERO } else { PollTimeout::NONE }) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(()),
            Err(e) => return Err(e.into()),
        }
        let [ctl, ended, report] = on.map(|p| p.any().unwrap_or(true));
        if report && self.report.is_some() {
            self.hear_child()?;
        }
        if (ended && self.ended.read_signal()?.is_some()) || self.unreaped {
            self.unreaped = self.reap();
        }
        if ctl {
            match receive_message(self.ctl, &mut Vec::new(), Until::default())? {
                Message::Signal(n) => self.pass_on(n),
                _ => return Err(ErrorKind::UnexpectedEof.into()),
            }
        }
        Ok(())
    }

    fn hear_child(&mut self) -> io::Result<()> {
        let Some(report) = self.report.take() else { return Ok(()) };
        let mut said = Vec::new();
        std::fs::File::from(report).take(REPORT as u64).read_to_end(&mut said)?;
        let message = match said[..] {
            [letter, a, b, c, d] => {
                let errno = i32::from_le_bytes([a, b, c, d]);
                Part::of(letter).map_or(Message::Exec(errno), |part| Message::Setup(part, errno))
            }
            _ => Message::Exec(0),
        };
        send_message(self.ctl, message, &[], Until::default())
    }

    /// Whether there may be more. With the step's end nothing else counts.
    fn reap(&mut self) -> bool {
        for _ in 0..AT_ONCE {
            let mut status = 0;
            // SAFETY: waitpid writes one int; -1 = any child, of which orphans become ours.
            match unsafe { libc::waitpid(-1, &mut status, libc::WNOHANG) } {
                pid if pid <= 0 => return false,
                pid if pid == self.step => {
                    self.status = Some(status);
                    return true;
                }
                _ => {}
            }
        }
        true
    }

    fn pass_on(&self, signal: i32) {
        let known = Signal::try_from(signal).is_ok();
        if known && self.status.is_none() {
            // SAFETY: plain numbers; the step is not reaped, so its pid is still its own. The group does
            // not exist before the child's setsid: then the process itself is meant.
            unsafe {
                if libc::kill(-self.step, signal) != 0 {
                    libc::kill(self.step, signal);
                }
            }
        }
    }
}
