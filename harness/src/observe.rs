//! What the host shows after a launch, read where the driver's manifest says.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::driver::observe::{Availability, Observation};
use crate::launch::Launch;

/// The lines of a log or event stream, each with what was found in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// (type if the manifest says how to find one, host if there is one).
    pub lines: Vec<(Option<String>, Option<String>)>,
}

impl Entries {
    /// Hosts of the entries of a type (any type, if none is asked for), in order.
    pub fn hosts(&self, kind: Option<&str>) -> Vec<String> {
        self.of(kind).filter_map(|(_, host)| host.clone()).collect()
    }

    /// How many entries there are of a type.
    pub fn count(&self, kind: &str) -> usize {
        self.of(Some(kind)).count()
    }

    fn of<'a>(&'a self, kind: Option<&'a str>) -> impl Iterator<Item = &'a (Option<String>, Option<String>)> {
        self.lines.iter().filter(move |(k, _)| kind.is_none() || k.as_deref() == kind)
    }
}

/// Reads and takes apart an observed file. A file that is not there has no entries.
///
/// # Errors
/// When the manifest's template or regular expression is wrong, or the file is there but cannot be read.
pub fn entries(observation: &Observation, launch: &Launch) -> Result<Entries, String> {
    parse(&read(&path(observation, launch)?)?, observation)
}

/// Takes apart the text of an observed file.
///
/// # Errors
/// When a regular expression of the manifest is wrong.
pub fn parse(text: &str, observation: &Observation) -> Result<Entries, String> {
    let kind = observation.kind.as_deref().map(regex).transpose()?;
    let host = observation.host.as_deref().map(regex).transpose()?;
    let lines = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| (kind.as_ref().and_then(|r| group(r, line)), host.as_ref().and_then(|r| group(r, line))))
        .collect();
    Ok(Entries { lines })
}

/// The number that a regular expression of the manifest finds in the text of an observed file, once.
///
/// # Errors
/// When the regular expression is wrong.
pub fn number(pattern: &str, text: &str) -> Result<Option<u64>, String> {
    let regex = regex(pattern)?;
    let mut found = text.lines().filter_map(|line| group(&regex, line)?.parse().ok());
    Ok(found.next().filter(|_| found.next().is_none()))
}

/// The text of an observed file. A file that is not there is empty.
///
/// # Errors
/// As [`entries`].
pub fn text(observation: &Observation, launch: &Launch) -> Result<String, String> {
    read(&path(observation, launch)?)
}

/// The reason of a refusal, as the outcome file tells it.
///
/// # Errors
/// As [`entries`].
pub fn refusal(observation: &Observation, launch: &Launch) -> Result<Option<String>, String> {
    let Some(pattern) = &observation.refused else {
        return Ok(None);
    };
    Ok(group(&regex(pattern)?, &read(&path(observation, launch)?)?))
}

/// The words of the factory's own lists that a record holds.
///
/// # Errors
/// As [`entries`].
pub fn words(observation: &Observation, launch: &Launch) -> Result<Vec<String>, String> {
    let pattern = regex(observation.words.as_deref().unwrap_or_default())?;
    let text = read(&path(observation, launch)?)?;
    let groups = pattern.captures_iter(&text).flat_map(|found| found.iter().skip(1).flatten().collect::<Vec<_>>());
    Ok(groups.map(|word| word.as_str().to_owned()).filter(|word| !word.is_empty()).collect())
}

/// What a command said of this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// That the backend can be run.
    pub yes: bool,
    /// Why it cannot.
    pub reason: Option<String>,
    /// What the user can do about it.
    pub fix: Option<String>,
}

/// Reads what a command printed about this machine.
///
/// # Errors
/// When a regular expression of the manifest is wrong.
pub fn said(availability: &Availability, output: &str) -> Result<Said, String> {
    let first = |pattern: &str| -> Result<Option<String>, String> {
        let found = regex(pattern)?.captures(output).map(|found| {
            found.iter().skip(1).flatten().map(|group| group.as_str().trim().to_owned()).find(|group| !group.is_empty())
        });
        Ok(found.flatten())
    };
    Ok(Said {
        yes: regex(&availability.yes)?.is_match(output),
        reason: first(&availability.reason)?,
        fix: first(&availability.fix)?,
    })
}

/// Where an observed file lies for this launch.
///
/// # Errors
/// When the template is wrong.
pub fn path(observation: &Observation, launch: &Launch) -> Result<PathBuf, String> {
    launch.templates.render(&observation.path).map(PathBuf::from)
}

fn read(path: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    // A step may have put a pipe there: the harness waits for nobody either.
    let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path);
    match opened.and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(format!("{}: {e}", path.display())),
    }
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|e| format!("observe: {e}"))
}

fn group(regex: &Regex, line: &str) -> Option<String> {
    regex.captures(line)?.get(1).map(|m| m.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_machine_is_read_in_any_form() {
        let availability = Availability {
            yes: r#"(?m)^available: yes$|"available": true"#.into(),
            reason: r#"(?m)^reason: (\S+)$|"reason": "([^"]+)""#.into(),
            fix: r#"(?m)^fix: (.+)$|"fix": "([^"]+)""#.into(),
        };
        let of = |output: &str| said(&availability, output).unwrap();
        assert_eq!(of("{\"available\": true, \"reason\": null}"), Said { yes: true, ..Said::default() });
        let no = Said { yes: false, reason: Some("a-b".into()), fix: Some("do it".into()) };
        assert_eq!(of("available: no\nreason: a-b\nfix: do it\n"), no);
        assert_eq!(of("{\"available\": false, \"reason\": \"a-b\", \"fix\": \"do it\"}"), no);
    }

    #[test]
    fn json_and_plain_lines_alike() {
        let json = Observation {
            host: Some(r#""host":"([^"]*)""#.into()),
            kind: Some(r#""type":"([^"]*)""#.into()),
            ..Observation::default()
        };
        let text = "{\"type\":\"egress.blocked\",\"host\":\"a.example\"}\n{\"type\":\"egress.summary\"}\n";
        let entries = parse(text, &json).unwrap();
        assert_eq!(entries.hosts(Some("egress.blocked")), ["a.example"]);
        assert_eq!(entries.count("egress.summary"), 1);
        let plain = Observation { host: Some(r"^blocked (\S+)$".into()), ..Observation::default() };
        assert_eq!(parse("blocked b.example\n", &plain).unwrap().hosts(None), ["b.example"]);
    }
}
