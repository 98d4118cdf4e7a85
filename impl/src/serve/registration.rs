//! `run`'s side: an attempt is registered as long as its connection to `serve` is open on both sides. Whoever is there and does
//! not take the attempt is an error, never passed over in silence; only where nobody is there, `run` hosts the proxy itself.

use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use kusaw_enter::channel::{Until, receive_within, send};

use super::message::{self, Answer, Request, Serving};
use super::peer;
use super::place::{Place, SOCKET};
use crate::egress::grant::Grant;
use crate::outcome::{Reason, Refusal};

/// For an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// An attempt that `serve` answers for.
#[derive(Debug)]
pub struct Registration(UnixStream);

/// What became of an attempt's summary.
#[derive(Debug)]
pub enum Ended {
    /// It is written; the error is the first of all writes to the records.
    Told(io::Result<()>),
    /// `serve` has died: it will never write anything any more.
    Gone,
    /// It lives, but does not answer.
    Silent,
}

impl Registration {
    /// Has the `serve` of a factory answer for an attempt on these listeners; none where there is no `serve`. `records` are
    /// its egress.log and its events.
    ///
    /// # Errors
    /// Where there is one that does not take the attempt.
    pub fn make(
        factory: &Path,
        id: &str,
        grant: &Grant,
        records: [BorrowedFd; 2],
        listeners: &[OwnedFd],
    ) -> Result<Option<Registration>, Refusal> {
        let until = Instant::now() + ANSWER;
        let Some(stream) = connect(factory, until).map_err(|e| refused(factory, e))? else { return Ok(None) };
        let descriptors = records.iter().map(AsRawFd::as_raw_fd).chain(listeners.iter().map(AsRawFd::as_raw_fd));
        let request = Request::Attempt { attempt: id.into(), grant: grant.clone() };
        match ask(&stream, &request, &descriptors.collect::<Vec<_>>(), until) {
            Ok(Answer::Admitted) => Ok(Some(Registration(stream))),
            Ok(Answer::Refused { why, reason, fix }) => Err(Refusal { reason, fix, ..refused(factory, why) }),
            Ok(other) => Err(refused(factory, format!("it said {other:?}"))),
            Err(e) => Err(refused(factory, e)),
        }
    }

    /// Can be read when `serve` does not answer for the attempt any more: it says nothing unless it is asked.
    pub fn lost(&self) -> io::Result<OwnedFd> {
        self.0.as_fd().try_clone_to_owned()
    }

    /// The attempt is over: nothing of it lives.
    pub fn end(self) -> Ended {
        match ask(&self.0, &Request::End, &[], Instant::now() + ANSWER) {
            Ok(Answer::Ended { error }) => Ended::Told(error.map_or(Ok(()), |error| Err(io::Error::other(error)))),
            Err(e) if e.kind() == ErrorKind::TimedOut => Ended::Silent,
            // The kernel closes a socket of a process that was killed when none of its threads runs any more.
            _ => Ended::Gone,
        }
    }
}

/// Who serves a factory; none where nobody does.
///
/// # Errors
/// Where somebody does who cannot be asked.
pub fn serving(factory: &Path) -> io::Result<Option<Serving>> {
    let until = Instant::now() + ANSWER;
    let Some(stream) = connect(factory, until)? else { return Ok(None) };
    match ask(&stream, &Request::Status, &[], until)? {
        Answer::Status(serving) => Ok(Some(serving)),
        Answer::Refused { why, .. } => Err(io::Error::other(why)),
        other => Err(io::Error::other(format!("it said {other:?}"))),
    }
}

fn connect(factory: &Path, until: Instant) -> io::Result<Option<UnixStream>> {
    let Some(place) = Place::of(factory)? else { return Ok(None) };
    let Some(stream) = place.connect(until)? else { return Ok(None) };
    peer::is_same_user(&stream)?;
    Ok(Some(stream))
}

fn ask(stream: &UnixStream, request: &Request, descriptors: &[RawFd], until: Instant) -> io::Result<Answer> {
    let until = Until::at(until);
    match send(stream.as_fd(), &message::encode(request), descriptors, until) {
        // It has refused before it had heard all, and what it said is still there.
        Err(e) if matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {}
        sent => sent?,
    }
    let object = receive_within(stream.as_fd(), message::MAX, until)?;
    message::decode(&object).map_err(io::Error::other)
}

fn refused(factory: &Path, why: impl Display) -> Refusal {
    Refusal::new(Reason::ServeRefused, at(factory, why))
}

fn at(factory: &Path, what: impl Display) -> String {
    format!("{}: {what}", factory.join(SOCKET).display())
}
