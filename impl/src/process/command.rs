//! A program of the host that says something and ends: in bounded time, and without a word to the user's terminal.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::pidfd;

/// How long it may take, and how much of what it says is read, in bytes.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// From its start to its end; then it is killed.
    pub time: Duration,
    /// Of stdout, and of stderr.
    pub said: u64,
}

/// Runs it, with `input` as its stdin, and returns its stdout; the inner error is the last line of stderr, or how it ended.
/// What it started in the background is not waited for.
pub fn run(command: &mut Command, input: Option<File>, bounds: Bounds) -> io::Result<Result<Vec<u8>, String>> {
    let (out, err) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let input = input.map_or_else(Stdio::null, Stdio::from);
    let mut child = command.stdin(input).stdout(out.try_clone()?).stderr(err.try_clone()?).spawn()?;
    let ended = pidfd::open(child.id() as i32)?;
    let bound = PollTimeout::try_from(bounds.time).unwrap_or(PollTimeout::MAX);
    let in_time = poll(&mut [PollFd::new(ended.as_fd(), PollFlags::POLLIN)], bound).is_ok_and(|n| n > 0);
    if !in_time {
        child.kill()?;
    }
    let status = child.wait()?;
    if !in_time {
        return Ok(Err(format!("it took longer than {} s", bounds.time.as_secs())));
    }
    Ok(match status.success() {
        true => Ok(said(out, bounds.said)?),
        false => {
            let text = said(err, bounds.said)?;
            let last = String::from_utf8_lossy(&text).lines().last().map(str::to_string);
            Err(last.unwrap_or_else(|| status.to_string()))
        }
    })
}

fn said(mut file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    if file.take(most + 1).read_to_end(&mut bytes)? as u64 > most {
        return Err(io::Error::other("it says too much"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, time: Duration) -> Result<String, String> {
        let bounds = Bounds { time, said: 100 };
        let input = tempfile::tempfile().unwrap();
        let said = run(Command::new("/bin/sh").args(["-c", script]), Some(input), bounds).unwrap();
        said.map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn what_it_says_or_why_it_failed() {
        let long = Duration::from_secs(20);
        assert_eq!(sh("echo out; echo err >&2", long), Ok("out\n".into()));
        assert_eq!(sh("echo one >&2; echo two >&2; exit 1", long), Err("two".into()));
        assert_eq!(sh("sleep 60 & echo out", long), Ok("out\n".into()));
        assert!(sh("exec sleep 60", Duration::from_millis(50)).is_err());
        let much = Bounds { time: long, said: 3 };
        assert!(run(Command::new("/bin/sh").args(["-c", "echo four"]), None, much).is_err());
    }
}
