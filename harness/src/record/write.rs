//! Writing a record, line by line, so that what was judged before a crash is kept.

use std::fs::File;
use std::io::{self, Write};

use serde::Serialize;

use super::{End, Run, ScenarioLine};

/// Writes the record, and keeps its lines for the summary.
#[derive(Debug)]
pub struct Recorder {
    file: File,
    /// The lines so far.
    pub lines: Vec<ScenarioLine>,
}

impl Recorder {
    /// Begins the record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn begin(file: File, run: &Run) -> io::Result<Self> {
        let mut recorder = Self { file, lines: Vec::new() };
        recorder.put(run)?;
        Ok(recorder)
    }

    /// Adds a scenario.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, line: ScenarioLine) -> io::Result<()> {
        self.put(&line)?;
        self.lines.push(line);
        Ok(())
    }

    /// Ends the record.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end(&mut self, ms: u64) -> io::Result<()> {
        let end = End::of(&self.lines, ms);
        self.put(&end)
    }

    fn put(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        self.file.write_all(text.as_bytes())
    }
}
