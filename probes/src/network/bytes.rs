//! Bytes in one word of a command line, and back: `\r`, `\n`, `\t`, `\0`, `\s` (a blank), `\\`, and `\xHH` for any byte. All
//! else stands for itself.

use std::fmt::Write as _;

/// The bytes that a word stands for; none where an escape is not one of these.
pub fn unescaped(word: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
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
                let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
                rest = &rest[2..];
                u8::from_str_radix(digits, 16).ok()?
            }
            _ => return None,
        });
    }
    Some(bytes)
}

/// Bytes as printable ASCII: what is not stands as an escape; a blank stays a blank.
pub fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'\r' => text.push_str("\\r"),
            b'\n' => text.push_str("\\n"),
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(*byte)),
            byte => drop(write!(text, "\\x{byte:02x}")),
        }
    }
    text
}

/// Bytes in hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_goes_there_and_back() {
        let every: Vec<u8> = (0..=255).collect();
        assert_eq!(unescaped(escaped(&every).as_bytes()), Some(every));
        assert_eq!(unescaped(br"GET\s/\r\n\0\x7f"), Some(b"GET /\r\n\0\x7f".to_vec()));
        for wrong in [&br"\"[..], br"\x", br"\x1", br"\xzz", br"\q"] {
            assert_eq!(unescaped(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn hex_has_two_digits_a_byte() {
        assert_eq!(hex(b"\0\x0f\xff"), "000fff");
    }
}
