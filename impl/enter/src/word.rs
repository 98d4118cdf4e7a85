//! The short words after the job, eight bytes each: a letter, three zero bytes, a number.
//! Pure; an unknown letter is `None` and both sides take it as the end of the conversation.

/// Size of every word in bytes.
pub const SIZE: usize = 8;

/// What one side tells the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// Stage: ready; as many listening descriptors come along as the job named ports.
    Ready(i32),
    /// Stage: could not get ready (errno).
    Failed(i32),
    /// Stage: could not listen on a port the job named (errno).
    NoListener(i32),
    /// Stage: is not pid 1 of a PID namespace (its pid): whatever started it made no sandbox.
    NotConfined(i32),
    /// Launcher: start the step.
    Go,
    /// Stage: result of execve: 0, or errno.
    Exec(i32),
    /// Stage: the working folder could not be entered, or a descriptor not placed (errno).
    Setup(i32),
    /// Launcher: send this signal to the step's process group.
    Signal(i32),
    /// Stage: the step's raw wait status.
    Status(i32),
}

impl Word {
    /// The word's bytes.
    pub fn encode(self) -> [u8; SIZE] {
        let (letter, n) = match self {
            Word::Ready(n) => (b'R', n),
            Word::Failed(n) => (b'F', n),
            Word::NoListener(n) => (b'L', n),
            Word::NotConfined(n) => (b'N', n),
            Word::Go => (b'G', 0),
            Word::Exec(n) => (b'X', n),
            Word::Setup(n) => (b'C', n),
            Word::Signal(n) => (b'S', n),
            Word::Status(n) => (b'W', n),
        };
        let [a, b, c, d] = n.to_le_bytes();
        [letter, 0, 0, 0, a, b, c, d]
    }

    /// The word in these bytes, if it is one.
    pub fn decode(bytes: [u8; SIZE]) -> Option<Word> {
        let [letter, 0, 0, 0, a, b, c, d] = bytes else { return None };
        let n = i32::from_le_bytes([a, b, c, d]);
        Some(match letter {
            b'R' => Word::Ready(n),
            b'F' => Word::Failed(n),
            b'L' => Word::NoListener(n),
            b'N' => Word::NotConfined(n),
            b'G' => Word::Go,
            b'X' => Word::Exec(n),
            b'C' => Word::Setup(n),
            b'S' => Word::Signal(n),
            b'W' => Word::Status(n),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_comes_back() {
        for n in [0, 1, -1, 0x8b, i32::MAX, i32::MIN] {
            let answers = [Word::Ready(n), Word::Failed(n), Word::NoListener(n), Word::NotConfined(n)];
            let later = [Word::Exec(n), Word::Setup(n), Word::Signal(n), Word::Status(n)];
            for word in answers.into_iter().chain(later) {
                assert_eq!(Word::decode(word.encode()), Some(word));
            }
        }
        assert_eq!(Word::decode(Word::Go.encode()), Some(Word::Go));
    }

    #[test]
    fn noise_is_no_word() {
        assert_eq!(Word::decode(*b"Z\0\0\0\0\0\0\0"), None);
        assert_eq!(Word::decode(*b"R\0\0\x01\0\0\0\0"), None);
    }
}
