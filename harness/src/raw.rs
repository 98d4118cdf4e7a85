//! Raw bytes in the words of a feature and of the probe: `\r`, `\n`, `\t`, `\0`, `\s`, `\\`, `\xHH`.

use std::fmt::Write as _;

/// The line of a feature between two writes.
const BETWEEN: &str = "---";

/// What a feature wants sent, each write by itself. Lines end with CR LF, but for one that `\` ends. The head of a request may
/// leave out its blank line at the end.
///
/// # Errors
/// An escape that is none.
pub fn writes(text: &str) -> Result<Vec<Vec<u8>>, String> {
    let mut writes = Vec::new();
    let text = text.strip_prefix('\n').unwrap_or(text); // of the line that opens the text
    let text = text.trim_end_matches(' '); // before the one that closes it
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    for part in lines.split(|line| *line == BETWEEN) {
        let mut write = Vec::new();
        let mut open = false;
        for line in part {
            let cut = line.strip_suffix('\\').filter(|rest| !rest.ends_with('\\'));
            open = cut.is_some();
            write.extend(bytes(cut.unwrap_or(line)).ok_or_else(|| format!("{line:?} has an escape that is none"))?);
            if !open {
                write.extend(b"\r\n");
            }
        }
        if !open && !write.windows(4).any(|four| four == b"\r\n\r\n") {
            write.extend(b"\r\n");
        }
        writes.push(write);
    }
    Ok(writes)
}

/// The bytes that a word stands for; none where an escape is not one of these.
pub fn bytes(word: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let (letter, after) = rest.split_first()?;
        rest = after;
        bytes.push(match letter {
            b'r' => b'\r',
            b'n' => b'\n',
            b't' => b'\t',
            b'0' => 0,
            b's' => b' ',
            b'\\' => b'\\',
            b'x' => {
                let byte = from_hex(std::str::from_utf8(rest.get(..2)?).ok()?)?;
                rest = &rest[2..];
                byte[0]
            }
            _ => return None,
        });
    }
    Some(bytes)
}

/// Bytes as one word for the probe.
pub fn word(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b'!'..=b'~' => text.push(char::from(*byte)),
            byte => drop(write!(text, "\\x{byte:02x}")),
        }
    }
    text
}

/// Bytes from two digits each.
pub fn from_hex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok().filter(|_| pair.len() == 2)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_crlf_and_a_head_with_a_blank_line() {
        let both = writes("GET / HTTP/1.1\nHost: a\n---\nPOST / HTTP/1.1\n\nbody\\").unwrap();
        assert_eq!(both, [&b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..], b"POST / HTTP/1.1\r\n\r\nbody"]);
        assert_eq!(writes(r"GET /\0 HTTP/1.1\n\n\").unwrap(), [b"GET /\0 HTTP/1.1\n\n"]);
        assert_eq!(writes("\nGET / HTTP/1.1\n\nbody\\\n   ").unwrap(), [b"GET / HTTP/1.1\r\n\r\nbody"]);
        assert!(writes(r"\q").is_err());
    }

    #[test]
    fn every_byte_goes_there_and_back() {
        let every: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes(&word(&every)), Some(every));
        assert!(!word(b"a b\r\n").contains([' ', '\n']));
        assert_eq!((from_hex("00ff"), from_hex("0"), from_hex("zz")), (Some(vec![0, 255]), None, None));
    }
}
