//! `kusaw serve`, as long as a test needs it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Factory;

/// A `serve` that is ready; killed when it is dropped.
pub struct Serve(pub Child);

impl Serve {
    pub fn of(factory: &Factory) -> Serve {
        Serve::by(factory.command())
    }

    /// That may have so many open files.
    pub fn limited(factory: &Factory, files: u64) -> Serve {
        let kusaw = factory.command();
        let mut command = Command::new("prlimit");
        command.arg(format!("--nofile={files}:{files}")).arg(kusaw.get_program()).args(kusaw.get_args());
        command.env_clear().envs(kusaw.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Serve::by(command)
    }

    /// Started by this command, but for its last word.
    pub fn by(mut command: Command) -> Serve {
        let mut child = command.arg("serve").stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("kusaw serve: ready on /"), "{line:?}");
        Serve(child)
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id() as i32), signal).unwrap();
    }

    pub fn threads(&self) -> usize {
        fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap().count()
    }

    pub fn end(mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.0.wait().unwrap().code()
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
