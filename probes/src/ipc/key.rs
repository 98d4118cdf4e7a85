//! The key of a System V object, as ipcs(1) writes it (`0x0052e2c1`) or in decimal.

use std::ffi::OsStr;
use std::fmt;

use crate::words::Usage;

/// Never IPC_PRIVATE (0), which would make an object that nobody finds again.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct Key(pub libc::key_t);

impl Key {
    pub fn parse(word: &OsStr) -> Result<Self, Usage> {
        let word = word.to_string_lossy();
        let number = match word.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).map(u32::cast_signed).ok(),
            None => word.parse().ok(),
        };
        let key = number.filter(|key| *key != 0).map(Self);
        key.ok_or_else(|| Usage(format!("KEY is a number, 0x.. or decimal, and not 0; got {word:?}")))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#010x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_written_in_two_ways() {
        for (word, key) in [("0x0000ff01", 0xff01), ("0xffffffff", -1), ("17", 17), ("-2", -2)] {
            assert_eq!(Key::parse(word.as_ref()), Ok(Key(key)), "{word}");
        }
        for word in ["", "0", "0x0", "x", "0x100000000"] {
            assert!(Key::parse(word.as_ref()).is_err(), "{word}");
        }
        assert_eq!((Key(17).to_string(), Key(-1).to_string()), ("0x00000011".to_owned(), "0xffffffff".to_owned()));
    }
}
