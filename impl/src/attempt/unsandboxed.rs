//! A step whose effective value is `off` runs as it always did: its argv, its folder, the caller's
//! environment, no sandbox program. This must never be called for a step that requires the sandbox.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::outcome::{End, Reason, Refusal};
use crate::process::grace::Grace;
use crate::process::pidfd;
use crate::process::signals::Signals;
use crate::secrets::Variable;

/// Runs `argv` in `cwd`, with the settings' variables and the secret ones, and waits for its end.
pub fn run(argv: &[OsString], cwd: &Path, env: &[(String, String)], secrets: &[Variable]) -> Result<End, Refusal> {
    let Some((name, arguments)) = argv.split_first() else {
        return Err(Refusal::new(Reason::BadSettings, "no program"));
    };
    let failed = |e: io::Error| Refusal::new(Reason::SetupFailed, e);
    let signals = Signals::take().map_err(|e| failed(e.into()))?;
    let mut command = Command::new(name);
    // The child changes its folder first, so a name with a slash is looked for there, as inside the sandbox; and it is
    // executed as it is written, since a script sees that in $0.
    command.args(arguments).current_dir(cwd).envs(env.iter().map(|(n, v)| (n, v)));
    command.envs(secrets.iter().map(|(name, value)| (name, OsStr::from_bytes(value.expose()))));
    let child = command.spawn().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => Refusal::new(Reason::NotFound, format!("{}: {e}", name.display())),
        _ => Refusal::new(Reason::CannotExecute, format!("{}: {e}", name.display())),
    })?;
    wait(child, &signals).map_err(failed)
}

fn wait(mut child: Child, signals: &Signals) -> io::Result<End> {
    let ended = pidfd::open(child.id() as i32)?;
    let mut grace = Grace::default();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.signal().map_or(End::Exited(status.code().unwrap_or(1)), End::Signalled));
        }
        match signals.wait([ended.as_fd()], &grace) {
            Err(e) if e.kind() == io::ErrorKind::TimedOut => {
                child.kill()?;
                grace = Grace::default();
            }
            waited => waited.map(drop)?,
        }
        while let Some(signal) = signals.next()? {
            if signal.asks_to_end {
                grace.begin();
            }
            // Ctrl-C has reached the step already: it is in the terminal's foreground group with us.
            if !signal.from_terminal {
                let _ = kill(Pid::from_raw(child.id() as i32), Signal::try_from(signal.number)?);
            }
        }
    }
}
