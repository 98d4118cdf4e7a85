//! How much a checkout of the branches writes: a few objects, named again and again, can be more than any disk.

use std::collections::HashMap;

use super::batch;
use super::changes::{self, Change};
use super::code::{Code, Fault};
use super::objects::Quarantine;
use super::refs::Wanted;
use super::run::Watch;
use crate::git::record::Record;

/// What one branch may have that its base has not, in bytes of files.
const MOST: u64 = 2 << 30;

/// What files.
const FILES: [&[u8]; 2] = [b"100644", b"100755"];

/// A sum of the sizes of files.
#[derive(Debug, Default)]
pub struct Weight {
    sum: u64,
    /// Of files that the repository has: how often.
    known: HashMap<String, u64>,
}

impl Weight {
    /// Puts a change on the scales.
    pub fn add(&mut self, quarantine: &Quarantine, change: &Change) {
        if !FILES.contains(&change.mode) {
            return;
        }
        match quarantine.new.get(change.id) {
            Some((_, size)) => self.sum = self.sum.saturating_add(*size),
            None => *self.known.entry(change.id.into()).or_default() += 1,
        }
    }

    fn sum(&self, quarantine: &Quarantine, watch: &Watch) -> Result<u64, Fault> {
        let ids: Vec<&[u8]> = self.known.keys().map(String::as_bytes).collect();
        let sizes = batch::sizes(quarantine, &ids, watch)?;
        let sizes = sizes.into_iter().zip(self.known.values());
        // What is not there (a partial clone) will have to be fetched: git's own matter.
        Ok(sizes
            .fold(self.sum, |sum, (size, times)| sum.saturating_add(size.unwrap_or_default().saturating_mul(*times))))
    }

    /// Whether what was put on is little; if it is not, each tip is weighed against the base.
    ///
    /// # Errors
    /// When a tip is too heavy.
    pub fn check(self, quarantine: &Quarantine, wanted: &Wanted, record: &Record, watch: &Watch) -> Result<(), Fault> {
        if self.sum(quarantine, watch)? <= MOST {
            return Ok(());
        }
        for tip in wanted.tips() {
            let mut weight = Weight::default();
            let line = format!("{tip} {}\n", record.base);
            changes::each(quarantine, &line, watch, &mut |change| {
                weight.add(quarantine, change);
                Ok(())
            })?;
            let sum = weight.sum(quarantine, watch)?;
            if sum > MOST {
                let said = format!("{} writes {sum} bytes more than its base; {MOST} are allowed", &tip[..12]);
                return Err(Fault::new(Code::TooLarge, said));
            }
        }
        Ok(())
    }
}
