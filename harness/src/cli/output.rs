//! What a run leaves on the real host.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::catalogue::Catalogue;
use crate::record::{Run, ScenarioLine, exit_code};
use crate::text::print;
use crate::{junit, summary};

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
        Ok(Self { record: create("run.ndjson")?, report: create("report.md")?, junit: create("junit.xml")? })
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

/// A file of the real host: opened before the lab is entered, and put in its place only if something was written.
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
                fs::rename(&self.part, &self.path)?
            } else {
                fs::remove_file(&self.part)?
            }
            Ok(written)
        };
        put().map_err(|e: std::io::Error| format!("{}: {e}", self.path.display()))
    }
}
