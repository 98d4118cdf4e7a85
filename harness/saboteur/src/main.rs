//! `kusaw-saboteur BACKEND HOW WHAT -- ARGUMENTS...`: starts bubblewrap with exactly one guard less.
//!
//! The suite puts it in bubblewrap's place for one launch, whoever starts it. It reads what bubblewrap was told (also
//! what stands in `--args FD`), takes one guard away and becomes the real program. Where there is nothing to take away it
//! starts nothing: a control that weakens nothing would prove nothing.
//!
//! A copy that was told a change after the build (`sabotage`) is called as bubblewrap is.
#![allow(unsafe_code)] // taking over the descriptor of --args, and giving it on, with their SAFETY sentences

mod arguments;
mod sabotage;
mod weakening;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use arguments::Launch;
use sabotage::Sabotage;
use weakening::Weakening;

/// Exit code: nothing was started. None of bubblewrap's, and none of a step that ran.
const NOTHING_STARTED: u8 = 99;

/// Bubblewrap itself, where a copy of this program lies in its place (`conformance run --bwrap`).
const BUBBLEWRAP: &str = "/opt/bubblewrap/real";

fn main() -> ExitCode {
    let words = std::env::args_os().skip(1).collect();
    let Err(why) = match Sabotage::told() {
        Some(sabotage) => start_changed(&sabotage, words),
        None => start(words),
    };
    eprintln!("kusaw-saboteur: {why}");
    ExitCode::from(NOTHING_STARTED)
}

fn start(words: Vec<OsString>) -> Result<std::convert::Infallible, String> {
    let usage = "usage: kusaw-saboteur BACKEND without|mounted|writable|missing WHAT -- ARGUMENTS...";
    let [backend, how, what, end, rest @ ..] = words.as_slice() else { return Err(usage.to_owned()) };
    if end != "--" {
        return Err(usage.to_owned());
    }
    let weakening = Weakening::parse(how, what).ok_or(usage)?;
    let mut launch = Launch::parse(rest.to_vec(), &mut read)?;
    weakening.apply(&mut launch)?;
    Err(format!("{}: {}", backend.display(), Command::new(backend).args(launch.words()).exec()))
}

/// Becomes bubblewrap, told what this program was told but for the change, and the same way: nothing more in its argv.
fn start_changed(sabotage: &Sabotage, words: Vec<OsString>) -> Result<std::convert::Infallible, String> {
    let mut descriptor = None;
    let parsed = Launch::parse(words.clone(), &mut |number| {
        descriptor = Some(number.to_owned());
        read(number)
    });
    let mut bubblewrap = Command::new(BUBBLEWRAP);
    bubblewrap.arg0("bwrap");
    match (parsed, descriptor) {
        (Ok(mut launch), descriptor) => {
            sabotage.apply(&mut launch);
            match descriptor {
                None => drop(bubblewrap.args(launch.words())),
                Some(number) => {
                    write(&number, launch.options.iter().flatten())?;
                    bubblewrap.arg("--args").arg(number).arg("--").args(launch.command);
                }
            }
        }
        (Err(_), None) => drop(bubblewrap.args(words)), // `--version x`: for bubblewrap to judge
        (Err(why), Some(_)) => return Err(why),
    }
    Err(format!("{BUBBLEWRAP}: {}", bubblewrap.exec()))
}

/// Puts words behind a descriptor of this number, each with a zero at its end.
fn write<'a>(number: &OsStr, words: impl Iterator<Item = &'a OsString>) -> Result<(), String> {
    let told = |e: &dyn std::fmt::Display| format!("--args {}: {e}", number.display());
    let target: i32 = number.to_string_lossy().parse().map_err(|e| told(&e))?;
    // SAFETY: a name that is a C string, and no flags: the descriptor outlives exec.
    let made = unsafe { libc::memfd_create(c"args".as_ptr(), 0) };
    if made < 0 {
        return Err(told(&io::Error::last_os_error()));
    }
    // SAFETY: the kernel has just made this descriptor for us.
    let mut file = unsafe { File::from_raw_fd(made) };
    for word in words {
        file.write_all(word.as_encoded_bytes()).and_then(|()| file.write_all(&[0])).map_err(|e| told(&e))?;
    }
    file.rewind().map_err(|e| told(&e))?;
    if file.as_raw_fd() == target {
        let _ = file.into_raw_fd(); // stays open across exec
        return Ok(());
    }
    // SAFETY: plain numbers; `target` was read to its end and closed.
    if unsafe { libc::dup2(file.as_raw_fd(), target) } < 0 { Err(told(&io::Error::last_os_error())) } else { Ok(()) }
}

/// What stands in the descriptor of `--args`; it is closed then, as bubblewrap would.
fn read(descriptor: &OsStr) -> Result<Vec<OsString>, String> {
    let told = |e: &dyn std::fmt::Display| format!("--args {}: {e}", descriptor.display());
    let number: i32 = descriptor.to_string_lossy().parse().map_err(|e| told(&e))?;
    if number <= 2 {
        return Err(told(&"not a descriptor of its own"));
    }
    // SAFETY: the descriptor was handed over by number for this one reading, and nothing else here uses it.
    let mut file = unsafe { File::from_raw_fd(number) };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(|e: io::Error| told(&e))?;
    let words = bytes.split(|b| *b == 0).map(|word| OsString::from_vec(word.to_vec())).collect::<Vec<_>>();
    Ok(words.split_last().map(|(_, words)| words.to_vec()).unwrap_or_default()) // each word ends with a zero
}
