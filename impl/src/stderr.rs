//! kusaw's own lines on stderr, each prefixed so that none can be taken for the step's. A stderr that
//! cannot be written is no reason to panic: the records and the exit code say the same.

use std::fmt::Display;
use std::io::Write;

/// Most characters of a line.
const MOST: usize = 4096;

/// One or more lines; control characters, such as those of a path, do not reach the terminal.
pub fn say(text: impl Display) {
    let text = text.to_string();
    let lines: String = text.lines().map(|line| format!("kusaw: {}\n", printable(line, MOST))).collect();
    let _ = std::io::stderr().write_all(lines.as_bytes());
}

/// Something is not as it should be, and kusaw goes on.
pub fn warn(text: impl Display) {
    say(format!("warning: {text}"));
}

/// `text` on one line, as long as a line of kusaw's own can be.
pub fn one_line(text: &str) -> String {
    printable(text, MOST)
}

/// `text` on one line and without control characters, which could move the cursor; at most `most` of them.
pub fn printable(text: &str, most: usize) -> String {
    let clean: String = text.chars().take(most).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().count() > most { clean + "…" } else { clean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_what_is_too_long_are_not_printable() {
        assert_eq!(printable("a\u{1b}[31m\u{7}\nb", 80), "a [31m  b");
        assert_eq!(printable("abc", 2), "ab…");
    }
}
