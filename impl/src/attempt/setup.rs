//! The setup commands of a step: run by the factory, outside of any sandbox, before it is started. They work in a worktree that no
//! step has seen yet, so nothing that they read or execute there is a step's; what they leave there is the step's from then on.
//! The first that fails ends the attempt, and nothing of the step is executed.

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;

use crate::outcome::{Reason, Refusal};
use crate::process::apart::apart;
use crate::process::grace::Grace;
use crate::process::pidfd;
use crate::process::signals::Signals;
use crate::stderr::printable;

/// Runs all of them in `cwd`, one after the other, with kusaw's own environment and `env`; nothing is to be read on their stdin, and
/// what they print goes to stderr.
///
/// # Errors
/// When one fails or cannot be executed, and when a signal asks kusaw to end: then all that it started is ended, but for what has
/// left its session.
pub fn run(commands: &[Vec<String>], cwd: &Path, env: &[(String, String)]) -> Result<(), Refusal> {
    if commands.is_empty() {
        return Ok(());
    }
    let signals = Signals::take().map_err(|e| Refusal::new(Reason::SetupFailed, format!("signals: {e}")))?;
    commands.iter().try_for_each(|argv| one(argv, cwd, env, &signals))
}

fn one(argv: &[String], cwd: &Path, env: &[(String, String)], signals: &Signals) -> Result<(), Refusal> {
    let failed = |what: &dyn std::fmt::Display| {
        Refusal::new(Reason::SetupCommand, format!("{}: {what}", printable(&argv.join(" "), 200)))
    };
    let (name, arguments) = argv.split_first().ok_or_else(|| failed(&"no program"))?;
    let stderr = io::stderr().as_fd().try_clone_to_owned().map_err(|e| failed(&e))?;
    let mut command = Command::new(name);
    command.args(arguments).current_dir(cwd).envs(env.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::null()).stdout(stderr);
    let mut child = apart(&mut command).spawn().map_err(|e| failed(&format!("it cannot be executed: {e}")))?;
    let ended = wait(&child, signals);
    let is_well = matches!(ended, Ok(Ended { status: WaitStatus::Exited(_, 0), asked: None }));
    if !is_well {
        // Nobody has waited for the leader yet: the number is that group's.
        let _ = killpg(group(&child), Signal::SIGKILL);
    }
    let status = child.wait().map_err(|e| failed(&e))?;
    match ended.map_err(|e| failed(&e))? {
        Ended { asked: Some(signal), .. } => Err(Refusal::interrupted(signal)),
        _ if is_well => Ok(()),
        _ => Err(failed(&status)),
    }
}

/// How a command ended, and the signal that asked kusaw to end meanwhile.
struct Ended {
    status: WaitStatus,
    asked: Option<i32>,
}

/// Until it has ended; it is not reaped.
fn wait(child: &Child, signals: &Signals) -> io::Result<Ended> {
    let ended = pidfd::open(child.id() as i32)?;
    let (mut grace, mut asked) = (Grace::default(), None);
    loop {
        match signals.wait([ended.as_fd()], &grace) {
            Ok([true]) => break,
            Err(e) if e.kind() == io::ErrorKind::TimedOut => {
                let _ = killpg(group(child), Signal::SIGKILL);
                grace = Grace::default();
            }
            waited => drop(waited?),
        }
        while let Some(signal) = signals.next()? {
            if signal.asks_to_end || signal.number == libc::SIGQUIT {
                asked.get_or_insert(signal.number);
                grace.begin();
                let _ = killpg(group(child), Signal::SIGTERM);
            }
        }
    }
    let status = waitid(Id::Pid(Pid::from_raw(child.id() as i32)), WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT)?;
    Ok(Ended { status, asked })
}

fn group(child: &Child) -> Pid {
    Pid::from_raw(child.id() as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(scripts: &[&str]) -> (Result<(), String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let argv = |script: &&str| ["/bin/sh", "-c", script].map(str::to_string).to_vec();
        let commands: Vec<_> = scripts.iter().map(argv).collect();
        let done = run(&commands, folder.path(), &[("WORD".into(), "x".into())]);
        let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut files: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
        files.sort();
        (done.map_err(|refusal| refusal.to_string()), files)
    }

    #[test]
    fn they_run_one_after_the_other_until_one_fails() {
        assert_eq!(sh(&["touch a$WORD", "mv ax bx", "read line || touch c"]), (Ok(()), vec!["bx".into(), "c".into()]));
        let (failed, files) = sh(&["touch a", "exit 3", "touch b"]);
        assert!(failed.unwrap_err().ends_with("exit status: 3") && files == ["a"]);
        let (killed, _) = sh(&["kill -9 $$"]);
        assert!(killed.unwrap_err().contains("signal: 9"));
    }

    #[test]
    fn one_that_cannot_be_executed_fails() {
        let refusal = run(&[vec!["nobody-has-this".into()]], Path::new("/"), &[]).unwrap_err();
        assert_eq!(refusal.reason, Reason::SetupCommand);
    }
}
