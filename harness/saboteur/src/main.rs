//! `kusaw-saboteur BACKEND HOW WHAT -- ARGUMENTS...`: starts bubblewrap with exactly one guard less.
//!
//! The suite puts it in bubblewrap's place for one launch, whoever starts it. It reads what bubblewrap was told (also
//! what stands in `--args FD`), takes one guard away and becomes the real program. Where there is nothing to take away it
//! starts nothing: a control that weakens nothing would prove nothing.
#![allow(unsafe_code)] // taking over the descriptor of --args, with its SAFETY sentence

mod arguments;
mod weakening;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use arguments::Launch;
use weakening::Weakening;

/// Exit code: nothing was started. None of bubblewrap's, and none of a step that ran.
const NOTHING_STARTED: u8 = 99;

fn main() -> ExitCode {
    let Err(why) = start(std::env::args_os().skip(1).collect());
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
