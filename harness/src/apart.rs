//! A run of the suite in a process of its own: what it says goes into a file, it has a bound, and it dies with this one.
#![allow(unsafe_code)] // pre_exec, with its SAFETY sentence

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::sys::signal::Signal;

/// How often a run is asked whether it is over.
const LOOK: Duration = Duration::from_millis(50);

/// Runs it to its end, or for as long as it may; none if it had to be killed. What it says goes into `log`.
///
/// # Errors
/// When it cannot be started or waited for.
pub fn run(mut command: Command, log: &Path, bound: Duration) -> io::Result<Option<ExitStatus>> {
    let file = File::create(log)?;
    command.stdout(file.try_clone()?).stderr(file);
    // SAFETY: one system call. The lab dies with the run, and the run with this thread, whatever ends it: Ctrl-C too.
    unsafe { command.pre_exec(|| Ok(prctl::set_pdeathsig(Signal::SIGKILL)?)) };
    let (began, mut run) = (Instant::now(), command.spawn()?);
    loop {
        if let Some(status) = run.try_wait()? {
            return Ok(Some(status));
        }
        if began.elapsed() > bound {
            run.kill()?;
            return run.wait().map(|_| None);
        }
        std::thread::sleep(LOOK);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_end_is_ended() {
        let log = std::env::temp_dir().join(format!("kusaw-apart-{}", std::process::id()));
        let shell = |script: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            command
        };
        let began = Instant::now();
        let ended = run(shell("echo x; exit 3"), &log, Duration::from_secs(20)).unwrap();
        assert_eq!(ended.and_then(|status| status.code()), Some(3));
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "x\n");
        assert!(run(shell("exec sleep 60"), &log, Duration::from_millis(200)).unwrap().is_none());
        assert!(began.elapsed() < Duration::from_secs(30));
        std::fs::remove_file(log).unwrap();
    }
}
