//! The actions by name, and how the words of a command line become them. A new probe is one file
//! with an [`Action`] in its topic's folder and one line in the table there.

use std::ffi::OsString;

use crate::seen::Seen;
use crate::words::{Usage, Words};
use crate::{files, itself, kernel, network, process};
#[cfg(target_os = "linux")]
use crate::{ipc, mount, namespace, terminal};

/// The actions by topic, in the order in which a usage error names them.
const TOPICS: &[&[Entry]] = &[
    files::ACTIONS,
    network::ACTIONS,
    itself::ACTIONS,
    process::ACTIONS,
    #[cfg(target_os = "linux")]
    namespace::ACTIONS,
    #[cfg(target_os = "linux")]
    mount::ACTIONS,
    #[cfg(target_os = "linux")]
    ipc::ACTIONS,
    #[cfg(target_os = "linux")]
    terminal::ACTIONS,
    kernel::ACTIONS,
];

/// An action's name, and how it is made of the words behind it.
pub type Entry = (&'static str, fn(Words) -> Result<Box<dyn Action>, Usage>);

/// What a table of a topic has behind each name.
pub fn boxed<A: Action + 'static>(action: Result<A, Usage>) -> Result<Box<dyn Action>, Usage> {
    Ok(Box::new(action?))
}

/// One thing a probe can try.
pub trait Action {
    /// What it is tried on, as given, for the report.
    fn target(&self) -> String;
    /// Tries it once.
    fn run(&self) -> Seen;
}

/// An action together with the name it was asked for.
pub struct Named {
    pub name: &'static str,
    action: Box<dyn Action>,
}

impl Named {
    pub fn target(&self) -> String {
        self.action.target()
    }

    pub fn run(&self) -> Seen {
        self.action.run()
    }
}

/// Reads a whole command line; an error in any action means that none is run.
pub fn parse(words: &[OsString]) -> Result<Vec<Named>, Usage> {
    words.split(|word| word == "+").map(one).collect()
}

fn one(words: &[OsString]) -> Result<Named, Usage> {
    let entries = || TOPICS.iter().copied().flatten();
    let known = || entries().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let Some((asked, rest)) = words.split_first() else {
        return Err(Usage(format!("an action is missing; known: {}", known())));
    };
    let Some((name, parse)) = entries().find(|(name, _)| asked == name) else {
        let asked = asked.to_string_lossy();
        return Err(Usage(format!("unknown action {asked:?}; known: {}", known())));
    };
    let action = parse(Words::new(rest)).map_err(|usage| Usage(format!("{name}: {}", usage.0)))?;
    Ok(Named { name, action })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(line: &str) -> Result<Vec<&'static str>, String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        parse(&words).map(|actions| actions.iter().map(|action| action.name).collect()).map_err(|usage| usage.0)
    }

    #[test]
    fn a_plus_starts_the_next_action() {
        assert_eq!(names("read /a + env + argv x y"), Ok(vec!["read", "env", "argv"]));
    }

    #[test]
    fn a_plus_without_an_action_is_a_usage_error() {
        for line in ["+", "read /a +", "+ read /a", "read /a + + env"] {
            assert!(names(line).is_err_and(|text| text.starts_with("an action is missing")), "{line}");
        }
    }

    #[test]
    fn an_error_names_the_action() {
        assert_eq!(names("read"), Err("read: expected PATH, got nothing".to_owned()));
        assert!(names("reed /a").is_err_and(|text| text.starts_with("unknown action \"reed\"")));
    }
}
