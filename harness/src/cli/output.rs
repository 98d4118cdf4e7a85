//! What a run leaves on the real host.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::catalogue::Catalogue;
use crate::record::{Run, ScenarioLine, exit_code};
use crate::text::print;
use crate::{junit, summary};

/// The names of what a run leaves.
const FILES: [&str; 3] = ["run.ndjson", "report.md", "junit.xml"];

/// All that a run leaves: the record, and what is rendered from it for people and for test runners.
pub struct Outputs {
    record: Output,
    report: Output,
    junit: Output,
}

impl Outputs {
    /// Opens them.
    ///
    /// # Errors
    /// When one cannot be written.
    pub fn create(folder: &Path) -> Result<Self, String> {
        let create = |name| Output::create(folder, name);
        let [record, report, junit] = FILES;
        Ok(Self { record: create(record)?, report: create(report)?, junit: create(junit)? })
    }

    /// Takes away what an earlier run left in a folder, and nothing else.
    ///
    /// # Errors
    /// When it cannot be taken away.
    pub fn remove(folder: &Path) -> Result<(), String> {
        FILES.map(|name| folder.join(name)).iter().try_for_each(|path| {
            remove(path).map_err(|e| format!("{}: {e}; it is of an earlier run, remove it", path.display()))
        })
    }

    /// Handles of them, for the lab.
    ///
    /// # Errors
    /// When the process has too many files open.
    pub fn files(&self) -> Result<Files, String> {
        let (record, report) = (self.record.handle()?, self.report.handle()?);
        Ok(Files { record, report, junit: self.junit.handle()? })
    }

    /// Puts them in their places, and says where the report is.
    ///
    /// # Errors
    /// When one cannot be put there.
    pub fn finish(self) -> Result<(), String> {
        self.record.finish()?;
        self.junit.finish()?;
        let report = self.report.path.clone();
        if self.report.finish()? {
            print(&format!("report: {}\n", report.display()));
        }
        Ok(())
    }
}

/// The files of a run, open.
pub struct Files {
    record: File,
    report: File,
    junit: File,
}

impl Files {
    /// The record.
    ///
    /// # Errors
    /// When the process has too many files open.
    pub fn record(&self) -> Result<File, String> {
        self.record.try_clone().map_err(|e| format!("the record: {e}"))
    }

    /// Writes the reports, prints the summary; the exit code.
    ///
    /// # Errors
    /// When a report cannot be written.
    pub fn tell(&mut self, run: &Run, lines: &[ScenarioLine], catalogue: &Catalogue, ms: u64) -> Result<u8, String> {
        let seconds = std::time::Duration::from_millis(ms).as_secs_f64();
        print(&summary::terminal(run, lines, catalogue, seconds, summary::Style::of_stdout()));
        let report = summary::markdown(run, lines, catalogue);
        self.report.write_all(report.as_bytes()).map_err(|e| format!("report.md: {e}"))?;
        let junit = junit::render(run, lines)?;
        self.junit.write_all(junit.as_bytes()).map_err(|e| format!("junit.xml: {e}"))?;
        print(&format!("{}\n", summary::closing_line(run, lines)));
        Ok(exit_code(run, lines))
    }
}

/// A file of the real host: opened before the lab is entered, and put in its place if something was written. If nothing was,
/// its place is empty afterwards: what an earlier run left there must not stand for this one.
struct Output {
    file: File,
    part: PathBuf,
    path: PathBuf,
}

impl Output {
    /// Opens it.
    ///
    /// # Errors
    /// When its folder cannot be made, or it cannot be written.
    fn create(folder: &Path, name: &str) -> Result<Self, String> {
        let (path, part) = (folder.join(name), folder.join(format!("{name}.part")));
        let create = || {
            fs::create_dir_all(folder)?;
            File::create(&part)
        };
        let file = create().map_err(|e| format!("{}: {e}", part.display()))?;
        Ok(Self { file, part, path })
    }

    /// A second handle of it.
    ///
    /// # Errors
    /// When the process has too many files open.
    fn handle(&self) -> Result<File, String> {
        self.file.try_clone().map_err(|e| format!("{}: {e}", self.path.display()))
    }

    /// Whether something was written, which then is in its place.
    ///
    /// # Errors
    /// When it cannot be put there.
    fn finish(self) -> Result<bool, String> {
        let put = || {
            let written = self.file.metadata()?.len() > 0;
            if written {
                fs::rename(&self.part, &self.path)?;
            } else {
                fs::remove_file(&self.part)?;
                remove(&self.path)?;
            }
            Ok(written)
        };
        put().map_err(|e: io::Error| format!("{}: {e}", self.path.display()))
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_written_leaves_nothing_of_an_earlier_run() {
        let folder = std::env::temp_dir().join(format!("kusaw-outputs-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let left = || {
            let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            left.sort();
            left
        };
        for name in FILES.into_iter().chain(["mine"]) {
            fs::write(folder.join(name), "before").unwrap();
        }
        let outputs = Outputs::create(&folder).unwrap();
        outputs.files().unwrap().record().unwrap().write_all(b"now").unwrap();
        outputs.finish().unwrap();
        assert_eq!(
            (left(), fs::read(folder.join("run.ndjson")).unwrap()),
            (vec!["mine".into(), "run.ndjson".into()], b"now".to_vec())
        );
        Outputs::remove(&folder).unwrap();
        assert_eq!(left(), ["mine"]);
        fs::remove_dir_all(folder).unwrap();
    }
}
