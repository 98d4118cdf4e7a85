//! `kusaw config set KEY --secret`: a value for the secret store, from stdin or typed without echo; never from the command line,
//! which everybody on the machine can read.

use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::os::fd::AsFd;

use nix::sys::termios::{LocalFlags, SetArg, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use crate::outcome::{Reason, Refusal};
use crate::settings::{NAME, is_name};
use crate::store::{MAX, Secret, Store};

/// Keeps the value; the exit code is 0, or that of the refusal.
pub fn set(key: &str, secret: bool) -> i32 {
    let kept = match secret {
        true => keep(key),
        false => Err(Refusal {
            fix: Some(format!("kusaw config set {key} --secret")),
            ..Refusal::new(Reason::NotImplemented, "only secrets can be set; settings stand in kusaw.yaml")
        }),
    };
    kept.map_or_else(|refusal| super::report(&refusal), |()| 0)
}

fn keep(key: &str) -> Result<(), Refusal> {
    if !is_name(key) {
        return Err(Refusal { fix: Some(NAME.into()), ..Refusal::new(Reason::BadSettings, "not a name for a secret") });
    }
    let failed = |what: &str, e: io::Error| Refusal::new(Reason::SecretStore, format!("{what}: {e}"));
    let value = read(key).map_err(|e| failed("the value", e))?;
    if value.is_empty() || value.len() > MAX || value.iter().any(|b| matches!(b, b'\r' | b'\n' | 0)) {
        let what = format!("a value has 1 to {MAX} bytes and no line end or NUL byte");
        return Err(Refusal { fix: Some(what), ..Refusal::new(Reason::BadSettings, format!("{key}: not a value")) });
    }
    let store = Store::own().map_err(|e| failed("the secret store", e))?;
    store.set(key, &Secret::new(value)).map_err(|e| failed("the secret store", e))
}

/// All of stdin, without one line end behind it.
fn read(key: &str) -> io::Result<Zeroizing<Vec<u8>>> {
    let stdin = io::stdin();
    // Its full size at once: a buffer that grows leaves copies behind.
    let mut value = Zeroizing::new(Vec::with_capacity(MAX + 2));
    if stdin.is_terminal() {
        let _quiet = Quiet::begin(key)?;
        stdin.lock().take(MAX as u64 + 2).read_until(b'\n', &mut value)?;
    } else {
        stdin.lock().take(MAX as u64 + 2).read_to_end(&mut value)?;
    }
    if value.last() == Some(&b'\n') {
        value.pop();
    }
    Ok(value)
}

/// A terminal that does not show what is typed, until this is dropped.
struct Quiet(nix::sys::termios::Termios);

impl Quiet {
    fn begin(key: &str) -> io::Result<Quiet> {
        let stdin = io::stdin();
        let before = tcgetattr(stdin.as_fd())?;
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(stdin.as_fd(), SetArg::TCSAFLUSH, &quiet)?;
        write!(io::stderr(), "{key}: ")?;
        Ok(Quiet(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = tcsetattr(io::stdin().as_fd(), SetArg::TCSANOW, &self.0);
        let _ = writeln!(io::stderr());
    }
}
