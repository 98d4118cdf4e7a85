//! PID as a word: a number, `self` or `parent`.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process;

use crate::words::{Usage, number};

/// Whom an action is tried on. Never a group or all: those numbers (0, negative) are refused.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub enum Pid {
    Own,
    Parent,
    Number(i32),
}

impl Pid {
    pub fn parse(word: &OsStr) -> Result<Self, Usage> {
        match word.to_str() {
            Some("self") => Ok(Self::Own),
            Some("parent") => Ok(Self::Parent),
            _ => number(word, "PID", 1..=i32::MAX).map(Self::Number),
        }
    }

    /// Without a word, the probe itself.
    pub fn or_own(word: Option<OsString>) -> Result<Self, Usage> {
        word.map_or(Ok(Self::Own), |word| Self::parse(&word))
    }

    /// Its number now: a parent's end changes the parent.
    pub fn number(self) -> i32 {
        match self {
            Self::Own => process::id().cast_signed(),
            Self::Parent => parent_id().cast_signed(),
            Self::Number(number) => number,
        }
    }

    /// Its folder in /proc, which may be of another PID namespace than this process: only `self` is the same in both.
    pub fn folder(self) -> PathBuf {
        match self {
            Self::Own => "/proc/self".into(),
            _ => format!("/proc/{}", self.number()).into(),
        }
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own => f.write_str("self"),
            Self::Parent => f.write_str("parent"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pid_is_one_process() {
        for (word, pid) in [("self", Pid::Own), ("parent", Pid::Parent), ("1", Pid::Number(1))] {
            assert_eq!(Pid::parse(word.as_ref()), Ok(pid));
            assert_eq!(pid.to_string(), word);
        }
        for word in ["", "0", "-1", "init", "99999999999"] {
            assert!(Pid::parse(word.as_ref()).is_err(), "{word}");
        }
        assert_eq!(Pid::or_own(None), Ok(Pid::Own));
    }
}
