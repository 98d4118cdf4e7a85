//! The caller's terminal: the harness holds the side of the screen and the keyboard, the launch gets the other as its
//! controlling terminal. The harness keeps that one open too, to see what becomes of it.
#![allow(unsafe_code)] // ioctl and pre_exec, each with its SAFETY sentence

use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::pty::{Winsize, openpty};
use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{read, write};
use tokio::io::unix::AsyncFd;
use tokio::process::Command;

use crate::caller::{Deed, Terminal};

/// Its size at first, in rows and columns: nobody's default.
pub const SIZE: (u16, u16) = (33, 99);

/// How long what was printed last may take to arrive once the launch has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// Between two looks whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// What became of a terminal.
#[derive(Clone, Debug)]
pub struct Seen {
    /// All that it showed.
    pub screen: Vec<u8>,
    /// How many deeds were not done, because what they waited for was not shown.
    pub undone: usize,
    /// From the last deed to the end of the launch.
    pub since_deed: Option<Duration>,
    /// Whether its settings (termios(3)) are as before.
    pub restored: bool,
    /// What lies in its input that nobody has typed or read.
    pub unread: Vec<u8>,
}

/// A terminal while a launch has it.
#[derive(Debug)]
pub struct Pty {
    master: RefCell<Option<AsyncFd<OwnedFd>>>,
    slave: RefCell<Option<OwnedFd>>,
    before: Termios,
    screen: RefCell<Vec<u8>>,
    undone: Cell<usize>,
    deed: Cell<Option<Instant>>,
    ended: Cell<Option<Instant>>,
    after: RefCell<Option<(bool, Vec<u8>)>>,
}

impl Pty {
    /// A new one. To be called in the runtime.
    ///
    /// # Errors
    /// When the lab has none to give.
    pub fn open() -> io::Result<Self> {
        let size = Winsize { ws_row: SIZE.0, ws_col: SIZE.1, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None)?;
        set_nonblocking(pty.master.as_fd())?;
        for fd in [&pty.master, &pty.slave] {
            fcntl(fd, FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC))?;
        }
        let before = tcgetattr(&pty.slave)?;
        // SAFETY: the descriptor is owned by what watches it, and closed after that has let go of it.
        let master = unsafe { AsyncFd::register(pty.master) }?;
        Ok(Self {
            master: RefCell::new(Some(master)),
            slave: RefCell::new(Some(pty.slave)),
            before,
            screen: RefCell::default(),
            undone: Cell::default(),
            deed: Cell::default(),
            ended: Cell::default(),
            after: RefCell::default(),
        })
    }

    /// A descriptor for a launch.
    ///
    /// # Errors
    /// When there can be no more.
    pub fn descriptor(&self) -> io::Result<Stdio> {
        match &*self.slave.borrow() {
            Some(slave) => Ok(slave.try_clone()?.into()),
            None => Err(io::Error::other("the terminal is closed")),
        }
    }

    /// Has a process started as the leader of a session whose terminal it is.
    pub fn control(command: &mut Command) {
        // SAFETY: runs between fork and exec and only makes system calls; 0 is the terminal then.
        unsafe {
            command.pre_exec(|| {
                nix::unistd::setsid()?;
                if libc::ioctl(0, libc::TIOCSCTTY, 0) < 0 {
                    return Err(io::Error::last_os_error());
                }
                Ok(())
            });
        }
    }

    /// Looks at the screen and does what is to be done, until the terminal is closed on either side.
    ///
    /// # Errors
    /// When a deed cannot be done.
    pub async fn converse(&self, terminal: &Terminal) -> io::Result<()> {
        let Some(master) = self.master.take() else { return Ok(()) };
        let (mut deeds, mut shown) = (terminal.deeds.iter(), 0);
        let mut next = deeds.next();
        self.undone.set(terminal.deeds.len());
        loop {
            while let Some((text, deed)) = next {
                let found = find(&self.screen.borrow()[shown..], text.as_bytes());
                let Some(at) = found else { break };
                shown += at + text.len();
                self.undone.set(self.undone.get() - 1);
                next = deeds.next();
                self.deed.set(Some(Instant::now()));
                match deed {
                    Deed::Type(keys) => type_in(&master, keys).await?,
                    Deed::Resize(rows, columns) => resize(master.as_fd(), *rows, *columns)?,
                    Deed::HangUp => return Ok(()), // and with it the last descriptor of this side
                    Deed::Watch => {}
                }
            }
            if !self.take_in(&master).await {
                return Ok(());
            }
        }
    }

    /// Takes in what is shown, for a moment; whether more can come.
    async fn take_in(&self, master: &AsyncFd<OwnedFd>) -> bool {
        let mut buffer = [0; 16 << 10];
        let Ok(ready) = tokio::time::timeout(LOOK, master.readable()).await else {
            return self.ended.get().is_none_or(|ended| ended.elapsed() < DRAIN);
        };
        let Ok(mut ready) = ready else { return false };
        match ready.try_io(|master| read(master.get_ref(), &mut buffer).map_err(io::Error::from)) {
            Ok(Ok(0) | Err(_)) => false, // EIO: nobody has the other side open any more
            Ok(Ok(count)) => {
                self.screen.borrow_mut().extend_from_slice(&buffer[..count]);
                true
            }
            Err(_would_block) => true,
        }
    }

    /// The launch has ended: what the terminal is like now; then the harness lets go of the launch's side.
    pub fn release(&self) {
        self.ended.set(Some(Instant::now()));
        if let Some(slave) = self.slave.take() {
            let restored = tcgetattr(&slave).is_ok_and(|after| same(&after, &self.before));
            *self.after.borrow_mut() = Some((restored, unread(&slave)));
        }
    }

    /// What became of it.
    pub fn seen(self) -> Seen {
        let (restored, unread) = self.after.into_inner().unwrap_or_default();
        Seen {
            screen: self.screen.into_inner(),
            undone: self.undone.get(),
            since_deed: self.deed.get().zip(self.ended.get()).map(|(deed, ended)| ended.duration_since(deed)),
            restored,
            unread,
        }
    }
}

fn same(one: &Termios, other: &Termios) -> bool {
    let flags = |t: &Termios| (t.input_flags, t.output_flags, t.control_flags, t.local_flags, t.control_chars);
    flags(one) == flags(other)
}

/// What lies in the input, also a line without an end.
fn unread(slave: &OwnedFd) -> Vec<u8> {
    let mut bytes = vec![0; 4096];
    let mut look = || -> nix::Result<usize> {
        let mut raw = tcgetattr(slave)?;
        raw.local_flags.remove(LocalFlags::ICANON);
        tcsetattr(slave, SetArg::TCSANOW, &raw)?;
        set_nonblocking(slave.as_fd())?;
        read(slave, &mut bytes)
    };
    let count = look().unwrap_or_default();
    bytes.truncate(count);
    bytes
}

fn set_nonblocking(fd: BorrowedFd<'_>) -> nix::Result<()> {
    let flags = OFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFL)?);
    fcntl(fd, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK)).map(drop)
}

async fn type_in(master: &AsyncFd<OwnedFd>, mut keys: &[u8]) -> io::Result<()> {
    while !keys.is_empty() {
        match write(master.get_ref(), keys) {
            Ok(count) => keys = &keys[count..],
            Err(Errno::EAGAIN) => master.writable().await?.clear_ready(),
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

fn resize(master: BorrowedFd<'_>, rows: u16, columns: u16) -> io::Result<()> {
    let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the kernel reads one struct winsize (ioctl_tty(2)).
    let result = unsafe { libc::ioctl(master.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn find(screen: &[u8], text: &[u8]) -> Option<usize> {
    if text.is_empty() { Some(0) } else { screen.windows(text.len()).position(|part| part == text) }
}
