//! `env [NAME..]`: the variables of this process, all or the named ones that are set.

use std::env;
use std::ffi::OsString;

use crate::action::Action;
use crate::json::Json;
use crate::seen::Seen;
use crate::words::{Usage, Words};

/// Shows the environment.
pub struct Env {
    names: Vec<OsString>,
}

impl Env {
    pub fn parse(words: Words) -> Result<Self, Usage> {
        Ok(Self { names: words.rest() })
    }
}

impl Action for Env {
    fn target(&self) -> String {
        self.names.join(" ".as_ref()).to_string_lossy().into_owned()
    }

    fn run(&self) -> Seen {
        let mut vars: Vec<_> = env::vars_os()
            .filter(|(name, _)| self.names.is_empty() || self.names.contains(name))
            .map(|(name, value)| (name.to_string_lossy().into_owned(), Json::from(value.as_os_str())))
            .collect();
        vars.sort_by(|(one, _), (other, _)| one.cmp(other));
        Seen::ok(Json::object([("vars", Json::Object(vars))]))
    }
}
