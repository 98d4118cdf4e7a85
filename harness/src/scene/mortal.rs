//! What the steps of attempts are at whose launchers are killed at random moments.

use std::time::Duration;

use crate::moments::Phase;

/// A step that leaves a process behind, tells its first act and, when a pipe was opened for it, its last.
const LEAVES: &str = r#"
mkfifo go
setsid sh -c 'sleep 300; :' "$0" </dev/null >/dev/null 2>&1 &
: >first
: <go
: >last
"#;

/// A step that commits without a pause until it is told to end, tells how often it has, and has always something that is not
/// committed: a change of a file that was there, and a file.
const COMMITS: &str = r#"
mkfifo go
{ : <go; : >stop; } &
echo mine >>README
: >first
made=0
until [ -e stop ]; do
  made=$((made + 1))
  echo $made >work
  git add work && git commit -q -m $made && echo $made >made
  echo $made >notes
done
: >last
"#;

/// What they are at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mortal {
    /// They leave a process behind.
    Leaves,
    /// They commit.
    Commits,
}

impl Mortal {
    /// Their script.
    pub fn script(self) -> &'static str {
        match self {
            Self::Leaves => LEAVES,
            Self::Commits => COMMITS,
        }
    }

    /// The phases in which a launcher is killed.
    pub fn phases(self) -> &'static [Phase] {
        match self {
            Self::Leaves => &Phase::ALL,
            Self::Commits => &Phase::COMMITTING,
        }
    }

    /// How long a step is let work before it is told to end: its part of an attempt, from which moments are drawn.
    pub fn works(self) -> Option<Duration> {
        match self {
            Self::Leaves => None,
            Self::Commits => Some(Duration::from_millis(500)),
        }
    }
}
