//! Text of others on one line: cut, and with control characters made visible. And our own to stdout.

use std::io::Write;

/// Prints to stdout; a reader that has gone away, such as `head`, is no error.
pub fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// At most `limit` characters of `bytes` on one line; control characters are escaped, so that they cannot drive a terminal, and
/// so are those that are not seen or turn the order of others around.
pub fn line(bytes: &[u8], limit: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let trimmed = text.trim();
    let mut out = String::new();
    for c in trimmed.chars().take(limit) {
        match c {
            '\n' => out.push_str(" / "),
            c => visible(c, &mut out),
        }
    }
    if trimmed.chars().nth(limit).is_some() {
        out.push('…');
    }
    out
}

/// The text with its lines as they are, and else as [`line`] has it: a message of ours that quotes others.
pub fn lines(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\n' => out.push(c),
            c => visible(c, &mut out),
        }
    }
    out
}

fn visible(c: char, out: &mut String) {
    if c.is_control() || is_unseen(c) { out.extend(c.escape_default()) } else { out.push(c) }
}

/// Characters of format: of no width, or changing the direction of what follows (Unicode TR 36, 2.5; CVE-2021-42574).
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// The text with every character made visible that XML 1.0 (2.2, Char) cannot hold.
pub fn xml(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\t' | '\n' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn control_characters_are_shown() {
        assert_eq!(super::line(b"a\nb\x1b[31m", 80), "a / b\\u{1b}[31m");
        assert_eq!(super::line(b"abcdef", 3), "abc…");
        assert_eq!(super::lines("a\n  b\x1b[31m"), "a\n  b\\u{1b}[31m");
        assert_eq!(super::line("a\u{202e}b\u{200b}".as_bytes(), 80), "a\\u{202e}b\\u{200b}");
    }
}
