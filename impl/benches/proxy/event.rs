//! An event of a stream (server-sent events, HTML Living Standard 9.2): it says when it was sent, by a clock that all processes
//! of the machine share.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::net::TcpStream;
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};

/// Between two events of a stream; about as fast as a model speaks.
pub const EVERY: Duration = Duration::from_millis(10);

/// Streams at the same time.
pub const STREAMS: usize = 50;

/// Of an event, as a token with what a provider writes around it.
const SIZE: usize = 200;

/// One sent now, as a chunk of an answer.
pub fn chunk() -> io::Result<String> {
    let event = format!("data: {:0width$}\n\n", now()?, width = SIZE - "data: \n\n".len());
    Ok(format!("{SIZE:x}\r\n{event}\r\n"))
}

/// In ns.
pub fn now() -> io::Result<u64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    Ok(now.tv_sec().cast_unsigned() * 1_000_000_000 + now.tv_nsec().cast_unsigned())
}

/// What came with the answer's head, then what comes.
type Body = BufReader<Chain<Cursor<Vec<u8>>, TcpStream>>;

/// A client's end of a stream.
pub struct Listener(BufReader<Chunked<Body>>);

impl Listener {
    /// Of an answer's body in chunks, of which these bytes came with its head.
    pub fn new(came: Vec<u8>, stream: TcpStream) -> Listener {
        let from = BufReader::new(Cursor::new(came).chain(stream));
        Listener(BufReader::new(Chunked { from, left: 0 }))
    }

    /// How many µs each event was under way that is sent between these times.
    pub fn hear(&mut self, from: u64, until: u64) -> io::Result<Vec<f64>> {
        let mut times = Vec::new();
        let mut line = String::new();
        loop {
            line.clear();
            if self.0.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let Some(sent) = line.strip_prefix("data: ") else { continue };
            let (sent, now) = (sent.trim_end().parse::<u64>().map_err(io::Error::other)?, now()?);
            if sent >= until {
                return Ok(times);
            }
            if sent >= from {
                times.push(now.saturating_sub(sent) as f64 / 1e3);
            }
        }
    }
}

/// A body without the marks of its chunks (RFC 9112 7.1), which are each proxy's own.
struct Chunked<R> {
    from: R,
    /// Bytes of this chunk that have not come.
    left: u64,
}

impl<R: BufRead> Read for Chunked<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            let mut size = String::new();
            self.from.read_line(&mut size)?;
            self.left = u64::from_str_radix(size.trim_end(), 16)
                .map_err(|e| io::Error::other(format!("size of a chunk: {size:?}: {e}")))?;
        }
        let n = self.from.by_ref().take(self.left).read(to)?;
        self.left -= n as u64;
        if n > 0 && self.left == 0 {
            self.from.read_exact(&mut [0; 2])?;
        }
        Ok(n)
    }
}
