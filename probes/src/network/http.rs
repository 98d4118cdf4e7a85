//! Just enough of HTTP/1.1 to know when an answer is complete, so that an origin that keeps its
//! connection open does not cost a timeout. Everything stays bytes; nothing is checked.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

/// The most that is kept of an answer.
pub const MAX_REPLY: usize = 4096;
/// How long more is awaited behind an answer that is not HTTP.
const LINGER: Duration = Duration::from_millis(300);

/// A connection whose every read and write ends at one deadline.
pub struct Connection {
    stream: TcpStream,
    deadline: Instant,
    /// What arrived and was not taken yet.
    waiting: Vec<u8>,
}

impl Connection {
    pub fn new(stream: TcpStream, deadline: Instant) -> Self {
        Self { stream, deadline, waiting: Vec::new() }
    }

    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.set_write_timeout(Some(left(self.deadline)?))?;
        self.stream.write_all(bytes)
    }

    /// The header block of an answer, with its blank line; what follows it stays waiting. At the end
    /// of the stream it is what there was.
    pub fn head(&mut self) -> io::Result<Vec<u8>> {
        while header_end(&self.waiting).is_none() && self.more(self.deadline)? {}
        let end = header_end(&self.waiting).unwrap_or(self.waiting.len());
        Ok(self.waiting.drain(..end).collect())
    }

    /// What comes behind `already`: up to the end of the answer, of the stream or of patience,
    /// whichever is first. An error counts only where nothing came at all.
    pub fn reply(&mut self, already: Vec<u8>) -> io::Result<Vec<u8>> {
        let mut reply = already;
        reply.append(&mut self.waiting);
        while reply.len() < MAX_REPLY && !complete(&reply) {
            let http = reply.is_empty() || reply.starts_with(b"HTTP/") || b"HTTP/".starts_with(&reply);
            let until = if http { self.deadline } else { self.deadline.min(Instant::now() + LINGER) };
            match self.more(until) {
                Ok(true) => reply.append(&mut self.waiting),
                Ok(false) => break,
                Err(error) if reply.is_empty() => return Err(error),
                Err(_) => break,
            }
        }
        reply.truncate(MAX_REPLY);
        Ok(reply)
    }

    /// What comes until nothing came for so long, at most `max` bytes. Before the first byte it has all of its time. Whether
    /// the other side has hung up goes to `closed`.
    pub fn until_lull(&mut self, lull: Duration, max: usize, closed: &mut bool) -> Vec<u8> {
        let mut heard = std::mem::take(&mut self.waiting);
        while heard.len() < max {
            let until = if heard.is_empty() { self.deadline } else { self.deadline.min(Instant::now() + lull) };
            match self.more(until) {
                Ok(true) => heard.append(&mut self.waiting),
                Ok(false) => *closed = true,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => *closed = true,
                Err(_) => break, // nothing came
            }
            if *closed {
                break;
            }
        }
        heard.truncate(max);
        heard
    }

    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.stream.shutdown(how)
    }

    /// Waits for bytes; false at the end of the stream, or where more than enough are waiting.
    fn more(&mut self, until: Instant) -> io::Result<bool> {
        if self.waiting.len() >= MAX_REPLY {
            return Ok(false);
        }
        self.stream.set_read_timeout(Some(left(until)?))?;
        let mut buffer = [0; MAX_REPLY];
        let length = self.stream.read(&mut buffer)?;
        self.waiting.extend(&buffer[..length]);
        Ok(length > 0)
    }
}

/// What is left until the deadline, never zero (that would mean "for ever").
pub fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Basic credentials (RFC 7617) of the user part of a URL, where `%40` stands for `@`.
pub fn basic(user: &str) -> String {
    format!("Basic {}", base64(&percent_decoded(user)))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let code = code.and_then(|c| u8::from_str_radix(std::str::from_utf8(c).ok()?, 16).ok());
        decoded.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    decoded
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let word = three.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place)) as usize % 64];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// The status code of an answer.
pub fn status(answer: &[u8]) -> Option<u16> {
    let line = answer.split(|byte| *byte == b'\r' || *byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    line.strip_prefix("HTTP/")?.split(' ').nth(1)?.parse().ok()
}

fn header_end(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

fn complete(answer: &[u8]) -> bool {
    let Some(end) = header_end(answer).filter(|_| answer.starts_with(b"HTTP/")) else {
        return false;
    };
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim));
    if field("transfer-encoding").is_some() {
        return answer.ends_with(b"0\r\n\r\n");
    }
    match field("content-length").map(str::parse::<usize>) {
        Some(Ok(length)) => answer.len() - end >= length,
        _ => matches!(status(answer), Some(204 | 304)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_where_it_says() {
        for (answer, ends) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true),
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok", false),
            ("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nok", false),
            ("HTTP/1.1 200 OK\r\n\r\nok", false),
            ("HTTP/1.1 204 No Content\r\n\r\n", true),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", false),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true),
            ("220 mail\r\n\r\n", false),
            ("", false),
        ] {
            assert_eq!(complete(answer.as_bytes()), ends, "{answer:?}");
        }
    }

    #[test]
    fn credentials_are_as_the_rfcs_say() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
            assert_eq!(base64(bytes.as_bytes()), text); // RFC 4648, section 10
        }
        assert_eq!(basic("Aladdin:open%20sesame"), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="); // RFC 7617, section 2
        assert_eq!(percent_decoded("100%%4z%4"), b"100%%4z%4");
    }

    #[test]
    fn a_status_is_the_second_word() {
        assert_eq!(status(b"HTTP/1.1 403 Filtered\r\n"), Some(403));
        assert_eq!(status(b"HTTP/1.0 200"), Some(200));
        assert_eq!(status(b"220 mail\r\n"), None);
        assert_eq!(status(b""), None);
    }
}
