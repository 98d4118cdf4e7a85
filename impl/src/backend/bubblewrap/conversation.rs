//! What is said between the start of bubblewrap and its end: job, readiness, go, exec result, signals,
//! status. The step is executed only after the word `Go`; every way out of here leaves nothing alive.
#![allow(unsafe_code)]

use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use kusaw_enter::channel::{receive_word, send_job, send_word};
use kusaw_enter::{Job, Word};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::diagnosis::classify;
use super::spawn::Sandbox;
use crate::attempt::signals::Signals;
use crate::attempt::stdio;
use crate::outcome::{End, Reason, Refusal};

/// Between a signal that asks and the one that does not.
pub const GRACE: Duration = Duration::from_secs(5);

/// For bubblewrap to be gone once the stage is.
const REAP: Duration = Duration::from_secs(5);

/// One sandbox, from its first word to its last.
pub struct Conversation {
    sandbox: Sandbox,
    signals: Signals,
    deadline: Instant,
    /// When a signal that asks was passed on, the time at which everything is killed.
    kill_at: Option<Instant>,
    reaped: Option<i32>,
}

impl Conversation {
    /// With a bubblewrap that has just been started.
    pub fn new(sandbox: Sandbox, signals: Signals, deadline: Instant) -> Conversation {
        Conversation { sandbox, signals, deadline, kill_at: None, reaped: None }
    }

    /// Everything up to the step's end.
    pub fn run(
        &mut self,
        job: &Job,
        stdio: [OwnedFd; 3],
        ready: &mut dyn FnMut(Vec<OwnedFd>) -> Result<(), Refusal>,
    ) -> Result<End, Refusal> {
        let listeners = self.get_ready(job, stdio)?;
        ready(listeners)?;
        let go = send_word(self.sandbox.ctl.as_fd(), Word::Go, &[], Some(self.deadline.max(Instant::now() + REAP)));
        go.map_err(|e| self.no_word(&e))?;
        self.wait_for_end()
    }

    /// Lets go of the stage, which takes everything inside along, and reaps bubblewrap, which waits for
    /// that; whatever is still there then is killed. Afterwards no process of the attempt is alive.
    pub fn finish(&mut self) {
        self.let_go();
        if self.reap(Instant::now() + REAP).is_none() {
            self.kill();
            self.reap(Instant::now() + REAP);
        }
    }

    fn let_go(&self) {
        let _ = self.sandbox.ctl.shutdown(std::net::Shutdown::Both);
    }

    fn get_ready(&mut self, job: &Job, stdio: [OwnedFd; 3]) -> Result<Vec<OwnedFd>, Refusal> {
        let ctl = self.sandbox.ctl.as_fd();
        let sent = send_job(ctl, &job.encode(), &stdio::numbers(&stdio), Some(self.deadline));
        drop(stdio);
        let mut listeners = Vec::new();
        let word = sent.and_then(|()| receive_word(ctl, &mut listeners, Some(self.deadline)));
        match word {
            Ok(Word::Ready(n)) if n as usize == job.ports.len() && listeners.len() == job.ports.len() => Ok(listeners),
            Ok(Word::Failed(errno)) => {
                let what = format!("the stage could not get ready: {}", Errno::from_raw(errno));
                Err(Refusal::new(Reason::SetupFailed, what))
            }
            Ok(Word::NoListener(errno)) => {
                let what = format!("no listener inside the sandbox: {}", Errno::from_raw(errno));
                Err(Refusal::new(Reason::ProxyFailed, what))
            }
            Ok(Word::NotConfined(pid)) => {
                let what = format!("bwrap started its command without a PID namespace (as pid {pid})");
                Err(Refusal::new(Reason::BwrapFailed, what))
            }
            Ok(word) => Err(Refusal::new(Reason::SetupFailed, format!("the stage said {word:?}"))),
            Err(e) => Err(self.no_word(&e)),
        }
    }

    /// No word came: too late, or bubblewrap ended before the stage was there.
    fn no_word(&mut self, error: &io::Error) -> Refusal {
        if error.kind() == ErrorKind::TimedOut {
            self.kill();
            return Refusal::new(Reason::BwrapTimeout, "no word from inside the sandbox; everything was killed");
        }
        let status = self.reap(self.deadline);
        let how = match status.map(End::from_status) {
            Some(End::Exited(code)) => format!("exit code {code}"),
            Some(End::Signalled(signal)) => format!("signal {signal}"),
            None => return Refusal::new(Reason::BwrapTimeout, "bwrap closed its end and did not exit"),
        };
        classify(&self.diagnosis(), &how)
    }

    fn wait_for_end(&mut self) -> Result<End, Refusal> {
        let mut executed = false;
        loop {
            match self.next_word() {
                Ok(Some(Word::Exec(0))) => executed = true,
                Ok(Some(Word::Exec(errno))) => return Err(not_executed(errno)),
                Ok(Some(Word::Setup(errno))) => {
                    let what = format!("the step's working folder or descriptors: {}", Errno::from_raw(errno));
                    return Err(Refusal::new(Reason::SetupFailed, what));
                }
                Ok(Some(Word::Status(status))) => return Ok(End::from_status(status)),
                Ok(Some(Word::Failed(errno))) if !executed => {
                    return Err(Refusal::new(Reason::SetupFailed, format!("fork: {}", Errno::from_raw(errno))));
                }
                Ok(None) => {}
                // The stage is gone without a status: somebody killed the sandbox as a whole.
                Ok(Some(_)) | Err(_) => return Ok(End::Signalled(libc::SIGKILL)),
            }
        }
    }

    /// The next word, or `None` after a signal or the end of the grace.
    fn next_word(&mut self) -> io::Result<Option<Word>> {
        let timeout = match self.kill_at.map(|at| at.saturating_duration_since(Instant::now())) {
            None => PollTimeout::NONE,
            Some(Duration::ZERO) => {
                self.let_go();
                return Err(ErrorKind::TimedOut.into());
            }
            Some(left) => PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX),
        };
        let ctl = self.sandbox.ctl.as_fd();
        let mut on = [PollFd::new(ctl, PollFlags::POLLIN), PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        match poll(&mut on, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
        let [word, signal] = on.map(|p| p.any().unwrap_or(false));
        if signal {
            while let Some(signal) = self.signals.next()? {
                if signal.asks_to_end {
                    self.kill_at.get_or_insert(Instant::now() + GRACE);
                }
                send_word(ctl, Word::Signal(signal.number), &[], Some(Instant::now() + REAP))?;
            }
        }
        if word { receive_word(ctl, &mut Vec::new(), None).map(Some) } else { Ok(None) }
    }

    /// bubblewrap with its session; the kernel takes the namespace's pid 1, and with it all inside.
    fn kill(&self) {
        if self.reaped.is_none() {
            // SAFETY: plain numbers; our own child, not reaped, so the pid is still its own.
            unsafe {
                libc::kill(-self.sandbox.pid, libc::SIGKILL);
                libc::kill(self.sandbox.pid, libc::SIGKILL);
            }
        }
    }

    /// Its wait status, if it ends before `deadline`.
    fn reap(&mut self, deadline: Instant) -> Option<i32> {
        if self.reaped.is_none() {
            let left = deadline.saturating_duration_since(Instant::now()).as_millis();
            let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
            let mut on = [PollFd::new(self.sandbox.pidfd.as_fd(), PollFlags::POLLIN)];
            while poll(&mut on, timeout) == Err(Errno::EINTR) {}
            let mut status = 0;
            // SAFETY: waitpid writes one int.
            let pid = unsafe { libc::waitpid(self.sandbox.pid, &mut status, libc::WNOHANG) };
            self.reaped = (pid == self.sandbox.pid).then_some(status);
        }
        self.reaped
    }

    fn diagnosis(&self) -> String {
        let mut words = Vec::new();
        // Does not block: the pipe may still be held by somebody else.
        let _ = (&self.sandbox.diagnosis).take(16 << 10).read_to_end(&mut words);
        String::from_utf8_lossy(&words).into_owned()
    }
}

impl std::fmt::Debug for Conversation {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Conversation({}, ctl {})", self.sandbox.pid, self.sandbox.ctl.as_raw_fd())
    }
}

fn not_executed(errno: i32) -> Refusal {
    let reason = if errno == libc::ENOENT { Reason::NotFound } else { Reason::CannotExecute };
    Refusal::new(reason, format!("inside the sandbox: {}", Errno::from_raw(errno)))
}
