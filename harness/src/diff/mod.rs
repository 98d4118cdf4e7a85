//! What changed between two runs, and what exactly one of several implementations breaks.
//!
//! Pure: from records to text. A difference of versions, knobs or digests is told, and is none of what was judged.

mod alone;
mod changes;

pub use alone::{Alone, alone};
pub use changes::{Changes, changes};

use crate::record::Record;

/// The records of several runs, each with its name: that of its driver, with where it lies if two have the same.
pub fn named(records: Vec<(String, Record)>) -> Vec<(String, Record)> {
    let names: Vec<String> = records.iter().map(|(_, record)| record.run.driver.clone()).collect();
    let is_alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let name = |(place, record): (String, Record)| {
        let driver = record.run.driver.clone();
        (if is_alone(&driver) { driver } else { format!("{driver} ({place})") }, record)
    };
    records.into_iter().map(name).collect()
}

/// Pairs of runs of one driver, and the drivers that only one side has.
pub struct Pairs {
    /// The run then and now.
    pub both: Vec<(Record, Record)>,
    /// Drivers that were run then alone.
    pub gone: Vec<String>,
    /// Drivers that were run now alone.
    pub new: Vec<String>,
}

/// Pairs the runs of two sides by driver; two single runs are a pair, whatever their drivers.
///
/// # Errors
/// When a side has two runs of one driver: which.
pub fn pairs(then: Vec<(String, Record)>, now: Vec<(String, Record)>) -> Result<Pairs, String> {
    let mut pairs = Pairs { both: Vec::new(), gone: Vec::new(), new: Vec::new() };
    for side in [&then, &now] {
        for (at, (place, record)) in side.iter().enumerate() {
            if let Some((other, _)) = side[..at].iter().find(|(_, r)| r.run.driver == record.run.driver) {
                let driver = &record.run.driver;
                return Err(format!("{other} and {place} are both runs of {driver}: which one is meant?"));
            }
        }
    }
    let mut now: Vec<Record> = now.into_iter().map(|(_, record)| record).collect();
    let are_single = then.len() == 1 && now.len() == 1;
    for (_, record) in then {
        match now.iter().position(|other| are_single || other.run.driver == record.run.driver) {
            Some(at) => pairs.both.push((record, now.remove(at))),
            None => pairs.gone.push(record.run.driver),
        }
    }
    pairs.new = now.into_iter().map(|record| record.run.driver).collect();
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::record;

    fn side(drivers: &[&str]) -> Vec<(String, Record)> {
        drivers.iter().enumerate().map(|(n, d)| (format!("p{n}"), record(d, Vec::new()))).collect()
    }

    #[test]
    fn folders_of_runs_are_compared_driver_by_driver() {
        let pairs = pairs(side(&["a", "b"]), side(&["b", "c"])).unwrap();
        assert_eq!((pairs.both.len(), pairs.gone, pairs.new), (1, vec!["a".to_owned()], vec!["c".to_owned()]));
        assert_eq!(super::pairs(side(&["a"]), side(&["b"])).unwrap().both.len(), 1);
        assert!(
            super::pairs(side(&["a", "a"]), side(&["a"])).is_err_and(|e| e.contains("p0 and p1 are both runs of a"))
        );
    }

    #[test]
    fn two_runs_of_one_driver_are_told_apart_by_their_place() {
        let names: Vec<String> = named(side(&["a", "b", "a"])).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a (p0)", "b", "a (p2)"]);
    }
}
