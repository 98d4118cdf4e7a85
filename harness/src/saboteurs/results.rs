//! What came of the faults so far: `target/saboteurs/saboteurs.ndjson`, a line a fault, of the newest run of each.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::fault::Fault;
use super::judge::{Row, State};

/// Rows by the fault's name.
pub struct Results {
    path: PathBuf,
    rows: BTreeMap<String, Row>,
}

impl Results {
    /// Reads what is there; rows of faults that are no more, or are others by now, are left out.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    pub fn read(path: &Path, faults: &[Fault]) -> Result<Self, String> {
        let text = match fs::read_to_string(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
            read => read.map_err(|e| format!("{}: {e}", path.display()))?,
        };
        let is_of_today =
            |row: &Row| faults.iter().any(|fault| fault.name == row.fault && fault.digest() == row.digest);
        // A line of another format is one of another time: its fault is put in force again.
        let rows = text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(is_of_today);
        Ok(Self { path: path.to_owned(), rows: rows.map(|row| (row.fault.clone(), row)).collect() })
    }

    /// Whether its row says that it was caught.
    pub fn is_caught(&self, fault: &str) -> bool {
        self.rows.get(fault).is_some_and(|row| row.state == State::Caught)
    }

    /// The row of a fault.
    pub fn get(&self, fault: &str) -> Option<&Row> {
        self.rows.get(fault)
    }

    /// The rows of these faults, in their order.
    pub fn of<'a>(&'a self, faults: &'a [&Fault]) -> impl Iterator<Item = &'a Row> {
        faults.iter().filter_map(|fault| self.get(&fault.name))
    }

    /// Puts it in the place of an older one; the file is whole at every time.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, row: Row) -> Result<(), String> {
        self.rows.insert(row.fault.clone(), row);
        let told = |e: io::Error| format!("{}: {e}", self.path.display());
        let lines: Result<Vec<String>, _> = self.rows.values().map(serde_json::to_string).collect();
        let text = lines.map_err(|e| told(e.into()))?.join("\n") + "\n";
        let new = self.path.with_extension("new");
        fs::write(&new, text).and_then(|()| fs::rename(&new, &self.path)).map_err(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::saboteurs::judge;

    fn fault(name: &str, how: &str) -> Fault {
        serde_yaml::from_str(&format!("{{name: {name}, breaks: SEC-07, how: {how}}}")).unwrap()
    }

    #[test]
    fn a_run_of_some_leaves_the_rows_of_others() {
        let path = std::env::temp_dir().join(format!("kusaw-results-{}.ndjson", std::process::id()));
        let faults = [fault("a", "x"), fault("b", "x")];
        for fault in &faults {
            let row = judge::row(fault, Err("spoilt".to_owned().into()), 1);
            Results::read(&path, &faults).unwrap().add(row).unwrap();
        }
        let count =
            |faults: &[Fault]| Results::read(&path, faults).unwrap().of(&faults.iter().collect::<Vec<_>>()).count();
        assert_eq!(count(&faults), 2);
        assert!(!Results::read(&path, &faults).unwrap().is_caught("a"));
        assert_eq!(count(&[fault("a", "another now"), fault("b", "x")]), 1);
        fs::remove_file(&path).unwrap();
        assert_eq!(count(&faults), 0);
    }
}
