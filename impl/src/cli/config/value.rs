//! The value of a secret: from stdin, or typed without echo; never from the command line, which everybody on the machine can
//! read.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::outcome::{Reason, Refusal};
use crate::process::{grace::Grace, signals::Signals};
use crate::store::name::to_set;
use crate::store::{MAX, Secret};

/// The value for this key.
///
/// # Errors
/// When it cannot be read, or cannot be one.
pub fn of(key: &str) -> Result<Secret, Refusal> {
    let value = read(key)?;
    if value.is_empty() || value.len() > MAX || value.iter().any(|b| matches!(b, b'\r' | b'\n' | 0)) {
        let what = format!("a value has 1 to {MAX} bytes and no line end or NUL byte");
        return Err(Refusal { fix: Some(what), ..Refusal::new(Reason::BadSettings, format!("{key}: not a value")) });
    }
    Ok(Secret::new(value))
}

/// All of stdin, without one line end behind it. Not through the standard library's buffer, which keeps a copy.
fn read(key: &str) -> Result<Zeroizing<Vec<u8>>, Refusal> {
    let failed = |e: io::Error| Refusal::new(Reason::SecretStore, format!("the value: {e}"));
    let stdin = io::stdin();
    let mut from = File::from(stdin.as_fd().try_clone_to_owned().map_err(failed)?);
    // Its full size at once: a buffer that grows leaves copies behind.
    let mut value = Zeroizing::new(vec![0; MAX + 2]);
    let typing = if stdin.is_terminal() { Some(Typing::begin(key).map_err(failed)?) } else { None };
    let mut length = 0;
    while length < value.len() {
        if let Some(signal) = typing.as_ref().map_or(Ok(None), Typing::interrupted).map_err(failed)? {
            let fix = Some(to_set(key));
            let interrupted = Refusal::interrupted(signal);
            return Err(Refusal { fix, detail: format!("nothing is kept for {key}"), ..interrupted });
        }
        match from.read(&mut value[length..]) {
            Ok(0) => break,
            Ok(n) => length += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(failed(e)),
        }
        // A line is all that is typed.
        if typing.is_some() && value[..length].ends_with(b"\n") {
            break;
        }
    }
    value.truncate(length);
    if value.last() == Some(&b'\n') {
        value.pop();
    }
    Ok(value)
}

/// A terminal that does not show what is typed, until this is dropped. Signals that would end kusaw before that are taken.
struct Typing {
    before: Termios,
    signals: Signals,
}

impl Typing {
    fn begin(key: &str) -> io::Result<Typing> {
        let signals = Signals::take()?;
        let stdin = io::stdin();
        let before = tcgetattr(stdin.as_fd())?;
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(stdin.as_fd(), SetArg::TCSAFLUSH, &quiet)?;
        let typing = Typing { before, signals };
        write!(io::stderr(), "{key}: ")?;
        Ok(typing)
    }

    /// Waits until something is typed, or a signal asks to end: which.
    fn interrupted(&self) -> io::Result<Option<i32>> {
        loop {
            let [typed] = self.signals.wait([io::stdin().as_fd()], &Grace::default())?;
            while let Some(taken) = self.signals.next()? {
                if taken.asks_to_end || taken.number == libc::SIGQUIT {
                    return Ok(Some(taken.number));
                }
            }
            if typed {
                return Ok(None);
            }
        }
    }
}

impl Drop for Typing {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin().as_fd(), SetArg::TCSANOW, &self.before);
        let _ = writeln!(io::stderr());
    }
}
