//! What a secret is called: by one word, for all factories of the user; or by a step's variable, for one factory alone, which
//! is known by the digest of its real path. Two factories with a step of the same name have nothing in common.

use std::fmt;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::settings::is_name;

/// Stands before the factory in a file's name. No name in the settings can have it, so none of them reaches a step's secret.
const AT: char = '@';

/// A variable of a step, as `config` takes it: `steps.STEP.env.NAME`. Both may have 64 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfStep<'a> {
    /// The step.
    pub step: &'a str,
    /// The variable.
    pub variable: &'a str,
}

impl<'a> OfStep<'a> {
    /// Splits the words of `steps.STEP.env.NAME`; step names have dots, variables have none.
    pub fn parse(key: &'a str) -> Option<OfStep<'a>> {
        let (step, variable) = key.strip_prefix("steps.")?.rsplit_once(".env.")?;
        (is_name(step) && is_variable(variable)).then_some(OfStep { step, variable })
    }

    /// The name that the store has it by.
    pub fn kept(&self, factory: &Path) -> String {
        format!("{self}{AT}{}", mark(factory))
    }
}

impl fmt::Display for OfStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "steps.{}.env.{}", self.step, self.variable)
    }
}

/// Whether this can be a variable of every shell: letters, digits and underscores, no digit first (POSIX 8.1), 64 at most.
pub fn is_variable(text: &str) -> bool {
    let fits = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(fits) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// The command that keeps a secret, by the name that its user knows.
pub fn to_set(name: &str) -> String {
    format!("kusaw config set {name} --secret")
}

/// A secret's name as its user knows it.
pub fn shown(kept: &str) -> &str {
    kept.split(AT).next().unwrap_or(kept)
}

/// The mark of the factory that it belongs to; none where it is for all.
pub fn owner(kept: &str) -> Option<&str> {
    kept.split_once(AT).map(|(_, mark)| mark)
}

/// A factory in a file's name: what its folder is called, so that people know it, and 128 bits of the digest of its real path.
pub fn mark(factory: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let name = factory.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' });
    let digest = Sha256::digest(factory.as_os_str().as_bytes());
    let digest: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digest}", plain.take(32).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_a_step_has_a_name_for_its_factory_alone() {
        let one = OfStep::parse("steps.a.env.b.env.TOKEN").unwrap();
        assert_eq!((one.step, one.variable), ("a.env.b", "TOKEN"));
        let kept = one.kept("/home/dev/my factory".as_ref());
        assert_eq!(kept, "steps.a.env.b.env.TOKEN@my_factory-21fd23079f4c3af90d8b9fd9d8700773");
        assert_eq!(
            (shown(&kept), owner(&kept)),
            ("steps.a.env.b.env.TOKEN", Some(&*mark("/home/dev/my factory".as_ref())))
        );
        assert_ne!(kept, one.kept("/home/dev/my_factory".as_ref()));
        assert!(!is_name(&kept));
        assert_eq!((shown("API_KEY"), owner("API_KEY")), ("API_KEY", None));
    }

    #[test]
    fn what_is_no_variable_of_a_step() {
        for bad in
            ["steps.a.TOKEN", "steps.a.env.", "steps..env.T", "steps.a.env.1T", "steps.a.env.A-B", "step.a.env.T", "T"]
        {
            assert_eq!(OfStep::parse(bad), None, "{bad}");
        }
        assert!(OfStep::parse(&format!("steps.a.env.{}", "T".repeat(65))).is_none());
    }

    #[test]
    fn the_longest_name_is_a_files() {
        let long = "x".repeat(64);
        let kept = OfStep { step: &long, variable: &long }.kept(format!("/{}", "y".repeat(255)).as_ref());
        assert!(kept.len() + ".age".len() <= 255, "{}", kept.len());
    }
}
