//! Sending and receiving over the socketpair, descriptors included (SCM_RIGHTS), never past a deadline or
//! an interruption. A peer that is gone, silent or talks nonsense is an `io::Error`; it must never block
//! for ever where a deadline is given, and received descriptors are close-on-exec.
#![allow(unsafe_code)]

use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};

use crate::job::MAX;
use crate::message::{Message, SIZE};

/// Most ports a job names.
pub const MAX_PORTS: usize = 64;

/// Most descriptors one message brings: a listener for each port of both loopbacks, and a terminal. The kernel takes 253
/// (SCM_MAX_FD).
const MAX_DESCRIPTORS: usize = 2 * MAX_PORTS + 1;

/// How long to wait for the other side: for ever by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Until<'a> {
    /// Past it, the error is `TimedOut`.
    pub deadline: Option<Instant>,
    /// While this can be read, the error is `Interrupted` where there would be a wait.
    pub interrupt: Option<BorrowedFd<'a>>,
}

impl Until<'_> {
    /// Only a deadline.
    pub fn at(deadline: Instant) -> Self {
        Until { deadline: Some(deadline), interrupt: None }
    }
}

/// Sends the job's bytes behind their length; `fds` ride with the first byte.
pub fn send_job(to: BorrowedFd, job: &[u8], fds: &[RawFd], until: Until) -> io::Result<()> {
    let length = u32::try_from(job.len()).ok().filter(|n| *n as usize <= MAX);
    let length = length.ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "job too large"))?;
    send(to, &length.to_le_bytes(), fds, until)?;
    send(to, job, &[], until)
}

/// Receives what `send_job` sent.
pub fn receive_job(from: BorrowedFd, until: Until) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut fds = Vec::new();
    let mut length = [0; 4];
    receive(from, &mut length, &mut fds, until)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MAX {
        return Err(io::Error::new(ErrorKind::InvalidData, "job too large"));
    }
    let mut job = vec![0; length];
    receive(from, &mut job, &mut fds, until)?;
    Ok((job, fds))
}

/// Sends one message.
pub fn send_message(to: BorrowedFd, message: Message, fds: &[RawFd], until: Until) -> io::Result<()> {
    send(to, &message.encode(), fds, until)
}

/// Receives one message; `UnexpectedEof` when the peer is gone.
pub fn receive_message(from: BorrowedFd, fds: &mut Vec<OwnedFd>, until: Until) -> io::Result<Message> {
    let mut bytes = [0; SIZE];
    receive(from, &mut bytes, fds, until)?;
    Message::decode(bytes).ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "unknown message"))
}

/// Receives bytes that lie behind their length, which is at most `most`; no descriptors come along.
pub fn receive_within(from: BorrowedFd, most: usize, until: Until) -> io::Result<Vec<u8>> {
    let (mut length, mut none) = ([0; 4], Vec::new());
    receive(from, &mut length, &mut none, until)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > most {
        return Err(io::Error::new(ErrorKind::InvalidData, "message too large"));
    }
    let mut bytes = vec![0; length];
    receive(from, &mut bytes, &mut none, until)?;
    Ok(bytes)
}

/// Sends bytes as they are; `fds` ride with the first.
pub fn send(to: BorrowedFd, mut bytes: &[u8], mut fds: &[RawFd], until: Until) -> io::Result<()> {
    while !bytes.is_empty() {
        let rights = [ControlMessage::ScmRights(fds)];
        let control = if fds.is_empty() { &rights[..0] } else { &rights[..] };
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
        match sendmsg::<()>(to.as_raw_fd(), &[IoSlice::new(bytes)], control, flags, None) {
            Ok(n) => {
                bytes = &bytes[n..];
                fds = &[];
            }
            Err(Errno::EAGAIN) => wait(to, PollFlags::POLLOUT, until)?,
            Err(Errno::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}

fn receive(from: BorrowedFd, mut into: &mut [u8], fds: &mut Vec<OwnedFd>, until: Until) -> io::Result<()> {
    while !into.is_empty() {
        let mut control = nix::cmsg_space!([RawFd; MAX_DESCRIPTORS]);
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_CMSG_CLOEXEC;
        let mut slices = [IoSliceMut::new(into)];
        let got = match recvmsg::<()>(from.as_raw_fd(), &mut slices, Some(&mut control), flags) {
            Ok(message) => {
                for part in message.cmsgs()? {
                    if let ControlMessageOwned::ScmRights(raw) = part {
                        // SAFETY: the kernel has just made these descriptors for us; nobody else owns them.
                        fds.extend(raw.into_iter().map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }));
                    }
                }
                message.bytes
            }
            Err(Errno::EAGAIN) => {
                wait(from, PollFlags::POLLIN, until)?;
                continue;
            }
            Err(Errno::EINTR) => continue,
            Err(e) => return Err(e.into()),
        };
        if got == 0 {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        into = &mut into[got..];
    }
    Ok(())
}

/// Waits until `on` is ready, or something goes wrong with it.
pub fn wait(on: BorrowedFd, what: PollFlags, until: Until) -> io::Result<()> {
    let timeout = match until.deadline.map(|d| d.saturating_duration_since(Instant::now())) {
        None => PollTimeout::NONE,
        Some(Duration::ZERO) => return Err(ErrorKind::TimedOut.into()),
        // Rounded up, so that a part of a millisecond does not spin.
        Some(left) => PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX),
    };
    let interrupt = until.interrupt.map(|fd| PollFd::new(fd, PollFlags::POLLIN));
    let mut on: Vec<PollFd> = [PollFd::new(on, what)].into_iter().chain(interrupt).collect();
    match poll(&mut on, timeout) {
        Ok(_) if on.get(1).is_some_and(|p| p.any().unwrap_or(false)) => Err(ErrorKind::Interrupted.into()),
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_job_larger_than_the_socket_buffer_arrives_with_its_descriptors() {
        let (a, b) = UnixStream::pair().unwrap();
        let sent: Vec<u8> = (0..1_000_000u32).map(|n| n as u8).collect();
        let copy = sent.clone();
        let sender = std::thread::spawn(move || send_job(a.as_fd(), &copy, &[0, 1, 2], Until::default()));
        let (got, fds) = receive_job(b.as_fd(), Until::default()).unwrap();
        sender.join().unwrap().unwrap();
        assert_eq!((got, fds.len()), (sent, 3));
    }

    #[test]
    fn a_silent_or_full_peer_ends_in_a_timeout() {
        let (a, b) = UnixStream::pair().unwrap();
        let soon = || Until::at(Instant::now() + Duration::from_millis(30));
        let silent = receive_message(b.as_fd(), &mut Vec::new(), soon()).unwrap_err();
        assert_eq!(silent.kind(), ErrorKind::TimedOut);
        let full = send_job(a.as_fd(), &vec![0; MAX], &[], soon()).unwrap_err();
        assert_eq!(full.kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn whoever_waits_can_be_interrupted() {
        let (_a, b) = UnixStream::pair().unwrap();
        let (reader, writer) = nix::unistd::pipe().unwrap();
        nix::unistd::write(&writer, b"x").unwrap();
        let until = Until { interrupt: Some(reader.as_fd()), ..Until::default() };
        let interrupted = receive_message(b.as_fd(), &mut Vec::new(), until).unwrap_err();
        assert_eq!(interrupted.kind(), ErrorKind::Interrupted);
    }

    #[test]
    fn a_gone_peer_is_an_end() {
        let (a, b) = UnixStream::pair().unwrap();
        drop(a);
        let gone = receive_message(b.as_fd(), &mut Vec::new(), Until::default()).unwrap_err();
        assert_eq!(gone.kind(), ErrorKind::UnexpectedEof);
    }
}
