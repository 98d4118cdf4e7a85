//! Where an agent keeps its login, its settings and its sessions on this host. Only names: what is there, where links lead, and
//! whether a step may have it is asked in `allow`. Nothing is ever made that is not there.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Provider, Where};

/// What an agent needs of the user's home, and the variables by which it finds it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    /// Folders, and files by themselves, as they are named.
    pub places: Vec<PathBuf>,
    /// What must be set inside for the agent to look there.
    pub variables: Vec<(&'static str, OsString)>,
}

/// A variable that names no place.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is {1:?}, which is no absolute path")]
pub struct NoPlace(pub &'static str, pub OsString);

impl Provider {
    /// Its state for a user whose home and variables are these. Empty variables count as not set, as for the agents.
    pub fn state(&self, home: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Result<State, NoPlace> {
        let set = |name: &'static str| match variable(name).filter(|value| !value.is_empty()) {
            Some(value) if Path::new(&value).is_absolute() => Ok(Some(value)),
            Some(value) => Err(NoPlace(name, value)),
            None => Ok(None),
        };
        let mut state = State::default();
        if let Some(folder) = set(self.config_dir)? {
            state.places.push(PathBuf::from(&folder));
            state.variables.push((self.config_dir, folder));
            if self.config_dir_moves_all {
                return Ok(state);
            }
        }
        for place in self.state {
            match place {
                Where::Home(name) => state.places.push(home.join(name)),
                Where::Config(name) => {
                    let base = set(CONFIG)?;
                    state.places.push(base.as_deref().map_or_else(|| home.join(".config"), PathBuf::from).join(name));
                    state.variables.extend(base.map(|base| (CONFIG, base)));
                }
            }
        }
        Ok(state)
    }
}

/// The base of users' settings, XDG Base Directory Specification.
const CONFIG: &str = "XDG_CONFIG_HOME";

/// Whether something has this name, be it a link that leads nowhere.
pub fn is_there(place: &Path) -> bool {
    !matches!(place.symlink_metadata(), Err(e) if e.kind() == std::io::ErrorKind::NotFound)
}

/// A variable as a step has it: its own `env:`, else that of kusaw.
pub fn variable<'a>(own: &'a std::collections::BTreeMap<String, String>, name: &str) -> Option<OsString> {
    let own: Option<&'a OsStr> = own.get(name).map(OsStr::new);
    own.map(OsStr::to_os_string).or_else(|| std::env::var_os(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::find;

    fn state(provider: &str, set: &[(&str, &str)]) -> Result<(Vec<String>, Vec<&'static str>), String> {
        let variable = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, value)| OsString::from(value));
        let state = find(provider).unwrap().state("/h".as_ref(), variable).map_err(|e| e.to_string())?;
        let places = state.places.iter().map(|place| place.display().to_string()).collect();
        Ok((places, state.variables.into_iter().map(|(name, _)| name).collect()))
    }

    #[test]
    fn a_variable_leads_elsewhere_and_is_set_inside() {
        let places = |places: &[&str]| places.iter().map(|place| place.to_string()).collect::<Vec<_>>();
        assert_eq!(state("claude-code", &[]), Ok((places(&["/h/.claude", "/h/.claude.json"]), vec![])));
        assert_eq!(
            state("claude-code", &[("CLAUDE_CONFIG_DIR", "/c"), ("XDG_CONFIG_HOME", "/x")]),
            Ok((places(&["/c"]), vec!["CLAUDE_CONFIG_DIR"]))
        );
        assert_eq!(state("claude-code", &[("CLAUDE_CONFIG_DIR", "")]).unwrap().0[0], "/h/.claude");
        assert_eq!(state("cursor", &[]), Ok((places(&["/h/.cursor", "/h/.config/cursor"]), vec![])));
        assert_eq!(
            state("cursor", &[("CURSOR_CONFIG_DIR", "/c"), ("XDG_CONFIG_HOME", "/x")]),
            Ok((places(&["/c", "/h/.cursor", "/x/cursor"]), vec!["CURSOR_CONFIG_DIR", "XDG_CONFIG_HOME"]))
        );
        assert!(state("claude-code", &[("CLAUDE_CONFIG_DIR", "~/c")]).unwrap_err().contains("CLAUDE_CONFIG_DIR"));
    }
}
