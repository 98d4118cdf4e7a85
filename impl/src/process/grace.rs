//! The time a step has: between a signal that asks and the one that does not, or from its start on.

use std::time::{Duration, Instant};

use nix::poll::PollTimeout;

/// Its length.
pub const GRACE: Duration = Duration::from_secs(5);

/// Not begun at first; begun once, it runs.
#[derive(Debug, Default)]
pub struct Grace(Option<Instant>);

impl Grace {
    /// One that runs from the beginning and is so long; never over without a length.
    pub fn of(length: Option<Duration>) -> Grace {
        Grace(length.map(|length| Instant::now() + length))
    }

    /// From now on; nothing prolongs it.
    pub fn begin(&mut self) {
        let end = Instant::now() + GRACE;
        self.0 = Some(self.0.map_or(end, |already| already.min(end)));
    }

    /// How long to wait for something else; `None` = it is over.
    pub fn left(&self) -> Option<PollTimeout> {
        match self.0.map(|end| end.saturating_duration_since(Instant::now())) {
            None => Some(PollTimeout::NONE),
            Some(Duration::ZERO) => None,
            // Rounded up, so that a part of a millisecond does not spin.
            Some(left) => Some(PollTimeout::try_from(left.as_millis() + 1).unwrap_or(PollTimeout::MAX)),
        }
    }
}
