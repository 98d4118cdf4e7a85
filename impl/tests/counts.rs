//! What a launch is made of, counted: mounts and programs, which is what it costs. Counts do not depend on the machine's mood.
#![allow(missing_docs, clippy::unwrap_used)]
#![allow(unsafe_code)] // a child that asks to be traced

mod factory;

use std::os::unix::process::CommandExt;
use std::process::Stdio;

use factory::Factory;
use nix::sys::ptrace::{self, Event, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

#[test]
fn an_ordinary_attempt_has_at_most_twenty_mounts_and_seventeen_more_for_each_repo() {
    assert!(mounts("") <= 20, "{}", mounts(""));
    assert_eq!(mounts("demo") - mounts(""), 17);
}

fn mounts(repos: &str) -> usize {
    let factory = Factory::new(&format!(
        "sandbox: {{mode: required}}\nrepos: {{demo: {{path: ../demo}}}}\n\
         steps: {{s: {{repos: [{repos}], run: [cat, /proc/self/mountinfo]}}}}"
    ));
    factory.repo();
    let out = factory.run("s").code(0);
    let mounts = String::from_utf8(out.get_output().stdout.clone()).unwrap();
    let places: Vec<&str> = mounts.lines().map(|line| line.split(' ').nth(4).unwrap()).collect();
    assert!(places.contains(&"/etc"), "{places:?}");
    // Not of every attempt: what is masked in /proc when root runs it, and other people's sources below /usr.
    let counted = places.iter().filter(|place| !place.starts_with("/proc/") && !place.starts_with("/usr/"));
    counted.count()
}

#[test]
fn a_launch_executes_three_programs_and_the_step() {
    for network in ["open", "allowlist"] {
        let settings = format!("sandbox: {{mode: required, network: {network}}}\nsteps: {{s: {{run: [/bin/true]}}}}");
        let factory = Factory::new(&settings);
        assert_eq!(executed(&factory), (4, 0), "kusaw, bwrap, the stage, the step; network: {network}");
    }
}

/// How many programs a run executes, and its exit code: every process of it is traced from the first to the last.
fn executed(factory: &Factory) -> (usize, i32) {
    let mut command = factory.command();
    command.args(["run", "s", "--attempt", "a"]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // SAFETY: between fork and exec, one system call without pointers.
    unsafe { command.pre_exec(|| Ok(ptrace::traceme()?)) };
    let kusaw = Pid::from_raw(command.spawn().unwrap().id() as i32);
    // Of this thread alone: other tests have children too.
    let any = || waitpid(None, Some(WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD));
    let (mut count, mut code) = (0, None);
    assert_eq!(waitpid(kusaw, None), Ok(WaitStatus::Stopped(kusaw, Signal::SIGTRAP)), "its own exec");
    count += 1;
    let children = Options::PTRACE_O_TRACEFORK | Options::PTRACE_O_TRACEVFORK | Options::PTRACE_O_TRACECLONE;
    ptrace::setoptions(kusaw, children | Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_EXITKILL).unwrap();
    ptrace::cont(kusaw, None).unwrap();
    while let Ok(status) = any() {
        let signal = match status {
            WaitStatus::Exited(pid, status) if pid == kusaw => {
                code = Some(status);
                continue;
            }
            WaitStatus::Exited(..) | WaitStatus::Signaled(..) => continue,
            WaitStatus::PtraceEvent(_, _, event) => {
                count += usize::from(event == Event::PTRACE_EVENT_EXEC as i32);
                None
            }
            WaitStatus::Stopped(_, Signal::SIGSTOP | Signal::SIGTRAP) => None, // how a traced child begins
            WaitStatus::Stopped(_, signal) => Some(signal),
            _ => None,
        };
        if let Some(pid) = status.pid() {
            let _ = ptrace::cont(pid, signal); // one that was killed meanwhile is gone: its end comes next
        }
    }
    (count, code.unwrap())
}
