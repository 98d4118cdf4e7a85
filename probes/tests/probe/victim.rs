//! A process that others can be tried on.

#![allow(unsafe_code)]

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A shell that waits for its stdin. It ends with this value.
pub struct Victim(Child);

impl Victim {
    /// It has `name=value` in its environment, and the descriptor 7 on a file if there is one.
    pub fn new(name: &str, value: &str, file: Option<&str>) -> Self {
        let script = format!("exec 7<{}; echo ready; read line", file.unwrap_or("/dev/null"));
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script, name]).env(name, value).stdin(Stdio::piped()).stdout(Stdio::piped());
        // SAFETY: one system call with plain numbers. Where Yama (a kernel's module) asks for it, anyone may trace this
        // one.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY);
                Ok(())
            })
        };
        let mut child = command.spawn().unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0; 6]).unwrap();
        assert_eq!(state(child.id(), 'S'), Some('S'));
        Self(child)
    }

    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Whether it ends by itself when its stdin does: it runs, and nothing has it.
    pub fn ends(mut self) -> bool {
        drop(self.0.stdin.take());
        self.0.wait().unwrap().code() == Some(1)
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The letter of a process's state, once it is the awaited one, or the last one seen.
pub fn state(pid: u32, awaited: char) -> Option<char> {
    let state = || fs::read_to_string(format!("/proc/{pid}/stat")).ok()?.rsplit_once(") ")?.1.chars().next();
    until(|| state() == Some(awaited));
    state()
}

/// Waits for what comes, with a bound that is only reached where it never does.
pub fn until(mut it_is: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match it_is() {
            true => return true,
            false if Instant::now() > deadline => return false,
            false => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// A number that no process has: the highest possible one.
pub fn nobody() -> String {
    fs::read_to_string("/proc/sys/kernel/pid_max").unwrap().trim().to_owned()
}
