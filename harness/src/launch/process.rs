//! One process of a launch: started in a group of its own, fed, listened to, and ended at its bound.
#![allow(unsafe_code)] // pre_exec, with its SAFETY sentence

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, Command};

use super::stdio::Files;
use crate::lab::HOME;

/// A launch that takes longer is ended; its verdict is `timeout`.
const BOUND: Duration = Duration::from_secs(30);

/// What came of a process.
#[derive(Debug)]
pub struct Ended {
    /// Exit code; 128+n for a signal; none at the bound.
    pub exit: Option<i32>,
    /// Whether it was ended at its bound.
    pub timed_out: bool,
    /// Its stdout, also what it printed before it was ended.
    pub stdout: Vec<u8>,
    /// Its stderr.
    pub stderr: Vec<u8>,
    /// How long it took.
    pub took: Duration,
}

/// What a process gets from its caller.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// What comes in by a pipe.
    pub text: &'a [u8],
    /// Files instead of the pipes.
    pub files: Option<&'a Files>,
}

/// Runs a process until it and its pipes have ended; `arrange` may change how it is started.
///
/// # Errors
/// When it cannot be started.
pub async fn run(
    argv: &[String],
    cwd: &Path,
    environment: &[(String, String)],
    input: Input<'_>,
    arrange: impl FnOnce(&mut Command) -> io::Result<()>,
) -> io::Result<Ended> {
    let (program, arguments) = argv.split_first().ok_or_else(|| io::Error::other("an empty argv"))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(cwd).env_clear().envs(environment.iter().cloned());
    let [stdin, output, errors] = match input.files {
        Some(files) => files.open()?,
        None => [Stdio::piped(), Stdio::piped(), Stdio::piped()],
    };
    command.stdin(stdin).stdout(output).stderr(errors);
    command.process_group(0).kill_on_drop(true);
    arrange(&mut command)?;
    let began = Instant::now();
    let mut child = command.spawn()?;
    drop(command); // and with it the files
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    let (stdin, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // Kept outside of what is waited for: what was printed counts even if the launch is ended at its bound.
    let (stdout, stderr) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let all = futures::future::join4(
        child.wait(),
        feed(stdin, input.text),
        collect(output, &stdout),
        collect(errors, &stderr),
    );
    let ended = tokio::time::timeout(BOUND, all).await;
    if let (Err(_), Some(group)) = (&ended, group) {
        // The group may be gone already; what is left of the attempt ends with the lab.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let timed_out = ended.is_err();
    let status = ended.ok().map(|(status, ..)| status).transpose()?;
    let exit = status.and_then(|s| s.code().or_else(|| s.signal().map(|n| 128 + n)));
    let [stdout, stderr] = match input.files {
        Some(files) => files.said()?,
        None => [stdout.into_inner(), stderr.into_inner()],
    };
    Ok(Ended { exit, timed_out, stdout, stderr, took: began.elapsed() })
}

/// Leaves descriptors open in a process, as a careless caller does: 7 on a key, 9 on the home.
pub fn leave_open(command: &mut Command) -> io::Result<()> {
    const NUMBERS: [i32; 2] = [7, 9];
    let files = [open_above(NUMBERS[1], &format!("{HOME}/.ssh/id_ed25519"))?, open_above(NUMBERS[1], HOME)?];
    // SAFETY: runs between fork and exec and only makes system calls. The files lie above both numbers, so each dup2 makes a
    // copy, which is not closed on exec, and none covers a file that is still to be copied.
    unsafe {
        command.pre_exec(move || {
            for (file, number) in files.iter().zip(NUMBERS) {
                if libc::dup2(file.as_raw_fd(), number) < 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    Ok(())
}

/// Opens a file as a descriptor above `number`.
fn open_above(number: i32, path: &str) -> io::Result<File> {
    let mut below = Vec::new();
    loop {
        let file = File::open(path)?;
        if file.as_raw_fd() > number {
            return Ok(file);
        }
        below.push(file); // keeps its number taken
    }
}

/// Gives a process its standard input, and then its end. Whoever does not read it does not get it.
async fn feed(pipe: Option<ChildStdin>, bytes: &[u8]) {
    if let Some(mut pipe) = pipe {
        let _ = pipe.write_all(bytes).await;
    }
}

async fn collect(pipe: Option<impl AsyncRead + Unpin>, into: &RefCell<Vec<u8>>) {
    let Some(mut pipe) = pipe else { return };
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        into.borrow_mut().extend_from_slice(&buffer[..count]);
    }
}
