//! The protected places, one by one, and what an entry may not do with each. Only names and rules: which places these are
//! on this host is read in `host`.

use std::path::{Path, PathBuf};

use super::entry::Kind;

/// How far a rule goes from a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Nothing is refused.
    Nothing,
    /// The place itself.
    Itself,
    /// The place and what lies directly in it.
    Entries,
    /// The place and all below it.
    All,
}

/// A place, and what of it `allow_read` and `allow_write` cannot name. `allow_write` can never name what holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guard {
    /// Its real path.
    pub place: PathBuf,
    /// What it is, in words: "the secret store".
    pub what: String,
    /// Not for `allow_read`.
    pub read: Extent,
    /// Not for `allow_write`.
    pub write: Extent,
    /// A program, or a folder of them: an agent's state may hold it, and then it is shown read-only.
    pub program: bool,
    /// What to write instead, if there is more to say than that the place has to be left alone.
    pub fix: Option<String>,
}

impl Guard {
    /// One that no step may see.
    pub fn hidden(place: PathBuf, what: &str) -> Guard {
        Guard { place, what: what.into(), read: Extent::All, write: Extent::All, program: false, fix: None }
    }

    /// One that a step may see, if it must be, but not change.
    pub fn kept(place: PathBuf, what: impl Into<String>, write: Extent) -> Guard {
        Guard { place, what: what.into(), read: Extent::Nothing, write, program: false, fix: None }
    }

    /// Why an entry of this kind cannot name `path`, if so, and what to write instead.
    pub fn refuses(&self, kind: Kind, path: &Path) -> Option<(String, String)> {
        let extent = if kind == Kind::Read { self.read } else { self.write };
        let what = &self.what;
        let general = |fix: String| self.fix.clone().unwrap_or(fix);
        let remove = || general(format!("remove the entry, or name a folder that has nothing to do with {what}"));
        if path == self.place {
            return (extent != Extent::Nothing).then(|| (format!("it is {what}"), remove()));
        }
        let below = match extent {
            Extent::All => path.starts_with(&self.place),
            Extent::Entries => path.parent() == Some(&self.place),
            Extent::Nothing | Extent::Itself => false,
        };
        if below {
            return Some((format!("it lies in {what}"), remove()));
        }
        let is_held = self.place.starts_with(path) && !(self.program && kind == Kind::State);
        (kind >= Kind::Write && is_held).then(|| {
            let why = format!("it holds {what} ({})", self.place.display());
            (why, general(format!("name a folder in it that does not hold {what}")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hidden_place_can_only_be_above_what_is_read() {
        let store = Guard::hidden("/h/d/store".into(), "the secret store");
        let why = |kind, path: &str| store.refuses(kind, path.as_ref()).map(|(why, _)| why);
        assert_eq!(why(Kind::Read, "/h"), None);
        assert_eq!(why(Kind::Read, "/h/d/stores"), None);
        assert_eq!(why(Kind::Read, "/h/d/store").unwrap(), "it is the secret store");
        assert_eq!(why(Kind::Read, "/h/d/store/x/y").unwrap(), "it lies in the secret store");
        assert_eq!(why(Kind::Write, "/h").unwrap(), "it holds the secret store (/h/d/store)");
        assert_eq!(why(Kind::Write, "/h/e"), None);
    }

    #[test]
    fn a_folder_of_programs_keeps_its_entries_only() {
        let bin = Guard::kept("/h/bin".into(), "a folder of PATH", Extent::Entries);
        let refused = |kind, path: &str| bin.refuses(kind, path.as_ref()).is_some();
        assert!(refused(Kind::Write, "/h/bin") && refused(Kind::Write, "/h/bin/git") && refused(Kind::Write, "/h"));
        assert!(!refused(Kind::Write, "/h/bin/data/x") && !refused(Kind::Read, "/h/bin/git"));
    }
}
