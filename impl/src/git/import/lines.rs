//! What a git says piece by piece, as the parts that it consists of.

use super::code::{Code, Fault};
use super::run::Reader;

/// Longest part: a path, or what stands before that of a merge with many parents.
const LONGEST: usize = 1 << 20;

/// Parts that end with a line feed, or with another byte; only what has no end yet is kept.
#[derive(Debug)]
pub struct Lines {
    end: u8,
    rest: Vec<u8>,
}

impl Default for Lines {
    fn default() -> Lines {
        Lines::ending(b'\n')
    }
}

impl Lines {
    /// Those that end with `end`.
    pub fn ending(end: u8) -> Lines {
        Lines { end, rest: Vec::new() }
    }

    /// Takes the next piece in, as text.
    ///
    /// # Errors
    /// Those of `take`, and when a part is longer than git makes them.
    pub fn feed(&mut self, bytes: &[u8], take: &mut dyn FnMut(&str) -> Result<(), Fault>) -> Result<(), Fault> {
        self.feed_bytes(bytes, &mut |line| take(&String::from_utf8_lossy(line)))
    }

    /// The same as bytes.
    ///
    /// # Errors
    /// See [`Lines::feed`].
    pub fn feed_bytes(&mut self, mut bytes: &[u8], take: Reader) -> Result<(), Fault> {
        while let Some(at) = bytes.iter().position(|byte| *byte == self.end) {
            if self.rest.is_empty() {
                take(&bytes[..at])?;
            } else {
                self.rest.extend(&bytes[..at]);
                take(&std::mem::take(&mut self.rest))?;
            }
            bytes = &bytes[at + 1..];
        }
        self.rest.extend(bytes);
        if self.rest.len() > LONGEST {
            return Err(Fault::new(Code::TooLarge, format!("a name of more than {LONGEST} bytes")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_whole_however_they_come() {
        for size in 1..9 {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for piece in b"one\n\ntwo\nthree".chunks(size) {
                lines
                    .feed(piece, &mut |line| {
                        found.push(line.to_string());
                        Ok(())
                    })
                    .unwrap();
            }
            assert_eq!(found, ["one", "", "two"]);
        }
        assert!(Lines::default().feed(&[b'a'; LONGEST + 1], &mut |_| Ok(())).is_err());
    }
}
