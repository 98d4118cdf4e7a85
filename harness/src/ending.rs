//! How a launch must end: its code, and every byte of what it prints. Judged by looking at the launch alone.

use std::time::Duration;

use crate::launch::Launch;
use crate::launch::terminal::Seen;
use crate::text;

/// One thing that must be so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The exit code; 128+n for a signal.
    Code(i32),
    /// All of its stdout.
    Prints(Vec<u8>),
    /// All of its stderr.
    Complains(Vec<u8>),
    /// So many bytes of stdout.
    Length(usize),
    /// No later than this after its start.
    Within(Duration),
    /// Among what the caller's terminal shows.
    Shows(Vec<u8>),
    /// No later than this after the last deed at the terminal.
    After(Duration),
    /// With the terminal set as before.
    Restored,
}

impl Ending {
    /// Whether the launch ended so, and how it did.
    pub fn judge(&self, launch: &Launch) -> (bool, String) {
        match self {
            Self::Code(code) => (launch.exit == Some(*code), told(launch)),
            Self::Prints(bytes) => (launch.stdout == *bytes, format!("printed {}", shown(&launch.stdout))),
            Self::Complains(bytes) => (launch.stderr == *bytes, format!("complained {}", shown(&launch.stderr))),
            Self::Length(bytes) => (launch.stdout.len() == *bytes, format!("printed {} bytes", launch.stdout.len())),
            Self::Within(bound) => {
                let held = !launch.timed_out && launch.took <= *bound;
                (held, format!("ended after {:.1?}{}", launch.took, if launch.timed_out { ", by force" } else { "" }))
            }
            Self::Shows(_) | Self::After(_) | Self::Restored => {
                launch.terminal.as_ref().map_or((false, "there was no terminal".to_owned()), |seen| self.at(seen))
            }
        }
    }
}

impl Ending {
    /// Nothing is so at a terminal where something was not done because what it waited for was not shown.
    fn at(&self, seen: &Seen) -> (bool, String) {
        let (held, told) = match self {
            Self::Shows(text) => {
                let found = seen.screen.windows(text.len().max(1)).any(|part| part == text);
                let end = &seen.screen[seen.screen.len().saturating_sub(300)..];
                (found, format!("the terminal showed, at last: {}", text::line(end, 300)))
            }
            Self::After(bound) => {
                let held = seen.since_deed.is_some_and(|took| took <= *bound);
                (held, format!("ended {:.0?} after the last deed", seen.since_deed.unwrap_or_default()))
            }
            _ => (seen.restored, format!("the terminal's settings are as before: {}", seen.restored)),
        };
        let undone = if seen.undone > 0 { format!("; {} deeds were not done", seen.undone) } else { String::new() };
        (held && seen.undone == 0, format!("{told}{undone}"))
    }
}

/// The exit code, and why, as far as it is told.
fn told(launch: &Launch) -> String {
    let why = text::line(&launch.stderr, 120);
    let code = launch.exit.map_or("none".to_owned(), |code| code.to_string());
    if why.is_empty() { format!("code {code}") } else { format!("code {code}, stderr: {why}") }
}

fn shown(bytes: &[u8]) -> String {
    format!("{} bytes: {:?}", bytes.len(), text::line(bytes, 60))
}

/// The bytes that words of a feature stand for. In braces: `{newline}`, `{zero}`, `{escape}`, `{bell}`, `{quote}`, `{tab}`,
/// `{every byte}` (0 to 255), `{byte N}`, and `{N c}`: N times the character c.
///
/// # Errors
/// When braces hold something else.
pub fn bytes(words: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}').ok_or_else(|| format!("no end of the braces in \"{words}\""))?;
        bytes.extend_from_slice(before.as_bytes());
        bytes.extend(named(name).ok_or_else(|| format!("nobody knows what {{{name}}} stands for"))?);
        rest = after;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

fn named(name: &str) -> Option<Vec<u8>> {
    Some(match name {
        "newline" => b"\n".to_vec(),
        "zero" => vec![0],
        "escape" => vec![0x1b],
        "bell" => vec![7],
        "tab" => vec![b'\t'],
        "quote" => b"\"".to_vec(),
        "every byte" => (0..=255).collect(),
        _ => {
            let (count, character) = name.split_once(' ')?;
            if count == "byte" {
                return Some(vec![character.parse().ok()?]);
            }
            character.repeat(count.parse().ok()?).into_bytes()
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_stand_for_bytes() {
        assert_eq!(bytes("a{newline}b{3 x}").unwrap(), b"a\nbxxx");
        assert_eq!(bytes("{every byte}").unwrap().len(), 256);
        assert_eq!(bytes("").unwrap(), b"");
        assert!(bytes("{nobody}").is_err() && bytes("a{").is_err());
    }
}
