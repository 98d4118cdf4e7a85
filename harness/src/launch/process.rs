//! One process of a launch: started in a group of its own, fed, listened to, and ended at its bound.

use std::cell::RefCell;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{ChildStdin, Command};

use super::stdio::Files;
use crate::caller::Caller;

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
    /// Who starts it.
    pub caller: &'a Caller,
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
    arrange: impl FnOnce(&mut Command),
) -> io::Result<Ended> {
    let (program, arguments) = argv.split_first().ok_or_else(|| io::Error::other("an empty argv"))?;
    let mut command = Command::new(program);
    command.args(arguments).current_dir(cwd).env_clear().envs(environment.iter().cloned());
    let mut merged = None;
    let [stdin, output, errors] = match input.files {
        Some(files) => files.open()?,
        None if input.caller.merged => {
            let (reader, writer) = io::pipe()?;
            merged = Some(Receiver::from_owned_fd(reader.into())?);
            [Stdio::piped(), writer.try_clone()?.into(), writer.into()]
        }
        None => [Stdio::piped(), Stdio::piped(), Stdio::piped()],
    };
    command.stdin(stdin).stdout(output).stderr(errors);
    command.process_group(0).kill_on_drop(true);
    super::arrange::arrange(&mut command, input.caller)?;
    arrange(&mut command);
    let began = Instant::now();
    let mut child = command.spawn()?;
    drop(command); // and with it the files
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    let (stdin, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // Kept outside of what is waited for: what was printed counts even if the launch is ended at its bound.
    let (stdout, stderr) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let all = futures::future::join5(
        child.wait(),
        feed(stdin, input.text),
        collect(output, &stdout),
        collect(errors, &stderr),
        collect(merged, &stdout),
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
