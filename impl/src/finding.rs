//! What is told about one entry of the settings, to the user and in reports.

use serde::Serialize;

/// Something to tell the user about one entry.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// `W2`, `W3`, or the reason code of a refusal.
    pub code: &'static str,
    /// The key path.
    pub key: String,
    /// The path it is about, as written; empty where it is about none.
    pub path: String,
    /// The host it is about.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// What is the matter with it.
    pub what: String,
    /// What to write instead.
    pub fix: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Finding { code, key, path, host, what, fix } = self;
        write!(f, "{code} {key}: ")?;
        let about = [path, host].into_iter().filter(|about| !about.is_empty());
        about.into_iter().try_for_each(|about| write!(f, "{about:?} "))?;
        write!(f, "{what} (fix: {fix})")
    }
}
