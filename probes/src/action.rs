//! The actions by name, and how the words of a command line become them. A new probe is one file
//! with an [`Action`] and one line in [`ACTIONS`].

use std::ffi::OsString;

use crate::seen::Seen;
use crate::words::{Usage, Words};
use crate::{
    argv, chmod, connect, descriptors, environment, exec, keyring, keys, link, list, mkdir, mkfifo, processes, read,
};
use crate::{remove, rename, socket, stat, sweep, write, write_sweep};

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

type Parse = fn(Words) -> Result<Box<dyn Action>, Usage>;

const ACTIONS: &[(&str, Parse)] = &[
    ("read", |words| boxed(read::Read::parse(words))),
    ("list", |words| boxed(list::List::parse(words))),
    ("stat", |words| boxed(stat::Stat::parse(words))),
    ("write", |words| boxed(write::Write::parse(words))),
    ("append", |words| boxed(write::Append::parse(words))),
    ("create", |words| boxed(write::Create::parse(words))),
    ("open-write", |words| boxed(write::OpenWrite::parse(words))),
    ("link", |words| boxed(link::Link::parse(words))),
    ("symlink", |words| boxed(link::Symlink::parse(words))),
    ("rename", |words| boxed(rename::Rename::parse(words))),
    ("exchange", |words| boxed(rename::Exchange::parse(words))),
    ("remove", |words| boxed(remove::Remove::parse(words))),
    ("mkdir", |words| boxed(mkdir::Mkdir::parse(words))),
    ("mkfifo", |words| boxed(mkfifo::Mkfifo::parse(words))),
    ("chmod", |words| boxed(chmod::Chmod::parse(words))),
    ("exec", |words| boxed(exec::Exec::parse(words))),
    ("connect", |words| boxed(connect::Connect::parse(words))),
    ("env", |words| boxed(environment::Env::parse(words))),
    ("argv", |words| boxed(argv::Argv::parse(words))),
    ("sweep", |words| boxed(sweep::Sweep::parse(words))),
    ("write-sweep", |words| boxed(write_sweep::WriteSweep::parse(words))),
    ("processes", |words| boxed(processes::Processes::parse(words))),
    ("descriptors", |words| boxed(descriptors::Descriptors::parse(words))),
    ("socket", |words| boxed(socket::Socket::parse(words))),
    ("keyring", |words| boxed(keyring::Keyring::parse(words))),
    ("keys", |words| boxed(keys::Keys::parse(words))),
    ("add-key", |words| boxed(keys::AddKey::parse(words))),
];

fn boxed<A: Action + 'static>(action: Result<A, Usage>) -> Result<Box<dyn Action>, Usage> {
    Ok(Box::new(action?))
}

fn one(words: &[OsString]) -> Result<Named, Usage> {
    let known = || ACTIONS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let Some((asked, rest)) = words.split_first() else {
        return Err(Usage(format!("an action is missing; known: {}", known())));
    };
    let Some((name, parse)) = ACTIONS.iter().find(|(name, _)| asked == name) else {
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
