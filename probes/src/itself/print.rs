//! `print BYTES`: writes so many bytes to stdout, in lines of `x`. It gives up where nobody takes them.

use std::io::{self, Write};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words, number};

const MAX: usize = 1 << 30;
const LINE: usize = 64;
/// What a pipe takes at once when it is ready to be written to: PIPE_BUF of pipe(7).
const PIECE: usize = 4096;
/// How long a reader may take for one piece, in milliseconds.
const PATIENCE: u16 = 10_000;

/// Writes.
pub struct Print {
    bytes: usize,
}

impl Print {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [bytes] = words.exactly(["BYTES"])?;
        Ok(Self { bytes: number(&bytes, "BYTES", 0..=MAX)? })
    }
}

impl Action for Print {
    fn target(&self) -> String {
        self.bytes.to_string()
    }

    fn run(&self) -> Seen {
        let (mut out, mut written) = (io::stdout().lock(), 0);
        let mut result = Ok(());
        while written < self.bytes && result.is_ok() {
            let piece = lines(PIECE.min(self.bytes - written));
            result = ready(&out).and_then(|()| out.write_all(&piece)).and_then(|()| out.flush());
            written += if result.is_ok() { piece.len() } else { 0 };
        }
        Seen::tried(result, Json::object([("written", Json::count(written))]))
    }
}

/// The last byte ends a line, so that the next one is whole.
fn lines(length: usize) -> Vec<u8> {
    (1..=length).map(|at| if at % LINE == 0 || at == length { b'\n' } else { b'x' }).collect()
}

fn ready(out: &impl AsFd) -> io::Result<()> {
    let mut polled = [PollFd::new(out.as_fd(), PollFlags::POLLOUT)];
    match poll(&mut polled, PollTimeout::from(PATIENCE))? {
        0 => Err(Errno::ETIMEDOUT.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_asked_for() {
        assert_eq!(lines(3), b"xx\n");
        assert_eq!(lines(0), b"");
        assert_eq!(lines(130).split(|byte| *byte == b'\n').map(<[u8]>::len).collect::<Vec<_>>(), [63, 63, 1, 0]);
    }
}
