//! Running git on what a step wrote: in bounded time and memory, with the code of what failed. Nothing that it says lies on a
//! disk, and no more of it in memory than its reader keeps.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::boxed::limit;
use super::code::{Code, Fault};
use crate::process::pidfd;

/// Longest for all that an import does before it comes to the repository itself. A step can make any of it long.
const TIME: Duration = Duration::from_secs(120);

/// For what is read as a whole, in bytes: half a million refs.
const SAID: usize = 64 << 20;

/// Of what a git says on stderr: as much may be written, and as much is read.
const STDERR: u64 = 16 << 20;
const TAIL: u64 = 4096;

/// Takes what a git says, in parts; its fault ends the git.
pub type Reader<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), Fault>;

/// How soon somebody who wants kusaw to end is heard.
const SLICE: Duration = Duration::from_millis(50);

/// How long an import may go on: until its time is over, or the user wants kusaw to end.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    until: Instant,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Watch<'a> {
    /// From now on.
    pub fn new(stop: &'a dyn Fn() -> bool) -> Watch<'a> {
        Watch { until: Instant::now() + TIME, stop }
    }

    /// Between two pieces of work.
    ///
    /// # Errors
    /// When it may not go on.
    pub fn look(&self) -> Result<(), Fault> {
        if (self.stop)() {
            return Err(Fault::new(Code::Interrupted, "kusaw was told to end"));
        }
        if Instant::now() >= self.until {
            return Err(Fault::new(Code::TookTooLong, format!("more than {} s", TIME.as_secs())));
        }
        Ok(())
    }

    /// Until one of them can be read, or has ended.
    fn wait(&self, what: &impl AsFd) -> Result<(), Fault> {
        loop {
            self.look()?;
            let slice = PollTimeout::try_from(SLICE).unwrap_or(PollTimeout::ZERO);
            match poll(&mut [PollFd::new(what.as_fd(), PollFlags::POLLIN)], slice) {
                Ok(0) | Err(nix::errno::Errno::EINTR) => {}
                Ok(_) => return Ok(()),
                Err(e) => return Err(Fault::new(Code::Failed, format!("poll: {e}"))),
            }
        }
    }
}

/// Its stdout; `code` is for when it fails.
///
/// # Errors
/// See there, and when it says too much.
pub fn run(command: Command, input: &[u8], code: Code, what: &str, watch: &Watch) -> Result<Vec<u8>, Fault> {
    let mut said = Vec::new();
    stream(command, input, code, what, watch, &mut |bytes| {
        if said.len() + bytes.len() > SAID {
            return Err(Fault::new(Code::TooMany, format!("git {what} says more than {SAID} bytes")));
        }
        said.extend(bytes);
        Ok(())
    })?;
    Ok(said)
}

/// Runs it, and gives its stdout away piece by piece.
///
/// # Errors
/// See above; the reader's own end it.
pub fn stream(
    mut command: Command,
    input: &[u8],
    code: Code,
    what: &str,
    watch: &Watch,
    take: Reader,
) -> Result<(), Fault> {
    watch.look()?;
    let failed = |e: io::Error| Fault::new(Code::Failed, format!("git {what}: {e}"));
    let mut said = tempfile::tempfile().map_err(failed)?;
    limit(&mut command, STDERR);
    command.stdin(file_of(input).map_err(failed)?).stdout(Stdio::piped()).stderr(said.try_clone().map_err(failed)?);
    let mut child = command.spawn().map_err(failed)?;
    let read = child.stdout.take().ok_or_else(|| failed(io::Error::other("no pipe"))).and_then(|mut pipe| {
        let mut bytes = vec![0; 1 << 16];
        loop {
            watch.wait(&pipe)?;
            match pipe.read(&mut bytes).map_err(failed)? {
                0 => return Ok(()),
                n => take(&bytes[..n])?,
            }
        }
    });
    match end(&mut child, watch, read)? {
        status if status.success() => Ok(()),
        status => {
            let said = tail(&mut said);
            let code = match () {
                // Not git, but what was to start it.
                () if said.starts_with("bwrap:") => Code::NoBox,
                // in git's wrapper.c and zlib.c: by our bound on its heap.
                () if said.to_lowercase().contains("out of memory") => Code::TooMany,
                () => code,
            };
            let said = if said.is_empty() { status.to_string() } else { said };
            Err(Fault::new(code, format!("git {what}: {said}")))
        }
    }
}

/// Waits; it is killed if `so_far` has failed already, or when it may not go on.
///
/// # Errors
/// Those of the waiting, and the given one.
pub fn end(child: &mut Child, watch: &Watch, so_far: Result<(), Fault>) -> Result<ExitStatus, Fault> {
    let failed = Fault::failed("waiting for git");
    let ended = so_far.and_then(|()| watch.wait(&pidfd::open(child.id() as i32).map_err(&failed)?));
    if ended.is_err() {
        // One that has ended by itself meanwhile cannot be killed.
        let _ = child.kill();
    }
    let status = child.wait().map_err(&failed)?;
    ended.map(|()| status)
}

/// A file that nobody else has, with `bytes` in it.
pub fn file_of(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// What a git has said last, on one line.
pub fn tail(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let start = file.metadata().map_or(0, |meta| meta.len().saturating_sub(TAIL));
    let _ = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, watch: &Watch) -> Result<Vec<u8>, Code> {
        let mut sh = Command::new("/bin/sh");
        sh.args(["-c", script]);
        run(sh, b"in", Code::ObjectsBad, "x", watch).map_err(|fault| fault.code)
    }

    #[test]
    fn what_it_says_or_why_it_failed() {
        let watch = Watch::new(&|| false);
        assert_eq!(sh("cat; echo err >&2", &watch), Ok(b"in".to_vec()));
        assert_eq!(sh("echo err >&2; exit 1", &watch), Err(Code::ObjectsBad));
        assert_eq!(sh("echo bwrap: no >&2; exit 1", &watch), Err(Code::NoBox));
        assert_eq!(sh("exec cat /dev/zero", &watch), Err(Code::TooMany));
        // What floods the other channel ends by a signal.
        assert_eq!(sh("exec cat /dev/zero >&2", &watch), Err(Code::ObjectsBad));
    }

    #[test]
    fn it_ends_when_it_is_told_to_and_when_its_time_is_over() {
        let start = Instant::now();
        let stop = || start.elapsed() > Duration::from_millis(200);
        for script in ["exec sleep 60", "exec >&-; sleep 60", "exec cat /dev/zero"] {
            let told = Watch::new(&stop);
            let is = sh(script, &told);
            assert!(matches!(is, Err(Code::Interrupted | Code::TooMany)), "{script} {is:?}");
        }
        let over = Watch { until: Instant::now() + Duration::from_millis(200), stop: &|| false };
        assert_eq!(sh("exec sleep 60", &over), Err(Code::TookTooLong));
        assert!(start.elapsed() < Duration::from_secs(20));
        assert!(!Code::TookTooLong.may_pass() && Code::Interrupted.may_pass());
    }
}
