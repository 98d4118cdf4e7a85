//! A program of the host that says something and ends: in bounded time, and without a word to the user's terminal.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::pidfd;

/// Most that is read of what it says, in bytes.
const SAID: u64 = 1 << 20;

/// Runs it and returns its stdout; the inner error is the last line of stderr, or how it ended. What it started in the
/// background is not waited for.
pub fn run(command: &mut Command, timeout: Duration) -> io::Result<Result<String, String>> {
    let (out, err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut child = command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(err.try_clone()?).spawn()?;
    let ended = pidfd::open(child.id() as i32)?;
    let bound = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
    let in_time = poll(&mut [PollFd::new(ended.as_fd(), PollFlags::POLLIN)], bound).is_ok_and(|n| n > 0);
    if !in_time {
        child.kill()?;
    }
    let status = child.wait()?;
    if !in_time {
        return Ok(Err(format!("it took longer than {} s", timeout.as_secs())));
    }
    Ok(match status.success() {
        true => Ok(text(out)?),
        false => Err(text(err)?.lines().last().map_or_else(|| status.to_string(), str::to_string)),
    })
}

fn text(mut file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    if file.take(SAID).read_to_end(&mut bytes)? as u64 == SAID {
        return Err(io::Error::other("it says too much"));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, timeout: Duration) -> Result<String, String> {
        run(Command::new("/bin/sh").args(["-c", script]), timeout).unwrap()
    }

    #[test]
    fn what_it_says_or_why_it_failed() {
        let long = Duration::from_secs(20);
        assert_eq!(sh("echo out; echo err >&2", long), Ok("out\n".into()));
        assert_eq!(sh("echo one >&2; echo two >&2; exit 1", long), Err("two".into()));
        assert_eq!(sh("sleep 60 & echo out", long), Ok("out\n".into()));
        assert!(sh("exec sleep 60", Duration::from_millis(50)).is_err());
    }
}
