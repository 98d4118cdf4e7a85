//! A process of the user beside the sandbox: what a step must not see, signal, stop, trace or read. It has a key open and a
//! token in its memory, and waits until it is told to end; it must never outlive its scenario.
#![allow(unsafe_code)] // pre_exec and prctl(2), with a SAFETY sentence

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::{HOME, home};

/// The process, until this is dropped.
#[derive(Debug)]
pub struct Bystander {
    child: Child,
}

/// The descriptor on which it has the key open.
pub const KEY: i32 = 9;

impl Bystander {
    /// Starts it; `mark` stands in its argv.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(mark: &str) -> io::Result<Self> {
        let key = File::open(Path::new(HOME).join(".ssh/id_ed25519"))?;
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "read wait", mark]).env("LAB_TOKEN", home::token()?);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // SAFETY: two system calls on numbers, which are async-signal-safe; the file outlives the start.
        unsafe {
            command.pre_exec(move || {
                // Where Yama lets a process be traced by its parent only (ptrace_scope 1), anybody may trace this one; else
                // the control could show nothing there. Without Yama the call is unknown, and not needed.
                libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0);
                if libc::dup2(key.as_raw_fd(), KEY) < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
            });
        }
        Ok(Self { child: command.spawn()? })
    }

    /// Its number among the processes of the lab.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What was done to it, if anything: it has ended, or is stopped, or somebody traces it.
    pub fn harm(&mut self) -> Option<String> {
        if let Ok(Some(status)) = self.child.try_wait() {
            return Some(format!("it has ended: {status}"));
        }
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).unwrap_or_default();
        let field =
            |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("?").trim().to_owned();
        let (state, tracer) = (field("State:"), field("TracerPid:"));
        let waits = state.starts_with('S') || state.starts_with('R');
        (!waits || tracer != "0").then(|| format!("its state is {state}, its tracer {tracer}"))
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
