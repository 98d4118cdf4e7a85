//! One process of a launch: started in a group of its own, fed, listened to, and ended at its bound.

use std::cell::{Cell, RefCell};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::Receiver;
use tokio::process::{Child, ChildStdin, Command};

use super::stdio::Files;
use super::terminal::{Pty, Seen};
use crate::caller::{Caller, Parent};
use crate::living;

/// A launch that takes longer is ended; its verdict is `timeout`.
const BOUND: Duration = Duration::from_secs(30);

/// What came of a process.
#[derive(Debug)]
pub struct Ended {
    /// How it ended; none at the bound.
    pub status: Option<ExitStatus>,
    /// Its stdout, also what it printed before it was ended; at a terminal, all that was shown.
    pub stdout: Vec<u8>,
    /// Its stderr.
    pub stderr: Vec<u8>,
    /// What became of the caller's terminal, if it has one.
    pub terminal: Option<Seen>,
    /// How long it took.
    pub took: Duration,
}

impl Ended {
    /// Of a command that cannot be executed where nothing stands before it: as a shell tells it, with 127 or 126.
    pub fn unstarted(error: &io::Error) -> Self {
        let code = if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 };
        let status = Some(ExitStatus::from_raw(code << 8));
        let stderr = format!("{error}\n").into_bytes();
        Self { status, stdout: Vec::new(), stderr, terminal: None, took: Duration::ZERO }
    }

    /// Exit code; 128+n for a signal; none at the bound.
    pub fn exit(&self) -> Option<i32> {
        self.status.and_then(|s| s.code().or_else(|| s.signal().map(|n| 128 + n)))
    }
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
    /// Told while it runs.
    pub live: Option<&'a Live>,
}

/// A launch while it runs.
#[derive(Debug, Default)]
pub struct Live {
    started: Cell<Option<(i32, Parent)>>,
    thread: RefCell<Option<Thread>>,
}

/// The thread that started it, which ends when it is told to, or forgotten.
#[derive(Debug)]
struct Thread {
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl Live {
    /// The process of the launcher, if it has been started.
    pub fn launcher(&self) -> Option<i32> {
        match self.started.get()? {
            (shell, Parent::Shell) => living::all().find(|process| process.parent == shell).map(|process| process.pid),
            (pid, _) => Some(pid),
        }
    }

    /// Ends the thread that started it, if it was one of its own.
    pub fn end_thread(&self) -> bool {
        let Some(Thread { end, thread }) = self.thread.take() else { return false };
        drop(end);
        // It waits for this alone, and a panic in it would have been told at the start.
        thread.join().is_ok()
    }
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
    let caller = input.caller;
    let mut command = command(argv, caller.parent)?;
    command.current_dir(cwd).env_clear().envs(environment.iter().cloned()).kill_on_drop(true);
    let (stdio, ends) = ends(&input)?;
    let [stdin, output, errors] = stdio;
    command.stdin(stdin).stdout(output).stderr(errors);
    match ends.pty {
        Some(_) => Pty::control(&mut command),
        None => drop(command.process_group(0)),
    }
    super::arrange::arrange(&mut command, caller)?;
    arrange(&mut command);
    let began = Instant::now();
    let (mut child, thread) = start(command, caller.parent)?; // the command is gone then, and with it the files
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(live) = input.live {
        live.started.set(group.map(|pid| (pid, caller.parent)));
        live.thread.replace(thread);
    }
    let (stdin, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // Kept outside of what is waited for: what was printed counts even if the launch is ended at its bound.
    let (stdout, stderr) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let wait = async {
        let status = child.wait().await;
        ends.pty.iter().for_each(Pty::release);
        status
    };
    let talk = async {
        match (&ends.pty, &caller.terminal) {
            (Some(pty), Some(terminal)) => pty.converse(terminal).await,
            _ => Ok(()),
        }
    };
    let listen = futures::future::join4(
        feed(stdin, input.text),
        collect(output, &stdout),
        collect(errors, &stderr),
        collect(ends.merged, &stdout),
    );
    let all = futures::future::join3(wait, talk, listen);
    let ended = tokio::time::timeout(caller.patience.unwrap_or(BOUND), all).await;
    if let (Err(_), Some(group)) = (&ended, group) {
        // The group may be gone already; what is left of the attempt ends with the lab.
        let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let status = match ended {
        Ok((status, talked, _)) => talked.and(status.map(Some))?,
        Err(_) => None,
    };
    let took = began.elapsed();
    let [stdout, stderr] = match input.files {
        Some(files) => files.said()?,
        None => [stdout.into_inner(), stderr.into_inner()],
    };
    let terminal = ends.pty.map(Pty::seen);
    let shown = terminal.as_ref().filter(|_| !caller.terminal.as_ref().is_some_and(|terminal| terminal.piped));
    let stdout = shown.map_or(stdout, |seen| seen.screen.clone());
    Ok(Ended { status, stdout, stderr, terminal, took })
}

/// The process that is started: the launcher, or a shell that starts it and has still something to do afterwards.
fn command(argv: &[String], parent: Parent) -> io::Result<Command> {
    let (program, arguments) = argv.split_first().ok_or_else(|| io::Error::other("an empty argv"))?;
    let mut command = Command::new(if parent == Parent::Shell { super::SHELL } else { program });
    if parent == Parent::Shell {
        command.args(["-c", "\"$@\"; true", super::SHELL, program]);
    }
    command.args(arguments);
    Ok(command)
}

/// What the harness keeps of the caller's descriptors.
struct Ends {
    merged: Option<Receiver>,
    pty: Option<Pty>,
}

/// The three descriptors of the launch, and the other sides of those that are no plain pipes.
fn ends(input: &Input<'_>) -> io::Result<([Stdio; 3], Ends)> {
    let mut ends = Ends { merged: None, pty: None };
    let stdio = match (input.files, &input.caller.terminal) {
        (Some(files), _) => files.open()?,
        (None, Some(terminal)) => {
            let pty = Pty::open()?;
            let output = if terminal.piped { Stdio::piped() } else { pty.descriptor()? };
            let stdio = [pty.descriptor()?, output, pty.descriptor()?];
            ends.pty = Some(pty);
            stdio
        }
        (None, None) if input.caller.merged => {
            let (reader, writer) = io::pipe()?;
            ends.merged = Some(Receiver::from_owned_fd(reader.into())?);
            [Stdio::piped(), writer.try_clone()?.into(), writer.into()]
        }
        (None, None) if input.caller.mute => [Stdio::null(), Stdio::null(), Stdio::null()],
        (None, None) => [Stdio::piped(), Stdio::piped(), Stdio::piped()],
    };
    Ok((stdio, ends))
}

fn start(mut command: Command, parent: Parent) -> io::Result<(Child, Option<Thread>)> {
    if parent != Parent::EndedThread {
        return Ok((command.spawn()?, None));
    }
    let runtime = tokio::runtime::Handle::current();
    let ((tell, told), (end, wait)) = (channel(), channel());
    let thread = std::thread::spawn(move || {
        let spawned = {
            let _in_runtime = runtime.enter();
            command.spawn()
        };
        drop(command);
        let _ = tell.send(spawned); // who does not listen any more has been ended
        let _ = wait.recv();
    });
    let spawned = told.recv().map_err(|_| io::Error::other("the thread that starts a launch broke"))?;
    Ok((spawned?, Some(Thread { end, thread })))
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
