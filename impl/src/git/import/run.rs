//! Running git on what a step wrote: in bounded time and memory, with the code of what failed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::process::Command;
use std::time::Duration;

use super::boxed::limit;
use super::code::{Code, Fault};
use crate::process::command::{self, Bounds};

/// For one command; what it says is a line for each ref or object.
const BOUNDS: Bounds = Bounds { time: TIME, said: 256 << 20 };

/// For one command.
pub const TIME: Duration = Duration::from_secs(120);

/// Of what a git says on stderr, in bytes.
const TAIL: u64 = 4096;

/// Its stdout; `code` is for when it fails.
///
/// # Errors
/// See there.
pub fn run(mut command: Command, input: &[u8], code: Code, what: &str) -> Result<Vec<u8>, Fault> {
    let failed = |e: io::Error| Fault::new(Code::Failed, format!("git {what}: {e}"));
    let input = file_of(input).map_err(failed)?;
    limit(&mut command);
    command::run(&mut command, Some(input), BOUNDS).map_err(failed)?.map_err(|said| {
        let code = if said.starts_with("it took longer") { Code::TookTooLong } else { code };
        Fault::new(code, format!("git {what}: {said}"))
    })
}

/// A file that nobody else has, with `bytes` in it.
pub fn file_of(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// What a git has said last, on one line.
pub fn tail(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let start = file.metadata().map_or(0, |meta| meta.len().saturating_sub(TAIL));
    let _ = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_to_end(&mut bytes));
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(3)..].join("; ")
}
