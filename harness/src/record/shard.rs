//! A share of a run: `--shard 2/3`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of several shares that together are the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema, Serialize)]
pub struct Shard {
    /// Which, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

impl Shard {
    /// Whether it has the scenario at a position, from 0, of all that are selected. Scenarios that stand together take alike
    /// long, so they are dealt out one by one.
    pub fn has(self, position: usize) -> bool {
        position % self.of == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |word: &str| word.parse::<usize>().ok().filter(|n| *n > 0);
        let numbers = text.split_once('/').and_then(|(own, of)| Some((number(own)?, number(of)?)));
        match numbers {
            Some((number, of)) if number <= of => Ok(Self { number, of }),
            Some((number, of)) => Err(format!("there is no shard {number} of {of}; the last is {of}/{of}")),
            None => Err("a shard is I/N, the first of three is 1/3".to_owned()),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_in_exactly_one_shard() {
        for of in 1..=7 {
            for position in 0..50 {
                assert_eq!((1..=of).filter(|number| Shard { number: *number, of }.has(position)).count(), 1);
            }
        }
    }

    #[test]
    fn what_is_no_shard_is_refused() {
        assert_eq!("2/3".parse(), Ok(Shard { number: 2, of: 3 }));
        for wrong in ["0/3", "4/3", "x", "1/0", "1", "/", "1/3/3", "-1/3"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
