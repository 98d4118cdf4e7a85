//! A step whose effective value is `off` runs as it always did: its argv, its folder, the caller's
//! environment, no sandbox program. This must never be called for a step that requires the sandbox.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::pidfd;
use super::signals::Signals;
use crate::backend::bubblewrap::GRACE;
use crate::outcome::{End, Reason, Refusal};

/// Runs `argv` in `cwd` and waits for its end.
pub fn run(argv: &[OsString], cwd: &Path, env: &[(String, String)]) -> Result<End, Refusal> {
    let Some((name, arguments)) = argv.split_first() else {
        return Err(Refusal::new(Reason::BadSettings, "no program"));
    };
    let failed = |e: io::Error| Refusal::new(Reason::SetupFailed, e);
    let signals = Signals::take().map_err(|e| failed(e.into()))?;
    // A program with a slash is looked for in the step's folder, as inside the sandbox.
    let slash = Path::new(name).components().count() > 1 || name.to_string_lossy().contains('/');
    let mut command = if slash { Command::new(cwd.join(name)) } else { Command::new(name) };
    command.arg0(name).args(arguments).current_dir(cwd).envs(env.iter().map(|(n, v)| (n, v)));
    let child = command.spawn().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Refusal::new(Reason::NotFound, format!("{}: {e}", name.display())),
        _ => Refusal::new(Reason::CannotExecute, format!("{}: {e}", name.display())),
    })?;
    wait(child, &signals).map_err(failed)
}

fn wait(mut child: Child, signals: &Signals) -> io::Result<End> {
    let ended = pidfd::open(child.id() as i32)?;
    let mut kill_at: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.signal().map_or(End::Exited(status.code().unwrap_or(1)), End::Signalled));
        }
        let timeout = match kill_at.map(|at| at.saturating_duration_since(Instant::now())) {
            None => PollTimeout::NONE,
            Some(Duration::ZERO) => {
                child.kill()?;
                kill_at = None;
                PollTimeout::NONE
            }
            Some(left) => PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX),
        };
        let mut on = [PollFd::new(ended.as_fd(), PollFlags::POLLIN), PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        match poll(&mut on, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
        while let Some(signal) = signals.next()? {
            if signal.asks_to_end {
                kill_at.get_or_insert(Instant::now() + GRACE);
            }
            // Ctrl-C has reached the step already: it is in the terminal's foreground group with us.
            if !signal.from_terminal {
                let _ = kill(Pid::from_raw(child.id() as i32), Signal::try_from(signal.number)?);
            }
        }
    }
}
