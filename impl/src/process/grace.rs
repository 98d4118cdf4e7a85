//! The time a step has between a signal that asks and the one that does not.

use std::time::{Duration, Instant};

use nix::poll::PollTimeout;

/// Its length.
pub const GRACE: Duration = Duration::from_secs(5);

/// Not begun at first; begun once, it runs.
#[derive(Debug, Default)]
pub struct Grace(Option<Instant>);

impl Grace {
    /// From now on; a second signal does not prolong it.
    pub fn begin(&mut self) {
        self.0.get_or_insert(Instant::now() + GRACE);
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
