//! A terminal as a user has one, with a program on it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};

pub struct Tty {
    child: Option<Child>,
    /// What the user sees and types into.
    screen: File,
    seen: String,
    /// Keeps it open: its modes can be seen after the program's end.
    slave: OwnedFd,
}

/// A bound against hanging only.
const PATIENCE: Duration = Duration::from_secs(30);

impl Tty {
    pub fn open(rows: u16, columns: u16) -> Tty {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(Some(&size), None).unwrap();
        for end in [&pty.master, &pty.slave] {
            fcntl(end, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).unwrap();
        }
        Tty { child: None, screen: pty.master.into(), seen: String::new(), slave: pty.slave }
    }

    /// Starts it in a session of its own, whose terminal this is, as its 0, 1 and 2.
    pub fn run(&mut self, command: &Command) {
        self.run_with(command, |_| {});
    }

    /// The same, with what is set differently.
    pub fn run_with(&mut self, command: &Command, set: impl FnOnce(&mut Command)) {
        let end = || Stdio::from(self.slave.try_clone().unwrap());
        let mut inside = Command::new("setsid");
        inside.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear();
        inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        inside.stdin(end()).stdout(end()).stderr(end());
        super::heed(&mut inside);
        set(&mut inside);
        self.child = Some(inside.spawn().unwrap());
    }

    pub fn child(&mut self) -> &mut Child {
        self.child.as_mut().unwrap()
    }

    /// Closes the window.
    pub fn hang_up(self) -> Child {
        self.child.unwrap()
    }

    pub fn set_modes(&self, change: impl FnOnce(&mut Termios)) {
        let mut modes = self.modes();
        change(&mut modes);
        tcsetattr(&self.slave, SetArg::TCSANOW, &modes).unwrap();
    }

    pub fn modes(&self) -> Termios {
        tcgetattr(&self.slave).unwrap()
    }

    pub fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        // SAFETY: the kernel reads one winsize.
        assert_eq!(unsafe { libc::ioctl(self.screen.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) }, 0);
    }

    pub fn type_in(&mut self, keys: &str) {
        self.screen.write_all(keys.as_bytes()).unwrap();
    }

    /// Goes on typing while the test goes on, and as the terminal takes it; until the window is closed.
    pub fn go_on_typing(&mut self, keys: String) {
        let mut screen = self.screen.try_clone().unwrap();
        std::thread::spawn(move || screen.write_all(keys.as_bytes()));
    }

    /// Reads on until it shows `text` behind what was waited for before; returns what came before it.
    pub fn until(&mut self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(at) = self.seen.find(text) {
                let rest = self.seen.split_off(at + text.len());
                return std::mem::replace(&mut self.seen, rest);
            }
            if Instant::now() >= deadline || !self.read_on() {
                let ended = self.child().try_wait();
                panic!("no {text:?} in {:?}; how it ended: {ended:?}", self.seen);
            }
        }
    }

    /// The exit code, and what was not waited for.
    pub fn end(&mut self) -> (Option<i32>, String) {
        let deadline = Instant::now() + PATIENCE;
        while self.read_on() {
            assert!(Instant::now() < deadline, "it does not end; seen: {:?}", self.seen);
        }
        (self.child().wait().unwrap().code(), std::mem::take(&mut self.seen))
    }

    /// Whether more can come.
    fn read_on(&mut self) -> bool {
        let mut on = [PollFd::new(self.screen.as_fd(), PollFlags::POLLIN)];
        // In this order: what it wrote before its end is there after it.
        let has_ended = self.child.as_mut().unwrap().try_wait().unwrap().is_some();
        if poll(&mut on, PollTimeout::from(50u16)) != Ok(1) {
            return !has_ended;
        }
        let mut buffer = [0; 64 << 10];
        let n = self.screen.read(&mut buffer).unwrap_or(0);
        self.seen += &String::from_utf8_lossy(&buffer[..n]);
        n > 0
    }
}
