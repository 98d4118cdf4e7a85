//! What is said between the start of bubblewrap and its end: job, readiness, go, exec result, signals,
//! status. The step is executed only after the message `Go`; every way out of here leaves nothing alive.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use kusaw_enter::channel::{Until, receive_message, send_job, send_message, wait};
use kusaw_enter::{Job, Message, Part};
use nix::errno::Errno;
use nix::poll::PollFlags;

use super::diagnosis::{classify, not_executed};
use super::spawn::Sandbox;
use crate::outcome::{End, Reason, Refusal};
use crate::process::grace::Grace;
use crate::process::path;
use crate::process::signals::Signals;
use crate::process::stdio::{self, Pumps};

/// For bubblewrap to be gone once the stage is.
const REAP: Duration = Duration::from_secs(5);

/// One sandbox, from its first message to its last.
pub struct Conversation<'a> {
    sandbox: Sandbox,
    signals: &'a Signals,
    pumps: &'a mut Pumps,
    /// Of the stage's first message. A signal that asks comes before it.
    start: Until<'a>,
    /// Begun when a signal that asks was passed on, if not before; when it is over, everything is killed.
    grace: Grace,
    reaped: Option<i32>,
}

impl<'a> Conversation<'a> {
    /// With a bubblewrap that has just been started; `deadline` is that of the stage's first message.
    pub fn new(
        sandbox: Sandbox,
        signals: &'a Signals,
        pumps: &'a mut Pumps,
        deadline: Instant,
        grace: Grace,
    ) -> Conversation<'a> {
        let start = Until { deadline: Some(deadline), interrupt: Some(signals.asking()) };
        Conversation { sandbox, signals, pumps, start, grace, reaped: None }
    }

    /// Everything up to the step's end.
    pub fn run(
        &mut self,
        job: &Job,
        stdio: Vec<OwnedFd>,
        ready: &mut dyn FnMut(Vec<OwnedFd>, i32) -> Result<Option<OwnedFd>, Refusal>,
    ) -> Result<End, Refusal> {
        let mut descriptors = self.get_ready(job, stdio)?;
        if let Some(master) = job.terminal.contains(&true).then(|| descriptors.pop()).flatten() {
            self.pumps.connect(master).map_err(|e| Refusal::new(Reason::SetupFailed, format!("the terminal: {e}")))?;
        }
        let lost = ready(descriptors, self.sandbox.pid)?;
        if let Ok(Some(signal)) = self.signals.asked() {
            return Err(Refusal::interrupted(signal.number));
        }
        let go = send_message(self.sandbox.ctl.as_fd(), Message::Go, &[], Until::at(Instant::now() + REAP));
        go.map_err(|e| self.no_message(&e))?;
        self.wait_for_end(job, lost.as_ref().map(|lost| lost.as_fd()))
    }

    /// Lets go of the stage, which takes everything inside along, and reaps bubblewrap, which waits for
    /// that; whatever is still there then is killed. Afterwards no process of the attempt is alive.
    pub fn finish(&mut self) {
        self.let_go();
        if self.reap(Until::at(Instant::now() + REAP)).is_none() {
            self.kill();
            self.reap(Until::at(Instant::now() + REAP));
        }
    }

    fn let_go(&self) {
        let _ = self.sandbox.ctl.shutdown(std::net::Shutdown::Both);
    }

    /// The listeners, and the master of the step's terminal.
    fn get_ready(&mut self, job: &Job, stdio: Vec<OwnedFd>) -> Result<Vec<OwnedFd>, Refusal> {
        let ctl = self.sandbox.ctl.as_fd();
        let terminal = usize::from(job.terminal.contains(&true));
        // On 127.0.0.1 alone, or on both loopbacks.
        let is_expected = |n: usize| [1, 2].iter().any(|families| n == families * job.ports.len() + terminal);
        let mut descriptors = Vec::new();
        let message = match receive_message(ctl, &mut descriptors, self.start) {
            Ok(Message::Here) => send_job(ctl, &job.encode(), &stdio::numbers(&stdio), self.start)
                .and_then(|()| receive_message(ctl, &mut descriptors, self.start)),
            other => other,
        };
        drop(stdio);
        match message {
            Ok(Message::Ready(n)) if n as usize == descriptors.len() && is_expected(descriptors.len()) => {
                Ok(descriptors)
            }
            Ok(Message::Setup(part, errno)) => Err(not_set_up(part, errno)),
            Ok(Message::Failed(errno)) => {
                let what = format!("the stage could not get ready: {}", Errno::from_raw(errno));
                Err(Refusal::new(Reason::SetupFailed, what))
            }
            Ok(Message::NoListener(errno)) => {
                let what = format!("no listener inside the sandbox: {}", Errno::from_raw(errno));
                Err(Refusal::new(Reason::ProxyFailed, what))
            }
            Ok(Message::Exchanged(n)) => {
                let place = job.places.get(n as usize).map(|place| place.path.to_string_lossy());
                let what = format!("{:?} is not what it was when it was looked at", place.unwrap_or_default());
                Err(Refusal::new(Reason::PathChanged, what))
            }
            Ok(Message::NotConfined(pid)) => {
                let missing = if pid == 1 { "mount" } else { "PID" };
                Err(Refusal::new(
                    Reason::BwrapFailed,
                    format!("bwrap started its command without a {missing} namespace"),
                ))
            }
            Ok(message) => Err(Refusal::new(Reason::SetupFailed, format!("the stage said {message:?}"))),
            Err(e) => Err(self.no_message(&e)),
        }
    }

    /// No message came: too late, interrupted, or bubblewrap ended before the stage was there.
    fn no_message(&mut self, error: &io::Error) -> Refusal {
        let ended = match error.kind() {
            ErrorKind::TimedOut | ErrorKind::Interrupted => None,
            _ => self.reap(self.start),
        };
        match ended.map(End::from_status) {
            Some(End::Exited(code)) => classify(&self.diagnosis(), &format!("exit code {code}")),
            Some(End::Signalled(signal)) => classify(&self.diagnosis(), &format!("signal {signal}")),
            Some(End::Stopped(_)) | None => {
                self.kill();
                let late =
                    || Refusal::new(Reason::BwrapTimeout, "no message from inside the sandbox; everything was killed");
                self.signals.asked().ok().flatten().map_or_else(late, |signal| Refusal::interrupted(signal.number))
            }
        }
    }

    /// Where `lost` can be read, nobody answers for the step any more: it is not left running.
    fn wait_for_end(&mut self, job: &Job, lost: Option<BorrowedFd>) -> Result<End, Refusal> {
        let mut executed = false;
        loop {
            match self.next_message(lost) {
                Err(e) if e.kind() == ErrorKind::ConnectionAborted => return Ok(End::Stopped(Reason::ProxyLost)),
                Ok(Some(Message::Exec(0))) => executed = true,
                Ok(Some(Message::Exec(errno))) => return Err(could_not_execute(job, Errno::from_raw(errno))),
                Ok(Some(Message::Setup(part, errno))) => return Err(not_set_up(part, errno)),
                Ok(Some(Message::Status(status))) => return Ok(End::from_status(status)),
                Ok(Some(Message::Failed(errno))) if !executed => {
                    return Err(Refusal::new(Reason::SetupFailed, format!("fork: {}", Errno::from_raw(errno))));
                }
                Ok(None) => {}
                // The stage is gone without a status: somebody killed the sandbox as a whole.
                Ok(Some(_)) | Err(_) => return Ok(End::Signalled(libc::SIGKILL)),
            }
        }
    }

    /// The next message, or `None` after a signal; an error at the end of the grace, or, `ConnectionAborted`, where `lost` can
    /// be read and no message came before that.
    fn next_message(&mut self, lost: Option<BorrowedFd>) -> io::Result<Option<Message>> {
        let ctl = self.sandbox.ctl.as_fd();
        let [message, is_lost] =
            self.signals.wait([ctl, lost.unwrap_or(ctl)], &self.grace).inspect_err(|_| self.let_go())?;
        if is_lost && !message {
            return Err(ErrorKind::ConnectionAborted.into());
        }
        // One at a time: whoever sends them without end does not keep the next message away.
        if let Some(signal) = self.signals.next()? {
            if signal.asks_to_end {
                self.grace.begin();
            }
            if self.pumps.heed(signal.number) {
                // A stage that is gone has said how the step ended: that is read next.
                let _ = send_message(ctl, Message::Signal(signal.number), &[], Until::at(Instant::now() + REAP));
            }
        }
        if message { receive_message(ctl, &mut Vec::new(), Until::default()).map(Some) } else { Ok(None) }
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

    /// Its wait status, if it ends in time.
    fn reap(&mut self, until: Until) -> Option<i32> {
        while self.reaped.is_none() {
            let waited = wait(self.sandbox.pidfd.as_fd(), PollFlags::POLLIN, until);
            let mut status = 0;
            // SAFETY: waitpid writes one int.
            let pid = unsafe { libc::waitpid(self.sandbox.pid, &mut status, libc::WNOHANG) };
            self.reaped = (pid == self.sandbox.pid).then_some(status);
            if waited.is_err() || pid < 0 {
                break;
            }
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

impl std::fmt::Debug for Conversation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Conversation({}, ctl {})", self.sandbox.pid, self.sandbox.ctl.as_raw_fd())
    }
}

fn not_set_up(part: Part, errno: i32) -> Refusal {
    Refusal::new(Reason::SetupFailed, format!("{part}: {}", Errno::from_raw(errno)))
}

/// It may be there for the user who wrote the settings, and not for the step.
fn could_not_execute(job: &Job, errno: Errno) -> Refusal {
    let program = OsStr::from_bytes(job.argv.first().map_or(b"", |program| program.as_bytes()));
    let folder = OsStr::from_bytes(job.cwd.as_bytes());
    not_executed(&program.to_string_lossy(), errno, path::find_in(program, folder.as_ref()).as_deref())
}
