//! `sleep MS`: does nothing for so many milliseconds, at most ten minutes.

use std::thread;
use std::time::Duration;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words, number};

const MAX: u64 = 600_000;

/// Waits.
pub struct Sleep {
    milliseconds: u64,
}

impl Sleep {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        let [milliseconds] = words.exactly(["MS"])?;
        Ok(Self { milliseconds: number(&milliseconds, "MS", 0..=MAX)? })
    }
}

impl Action for Sleep {
    fn target(&self) -> String {
        self.milliseconds.to_string()
    }

    fn run(&self) -> Seen {
        thread::sleep(Duration::from_millis(self.milliseconds));
        Seen::ok(Json::nothing())
    }
}
