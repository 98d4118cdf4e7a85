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

/// Text in Markdown, also in a table's cell: what Markdown and HTML would take for theirs stays letters. An underscore within a
/// word is none of these (CommonMark 0.31, 6.2).
pub fn markdown(text: &str) -> String {
    let mut out = String::new();
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (mut before, mut rest) = (None, text.chars());
    while let Some(c) = rest.next() {
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '_' if is_word(before) && is_word(rest.clone().next()) => out.push(c),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => out.extend(['\\', c]),
            c => out.push(c),
        }
        before = Some(c);
    }
    out
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

    #[test]
    fn markdown_of_others_is_letters() {
        assert_eq!(super::markdown("allow_read of a | b"), "allow_read of a \\| b");
        assert_eq!(super::markdown(r"<details> &lt; \| [x](y)"), r"&lt;details> &amp;lt; \\\| \[x\](y)");
        assert_eq!(super::markdown("_so_ *so* __egress `so`"), r"\_so\_ \*so\* \_\_egress \`so\`");
    }
}
