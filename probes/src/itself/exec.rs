//! `exec PATH ARGS..`: runs a program, with nothing on its stdin and its stderr thrown away, and shows
//! how it ended. A PATH without a slash is looked for in $PATH. What the program leaves running stays;
//! what does not end in time is killed, with its process group.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::action::Action;
use crate::json::Json;
use crate::seen::{Seen, errno};
use crate::words::{Usage, Words};

const BOUND: Duration = Duration::from_secs(5);
/// How long a killed program may take to be gone. One of another user may refuse to.
const GRACE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);
const MAX_OUTPUT: usize = 4096;

/// Runs a program.
pub struct Exec {
    program: OsString,
    arguments: Vec<OsString>,
}

impl Exec {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let mut words = words.rest().into_iter();
        let program = words.next().ok_or_else(|| Usage("expected PATH ARGS.., got nothing".to_owned()))?;
        Ok(Self { program, arguments: words.collect() })
    }
}

impl Action for Exec {
    fn target(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let mut command = Command::new(&self.program);
        match run(command.args(&self.arguments)) {
            Ok(ended) => ended.into(),
            Err(error) => error.into(),
        }
    }
}

/// How a program ended, and the head of what it said.
pub struct Ended {
    /// Where it did not end in time.
    pub errno: Option<String>,
    pub status: Option<ExitStatus>,
    stdout: Vec<u8>,
}

impl From<Ended> for Seen {
    fn from(ended: Ended) -> Self {
        let number = |part: Option<i32>| part.map_or(Json::Null, |number| Json::Number(number.into()));
        let detail = Json::object([
            ("exit", number(ended.status.and_then(|status| status.code()))),
            ("signal", number(ended.status.and_then(|status| status.signal()))),
            ("stdout", Json::from(&ended.stdout[..])),
        ]);
        Self { errno: ended.errno, detail }
    }
}

/// Runs a program to its end, or for as long as it may take.
pub fn run(command: &mut Command) -> io::Result<Ended> {
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    Ok(watched(command.spawn()?, BOUND))
}

fn watched(mut child: Child, bound: Duration) -> Ended {
    let mut output = Output::of(child.stdout.take());
    let mut ended = awaited(&mut child, bound, &mut output);
    let mut symbol = ended.as_ref().err().map(errno);
    if let Ok(None) = ended {
        symbol = Some("ETIMEDOUT".to_owned());
        // Its leader is not waited for yet, so the group's number is still its own.
        let _ = killpg(Pid::from_raw(child.id().cast_signed()), Signal::SIGKILL);
        ended = awaited(&mut child, GRACE, &mut output);
    }
    Ended { errno: symbol, status: ended.ok().flatten(), stdout: output.kept }
}

/// How the program ended, if it did; its output is taken all the while, so that it need not wait.
fn awaited(child: &mut Child, bound: Duration, output: &mut Output) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + bound;
    loop {
        let ended = child.try_wait()?;
        output.take();
        if ended.is_some() || Instant::now() >= deadline {
            return Ok(ended);
        }
        thread::sleep(PAUSE);
    }
}

/// The head of what a program says. A program that it left running may hold the pipe open, so the
/// pipe's end is not waited for.
struct Output {
    pipe: Option<ChildStdout>,
    kept: Vec<u8>,
}

impl Output {
    fn of(pipe: Option<ChildStdout>) -> Self {
        let pipe = pipe.filter(|pipe| fcntl(pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).is_ok());
        Self { pipe, kept: Vec::new() }
    }

    /// Takes what is there now, at most what a pipe holds by default.
    fn take(&mut self) {
        let mut buffer = [0; 16 * MAX_OUTPUT];
        if let Some(length) = self.pipe.as_mut().and_then(|pipe| pipe.read(&mut buffer).ok()) {
            let free = MAX_OUTPUT - self.kept.len();
            self.kept.extend(&buffer[..length.min(free)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_killed() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo begun; sleep 60; echo done"]).process_group(0).stdout(Stdio::piped());
        let started = Instant::now();
        let seen = Seen::from(watched(command.spawn().unwrap(), Duration::from_millis(300)));
        assert!(started.elapsed() < Duration::from_secs(30));
        assert_eq!(seen.errno.as_deref(), Some("ETIMEDOUT"));
        assert_eq!(seen.detail.to_string(), r#"{"exit":null,"signal":9,"stdout":"begun\n"}"#);
    }
}
