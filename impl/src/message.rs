//! kusaw's own lines on stderr, each prefixed so that none can be taken for the step's. A stderr that
//! cannot be written is no reason to panic: the records and the exit code say the same.

use std::fmt::Display;
use std::io::Write;

/// One or more lines.
pub fn say(text: impl Display) {
    let lines: String = text.to_string().lines().map(|line| format!("kusaw: {line}\n")).collect();
    let _ = std::io::stderr().write_all(lines.as_bytes());
}

/// Something is not as it should be, and kusaw goes on.
pub fn warn(text: impl Display) {
    say(format!("warning: {text}"));
}
