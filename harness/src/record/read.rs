//! Reading a record back, strictly: one that is not whole is refused, because what is missing could be what failed.

use std::path::Path;

use super::{End, RECORD, RecordLine, Run, ScenarioLine};

/// A whole record.
#[derive(Clone, Debug)]
pub struct Record {
    /// The run.
    pub run: Run,
    /// Its scenarios, in the order in which they ended.
    pub scenarios: Vec<ScenarioLine>,
    /// The last line.
    pub end: End,
}

impl Record {
    /// Reads the record of a run: the file, or the folder that a run wrote it into.
    ///
    /// # Errors
    /// When it cannot be read, is of another version, is cut off, or its numbers do not add up: which file, which line.
    pub fn read(path: &Path) -> Result<Self, String> {
        let path = if path.is_dir() { path.join("run.ndjson") } else { path.to_owned() };
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Self::parse(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Parses a record.
    ///
    /// # Errors
    /// As for [`Record::read`], without the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let (_, first) = lines.next().ok_or("the record is empty")?;
        let run = run(first)?;
        let (mut scenarios, mut end) = (Vec::new(), None);
        for (at, line) in lines {
            if end.is_some() {
                return Err(format!("line {at}: there is something after the end of the run; one record a file"));
            }
            match serde_json::from_str(line) {
                Ok(RecordLine::Scenario(scenario)) => scenarios.push(scenario),
                Ok(RecordLine::End(last)) => end = Some(last),
                Ok(RecordLine::Run(_)) => return Err(format!("line {at}: another run begins; one record a file")),
                Err(_) if serde_json::from_str::<serde_json::Value>(line).is_err() => {
                    return Err(format!("line {at}: the record is cut off in the middle of a line; {AGAIN}"));
                }
                Err(e) => return Err(format!("line {at}: not a line of a record ({e}); {AGAIN}")),
            }
        }
        let end =
            end.ok_or_else(|| format!("the record has no last line: the run did not come to its end; {AGAIN}"))?;
        let counted: usize = end.verdicts.values().sum();
        if counted != scenarios.len() {
            let (has, says) = (scenarios.len(), counted);
            return Err(format!("the record has {has} scenarios, its last line says {says}: lines are lost; {AGAIN}"));
        }
        if run.selected != scenarios.len() {
            let (has, selected) = (scenarios.len(), run.selected);
            return Err(format!("the record has {has} scenarios, {selected} were selected: lines are lost; {AGAIN}"));
        }
        Ok(Self { run, scenarios, end })
    }
}

const AGAIN: &str = "run the suite again";

fn run(line: &str) -> Result<Run, String> {
    let value: serde_json::Value = serde_json::from_str(line)
        .map_err(|e| format!("line 1: not a record ({e}); expected is run.ndjson of a run"))?;
    match value.get("record").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(RECORD) => {}
        Some(version) => return Err(format!("line 1: record version {version}; this program reads {RECORD}: {AGAIN}")),
        None => return Err("line 1: not a record: it does not begin with a run".to_owned()),
    }
    serde_json::from_value(value).map_err(|e| format!("line 1: {e}; {AGAIN}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"record":1,"harness":"h","commit":null,"driver":"none","driver_version":null,"driver_kind":"sandbox","homepage":"","about":"","sources":{},"start":"user","uid":42042,"host":{},"digests":{},"started":"2026-01-01T00:00:00Z","selected":1}"#;
    const SCENARIO: &str = r#"{"id":"FS-01","case":"a","title":"a","tags":[],"file":"f","line":1,"verdict":"holds","why":"","findings":[],"controls":[],"launches":[],"ms":1}"#;
    const END: &str = r#"{"end":true,"verdicts":{"holds":1},"ms":5}"#;

    fn error(text: &str) -> String {
        Record::parse(text).unwrap_err()
    }

    #[test]
    fn a_whole_record_is_read() {
        let record = Record::parse(&format!("{RUN}\n{SCENARIO}\n{END}\n")).unwrap();
        assert_eq!((record.run.driver.as_str(), record.scenarios.len(), record.end.ms), ("none", 1, 5));
    }

    #[test]
    fn one_that_is_not_whole_is_refused() {
        assert!(error("").contains("empty"));
        assert!(error(END).contains("does not begin with a run"));
        assert!(error(&RUN.replace("\"record\":1", "\"record\":7")).contains("version 7"));
        assert!(error(&format!("{RUN}\n{SCENARIO}\n")).contains("no last line"));
        assert!(error(&format!("{RUN}\n{}", &SCENARIO[..40])).contains("line 2: the record is cut off"));
        assert!(error(&format!("{RUN}\n{END}\n")).contains("has 0 scenarios, its last line says 1"));
        let more = RUN.replace("\"selected\":1", "\"selected\":2");
        assert!(
            error(&format!("{more}\n{SCENARIO}\n{END}\n")).contains("has 1 scenarios, 2 were selected: lines are lost")
        );
        assert!(error(&format!("{RUN}\n{SCENARIO}\n{END}\n{RUN}\n")).contains("after the end"));
        assert!(error(&format!("{RUN}\n{{\"id\":3}}\n{END}\n")).contains("not a line of a record"));
    }
}
