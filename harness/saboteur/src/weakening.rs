//! One guard less: a pure change of what bubblewrap is told.

use std::ffi::{OsStr, OsString};

use crate::arguments::Launch;

/// What is taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Weakening {
    /// An option, with these operands if any are named.
    Without(Vec<OsString>),
    /// What hides this path and what lies below it: the host's own is mounted there, writable.
    Mounted(OsString),
    /// What makes this mount read-only.
    Writable(OsString),
    /// What is to be mounted at this path is not there: no guard less, but a launch that must fail.
    Missing(OsString),
}

/// A path that leads nowhere.
const NOWHERE: &str = "/nonexistent";

const READ_ONLY: [(&str, &str); 2] = [("--ro-bind", "--bind"), ("--ro-bind-try", "--bind-try")];

impl Weakening {
    /// From its two words; several in one are parted by blanks.
    pub fn parse(how: &OsStr, what: &OsStr) -> Option<Weakening> {
        Some(match how.to_str()? {
            "without" => Self::Without(what.to_str()?.split_whitespace().map(OsString::from).collect()),
            "mounted" => Self::Mounted(what.to_owned()),
            "writable" => Self::Writable(what.to_owned()),
            "missing" => Self::Missing(what.to_owned()),
            _ => return None,
        })
    }

    /// Takes the guard away.
    ///
    /// # Errors
    /// When this launch has no such guard.
    pub fn apply(&self, launch: &mut Launch) -> Result<(), String> {
        let options = &mut launch.options;
        match self {
            Self::Without(guard) => {
                let before = options.len();
                options.retain(|option| guard.is_empty() || !option.starts_with(guard));
                changed(before != options.len(), guard.join(OsStr::new(" ")))
            }
            Self::Mounted(path) => {
                // After everything that is mounted, and before what makes the root read-only: a mount point may be missing.
                let end = options.iter().position(|option| option[0] == "--remount-ro").unwrap_or(options.len());
                options.insert(end, vec!["--bind".into(), path.clone(), path.clone()]);
                Ok(())
            }
            Self::Missing(path) => {
                let mounts = ["--bind", "--ro-bind", "--tmpfs", "--dev", "--proc"];
                let is_there = |option: &&mut Vec<OsString>| {
                    mounts.iter().any(|kind| option[0] == *kind) && option.last() == Some(path)
                };
                let found = options.iter_mut().find(is_there);
                let missing = found.map(|option| *option = vec!["--ro-bind".into(), NOWHERE.into(), path.clone()]);
                changed(missing.is_some(), path.clone())
            }
            Self::Writable(path) => {
                let before = options.clone();
                options.retain(|option| !(option[0] == "--remount-ro" && option[1] == *path));
                for option in options.iter_mut().filter(|option| option.get(2) == Some(path)) {
                    if let Some((_, writable)) = READ_ONLY.iter().find(|(kind, _)| option[0] == *kind) {
                        option[0] = writable.into();
                    }
                }
                changed(before != *options, path.clone())
            }
        }
    }
}

fn changed(changed: bool, guard: OsString) -> Result<(), String> {
    if changed { Ok(()) } else { Err(format!("this launch has no guard \"{}\"", guard.display())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: &str =
        "--unshare-pid --ro-bind /usr /usr --bind /t/home /home/dev --remount-ro /dev --remount-ro / -- sh";

    fn weakened(how: &str, what: &str) -> Result<String, String> {
        let words = BOX.split_whitespace().map(OsString::from).collect();
        let mut launch = Launch::parse(words, &mut |_| Ok(Vec::new())).unwrap();
        Weakening::parse(how.as_ref(), what.as_ref()).unwrap().apply(&mut launch)?;
        Ok(launch.words().map(|w| w.into_string().unwrap()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn exactly_one_guard_is_taken_away() {
        assert_eq!(weakened("without", "--unshare-pid").unwrap(), BOX.replace("--unshare-pid ", ""));
        assert_eq!(weakened("without", "--remount-ro /").unwrap(), BOX.replace("--remount-ro / ", ""));
        assert_eq!(weakened("writable", "/usr").unwrap(), BOX.replace("--ro-bind", "--bind"));
        assert_eq!(weakened("writable", "/").unwrap(), BOX.replace("--remount-ro / ", ""));
        let missing = BOX.replace("--bind /t/home /home/dev", "--ro-bind /nonexistent /home/dev");
        assert_eq!(weakened("missing", "/home/dev").unwrap(), missing);
        let mounted = BOX.replace("--remount-ro /dev", "--bind /srv /srv --remount-ro /dev");
        assert_eq!(weakened("mounted", "/srv").unwrap(), mounted);
    }

    #[test]
    fn where_nothing_changes_nothing_is_started() {
        assert!(weakened("without", "--unshare-net").is_err());
        assert!(weakened("writable", "/home/dev").is_err());
        assert!(weakened("missing", "/srv").is_err());
        assert_eq!(Weakening::parse("with".as_ref(), "x".as_ref()), None);
    }
}
