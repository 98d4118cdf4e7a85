//! How a caller starts a launch, as far as it is not what the step is asked to do: a plain value, which `launch` carries out.

use std::time::Duration;

/// A caller; the default one is careful.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Whether it leaves descriptors open: 7 on a key, 9 on the home.
    pub inherits: bool,
    /// Whether its 0, 1 and 2 are files of the user, not pipes.
    pub files: bool,
    /// Whether its 0 is closed.
    pub no_input: bool,
    /// Whether its 0, 1 and 2 are /dev/null.
    pub mute: bool,
    /// Whether its 1 and 2 are one pipe, as `2>&1` makes them.
    pub merged: bool,
    /// Whether it ignores and blocks signals, which a launch inherits.
    pub deaf: bool,
    /// Who is the parent of the launch.
    pub parent: Parent,
    /// Its terminal, with somebody who uses it.
    pub terminal: Option<Terminal>,
    /// When it ends a launch, if not after the usual time.
    pub patience: Option<Duration>,
}

/// Who is the parent of a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parent {
    /// The harness itself, whose thread goes on.
    #[default]
    Harness,
    /// A shell that waits for it: `sh -c '...; true'`.
    Shell,
    /// The harness, by a thread that ends while the launch runs. A signal for the death of a parent (PR_SET_PDEATHSIG of
    /// prctl(2)) comes when the thread ends that started the process.
    EndedThread,
}

/// A terminal of 33 rows and 99 columns, and what is done at it.
#[derive(Clone, Debug, Default)]
pub struct Terminal {
    /// One after the other: what it must show, since the deed before, and what is done then.
    pub deeds: Vec<(String, Deed)>,
    /// Whether standard output is a pipe all the same.
    pub piped: bool,
}

/// What somebody does at a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Keys are typed.
    Type(Vec<u8>),
    /// The window is given another size: rows and columns.
    Resize(u16, u16),
    /// The window is closed, or the line is lost.
    HangUp,
    /// Nothing: it was only to be shown.
    Watch,
}

impl Deed {
    /// `type WORDS`, in which `^X` is the key with control; `resize ROWS COLUMNS`; `hang up`; `watch`.
    ///
    /// # Errors
    /// When the words are none of these.
    pub fn parse(words: &str) -> Result<Self, String> {
        let unknown = || format!("nobody knows how to \"{words}\" at a terminal");
        if words == "hang up" {
            return Ok(Self::HangUp);
        }
        if words == "watch" {
            return Ok(Self::Watch);
        }
        match words.split_once(' ') {
            Some(("type", keys)) => Ok(Self::Type(typed(keys))),
            Some(("resize", size)) => {
                let (rows, columns) = size.split_once(' ').ok_or_else(unknown)?;
                Ok(Self::Resize(rows.parse().map_err(|_| unknown())?, columns.parse().map_err(|_| unknown())?))
            }
            _ => Err(unknown()),
        }
    }
}

fn typed(keys: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = keys.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'^' => bytes.extend(rest.next().map(|key| key.to_ascii_uppercase() & 0x1f)),
            _ => bytes.push(byte),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeds_are_words() {
        assert_eq!(Deed::parse("type ab^C").unwrap(), Deed::Type(b"ab\x03".to_vec()));
        assert_eq!(Deed::parse("type ls^M").unwrap(), Deed::Type(b"ls\r".to_vec()));
        assert_eq!(Deed::parse("resize 20 70").unwrap(), Deed::Resize(20, 70));
        assert_eq!(Deed::parse("hang up").unwrap(), Deed::HangUp);
        assert!(Deed::parse("resize 20").is_err() && Deed::parse("shout").is_err());
    }
}
