//! The short messages after the job, eight bytes each: a letter, three zero bytes, a number.
//! Pure; an unknown letter is `None` and both sides take it as the end of the conversation.

/// Size of every message in bytes.
pub const SIZE: usize = 8;

/// What one side tells the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// Stage: it runs, and waits for the job.
    Here,
    /// Stage: ready; as many listening descriptors come along as the job named ports, and the master of the step's
    /// terminal if it has one.
    Ready(i32),
    /// Stage: could not get ready (errno).
    Failed(i32),
    /// Stage: could not listen on a port the job named (errno).
    NoListener(i32),
    /// Stage: whatever started it made no sandbox: it is not pid 1 of a PID namespace (its pid), or it is (1) and
    /// still in the launcher's mount namespace.
    NotConfined(i32),
    /// Stage: at this one of the job's places something else is shown.
    Exchanged(i32),
    /// Launcher: start the step.
    Go,
    /// Stage: result of execve: 0, or errno.
    Exec(i32),
    /// Stage: this part of what comes before execve failed (errno).
    Setup(Part, i32),
    /// Launcher: send this signal to the step's process group.
    Signal(i32),
    /// Stage: the step's raw wait status.
    Status(i32),
}

/// What can fail before execve; each has a letter of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Part {
    /// Entering the working folder.
    Folder = b'f',
    /// Placing stdin, stdout and stderr.
    Descriptors = b'd',
    /// Making the step's terminal, or making it that of its session.
    Terminal = b't',
    /// Leaving other processes' signals and abstract sockets out of reach.
    Landlock = b'l',
    /// Applying the filter of system calls.
    Filter = b's',
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 5] = [Part::Folder, Part::Descriptors, Part::Terminal, Part::Landlock, Part::Filter];

    /// The one with this letter.
    pub fn of(letter: u8) -> Option<Part> {
        Part::ALL.into_iter().find(|part| *part as u8 == letter)
    }
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Part::Folder => "the step's working folder",
            Part::Descriptors => "the step's descriptors",
            Part::Terminal => "the step's terminal",
            Part::Landlock => "Landlock",
            Part::Filter => "the filter of system calls",
        })
    }
}

impl Message {
    /// The message's bytes.
    pub fn encode(self) -> [u8; SIZE] {
        let (letter, n) = match self {
            Message::Ready(n) => (b'R', n),
            Message::Failed(n) => (b'F', n),
            Message::NoListener(n) => (b'L', n),
            Message::NotConfined(n) => (b'N', n),
            Message::Exchanged(n) => (b'E', n),
            Message::Here => (b'H', 0),
            Message::Go => (b'G', 0),
            Message::Exec(n) => (b'X', n),
            Message::Setup(part, n) => (part as u8, n),
            Message::Signal(n) => (b'S', n),
            Message::Status(n) => (b'W', n),
        };
        let [a, b, c, d] = n.to_le_bytes();
        [letter, 0, 0, 0, a, b, c, d]
    }

    /// The message in these bytes, if it is one.
    pub fn decode(bytes: [u8; SIZE]) -> Option<Message> {
        let [letter, 0, 0, 0, a, b, c, d] = bytes else { return None };
        let n = i32::from_le_bytes([a, b, c, d]);
        Some(match letter {
            b'R' => Message::Ready(n),
            b'F' => Message::Failed(n),
            b'L' => Message::NoListener(n),
            b'N' => Message::NotConfined(n),
            b'E' => Message::Exchanged(n),
            b'H' => Message::Here,
            b'G' => Message::Go,
            b'X' => Message::Exec(n),
            b'S' => Message::Signal(n),
            b'W' => Message::Status(n),
            letter => Message::Setup(Part::of(letter)?, n),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_comes_back() {
        for n in [0, 1, -1, 0x8b, i32::MAX, i32::MIN] {
            let answers = [Message::Ready(n), Message::Failed(n), Message::NoListener(n), Message::NotConfined(n)];
            let later = [Message::Exchanged(n), Message::Exec(n), Message::Signal(n), Message::Status(n)];
            for message in answers.into_iter().chain(later).chain(Part::ALL.map(|part| Message::Setup(part, n))) {
                assert_eq!(Message::decode(message.encode()), Some(message));
            }
        }
        for word in [Message::Here, Message::Go] {
            assert_eq!(Message::decode(word.encode()), Some(word));
        }
    }

    #[test]
    fn noise_is_no_message() {
        assert_eq!(Message::decode(*b"Z\0\0\0\0\0\0\0"), None);
        assert_eq!(Message::decode(*b"R\0\0\x01\0\0\0\0"), None);
    }
}
