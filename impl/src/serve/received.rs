//! Messages with descriptors, as `serve` gets them: bounded, and looked at before anything is done with them.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use kusaw_enter::channel::MAX_PORTS;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, getsockopt, recvmsg, sockopt};
use tokio::io::Interest;
use tokio::net::UnixStream;

use super::message::{self, Answer, Request};
use crate::egress::grant::Grant;
use crate::settings::is_name;

/// Most descriptors of one message: the two records, and a listener for each port of both loopbacks.
const MOST: usize = 2 + 2 * MAX_PORTS;

/// The most that the kernel lets one write carry (SCM_MAX_FD): with room for all of them none is ever cut off, which would
/// leave those before it open and unknown.
const CARRIED: usize = 253;

/// A whole request.
#[derive(Debug)]
pub struct Received {
    /// What is asked.
    pub request: Request,
    /// What came with it.
    pub descriptors: Vec<OwnedFd>,
}

/// The next request.
///
/// # Errors
/// Where it is none, or larger than any can be; `UnexpectedEof` where the peer has gone.
pub async fn receive(stream: &UnixStream) -> io::Result<Received> {
    let mut descriptors = Vec::new();
    let mut length = Vec::new();
    fill(stream, &mut length, 4, &mut descriptors).await?;
    let length = length.iter().rev().fold(0, |length, byte| length << 8 | usize::from(*byte));
    if length > message::MAX {
        return Err(io::Error::new(ErrorKind::InvalidData, "the message is too large"));
    }
    let mut object = Vec::new();
    fill(stream, &mut object, length, &mut descriptors).await?;
    Ok(Received { request: message::decode(&object).map_err(io::Error::other)?, descriptors })
}

/// Sends an answer.
///
/// # Errors
/// Where the peer has gone.
pub async fn answer(stream: &UnixStream, answer: &Answer) -> io::Result<()> {
    let bytes = message::encode(answer);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        stream.writable().await?;
        match stream.try_write(rest) {
            Ok(n) => rest = &rest[n..],
            Err(e) if e.kind() == ErrorKind::WouldBlock => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// What a request for an attempt holds: its id, its grant, the listeners, and the records.
///
/// # Errors
/// Where the descriptors are not what they must be.
pub fn attempt(received: Received) -> io::Result<(String, Grant, Vec<OwnedFd>, [File; 2])> {
    let Request::Attempt { attempt, grant } = received.request else { return Err(ErrorKind::InvalidInput.into()) };
    if !is_name(&attempt) {
        return Err(io::Error::other("that is no attempt id"));
    }
    let mut descriptors = received.descriptors.into_iter();
    let (Some(log), Some(events)) = (descriptors.next(), descriptors.next()) else {
        return Err(io::Error::other("the records did not come along"));
    };
    let listeners: Vec<OwnedFd> = descriptors.collect();
    if !listeners.iter().all(|one| getsockopt(one, sockopt::AcceptConn).unwrap_or(false)) {
        return Err(io::Error::other("what came along does not listen"));
    }
    Ok((attempt, grant, listeners, [record(log)?, record(events)?]))
}

/// A file that is only ever appended to.
fn record(descriptor: OwnedFd) -> io::Result<File> {
    let flags = OFlag::from_bits_truncate(fcntl(&descriptor, FcntlArg::F_GETFL)?);
    let file = File::from(descriptor);
    let writes = flags.intersection(OFlag::O_ACCMODE) != OFlag::O_RDONLY && flags.contains(OFlag::O_APPEND);
    if writes && file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("a record is no file for appending"))
    }
}

/// Reads until there are `length` bytes: what is not there yet takes no memory.
async fn fill(
    stream: &UnixStream,
    into: &mut Vec<u8>,
    length: usize,
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<()> {
    let mut piece = [0; 16 << 10];
    while into.len() < length {
        let most = piece.len().min(length - into.len());
        stream.readable().await?;
        match stream.try_io(Interest::READABLE, || take(stream.as_raw_fd(), &mut piece[..most], descriptors)) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => into.extend(&piece[..n]),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
        if descriptors.len() > MOST {
            return Err(io::Error::new(ErrorKind::InvalidData, "too many descriptors"));
        }
    }
    Ok(())
}

fn take(from: RawFd, into: &mut [u8], descriptors: &mut Vec<OwnedFd>) -> io::Result<usize> {
    let mut control = nix::cmsg_space!([RawFd; CARRIED]);
    let mut slices = [IoSliceMut::new(into)];
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_CMSG_CLOEXEC;
    let message = recvmsg::<()>(from, &mut slices, Some(&mut control), flags)?;
    for part in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = part {
            // SAFETY: the kernel has just made these descriptors for us; nobody else owns them.
            descriptors.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
        }
    }
    Ok(message.bytes)
}
