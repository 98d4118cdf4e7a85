//! `socket PATH|@NAME [--type stream|dgram|seqpacket]`: connects to a Unix socket, by its path or in
//! the abstract namespace, sends nothing and reads what comes by itself. It never waits for a full
//! backlog, and not for long for a reply.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, socket};

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

const PATIENCE: Duration = Duration::from_millis(300);
const MAX_REPLY: usize = 256;

/// Connects to a socket of this machine.
pub struct Socket {
    kind: SockType,
    at: OsString,
}

impl Socket {
    pub fn parse(mut words: Words) -> Result<Self, Usage> {
        let kind = match words.value("--type")?.as_ref().map(|word| word.to_string_lossy()).as_deref() {
            None | Some("stream") => SockType::Stream,
            Some("dgram") => SockType::Datagram,
            Some("seqpacket") => SockType::SeqPacket,
            Some(other) => return Err(Usage(format!("--type is stream, dgram or seqpacket, not {other:?}"))),
        };
        let [at] = words.exactly(["PATH|@NAME"])?;
        Ok(Self { kind, at })
    }
}

/// A connection to PATH or @NAME. A call on a non-blocking socket ends at once (EAGAIN for a full backlog).
pub fn connected(kind: SockType, at: &OsStr) -> io::Result<UnixStream> {
    let address = match at.as_bytes().strip_prefix(b"@") {
        Some(name) => in_abstract(name)?,
        None => UnixAddr::new(at)?,
    };
    // Only the descriptor counts: a stream of std reads from a socket of any type.
    let stream = UnixStream::from(socket(AddressFamily::Unix, kind, SockFlag::empty(), None)?);
    stream.set_nonblocking(true)?;
    connect(stream.as_raw_fd(), &address)?;
    Ok(stream)
}

impl Action for Socket {
    fn target(&self) -> String {
        self.at.to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        match connected(self.kind, &self.at).and_then(reply) {
            Ok((reply, closed)) => {
                Seen::ok(Json::object([("reply", Json::from(&reply[..])), ("closed", Json::Bool(closed))]))
            }
            Err(error) => error.into(),
        }
    }
}

/// What comes first, and whether the other side hung up instead.
fn reply(mut stream: UnixStream) -> io::Result<(Vec<u8>, bool)> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut buffer = [0; MAX_REPLY];
    Ok(match stream.read(&mut buffer) {
        Ok(length) => (buffer[..length].to_vec(), length == 0),
        Err(error) => (Vec::new(), error.kind() == io::ErrorKind::ConnectionReset),
    })
}

#[cfg(target_os = "linux")]
fn in_abstract(name: &[u8]) -> io::Result<UnixAddr> {
    Ok(UnixAddr::new_abstract(name)?)
}

#[cfg(not(target_os = "linux"))]
fn in_abstract(_name: &[u8]) -> io::Result<UnixAddr> {
    Err(io::Error::from_raw_os_error(libc::EAFNOSUPPORT))
}
