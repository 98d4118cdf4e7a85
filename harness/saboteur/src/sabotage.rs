//! A change of what bubblewrap is told, in force wherever it is started: for `conformance saboteurs`, which writes it into
//! a copy of this program after the build and lays that copy in bubblewrap's place.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::arguments::Launch;

/// What the room for a change is found by; only the static below holds these bytes.
const MARK: &[u8; 30] = b"kusaw: the fault in force is: ";

/// The mark, and the room.
static IN_FORCE: [u8; 1024] = room();

const fn room() -> [u8; 1024] {
    let mut room = [0; 1024];
    let mut at = 0;
    while at < MARK.len() {
        room[at] = MARK[at];
        at += 1;
    }
    room
}

/// Changes, made in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sabotage(Vec<Change>);

/// A change of the options that a pattern meets.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Change {
    of: String,
    act: Act,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Act {
    Drop(Vec<String>),
    Weaken(Vec<String>, Vec<String>),
    Add(Vec<String>),
    /// Changes nothing, and writes each option into this file.
    Note(PathBuf),
}

impl Sabotage {
    /// The changes that this copy was told, if it is such a copy.
    pub fn told() -> Option<Sabotage> {
        let room = &std::hint::black_box(&IN_FORCE)[const { MARK.len() }..];
        let end = room.iter().position(|byte| *byte == 0)?;
        Sabotage::parse(std::str::from_utf8(&room[..end]).ok()?)
    }

    /// Each ends with U+001D.
    fn parse(told: &str) -> Option<Sabotage> {
        let changes: Option<Vec<Change>> = told.split_terminator('\u{1d}').map(Change::parse).collect();
        changes.filter(|changes| !changes.is_empty()).map(Sabotage)
    }

    /// Makes them; a start that they do not concern stays as it is.
    pub fn apply(&self, launch: &mut Launch) {
        self.0.iter().for_each(|change| change.apply(launch));
    }
}

impl Change {
    /// Lists end with U+001E, their words with U+001F: what to do and where, then the options.
    fn parse(told: &str) -> Option<Change> {
        let words = |list: &str| list.split_terminator('\u{1f}').map(str::to_owned).collect::<Vec<_>>();
        let lists: Vec<Vec<String>> = told.split_terminator('\u{1e}').map(words).collect();
        let [head, lists @ ..] = &lists[..] else { return None };
        let [how, of] = &head[..] else { return None };
        let act = match (how.as_str(), lists) {
            ("drop", [pattern]) => Act::Drop(pattern.clone()),
            ("weaken", [pattern, to]) => Act::Weaken(pattern.clone(), to.clone()),
            ("add", [option]) => Act::Add(option.clone()),
            ("note", [path]) => Act::Note(path.first()?.into()),
            _ => return None,
        };
        Some(Change { of: of.clone(), act })
    }

    fn apply(&self, launch: &mut Launch) {
        // The stage is started by descriptor (launcher), a git by its name.
        let is_step = launch.command.first().is_some_and(|c| c.as_bytes().starts_with(b"/proc/self/fd/"));
        if launch.command.is_empty() || (self.of == "step" && !is_step) || (self.of == "git" && is_step) {
            return;
        }
        let options = &mut launch.options;
        match &self.act {
            Act::Drop(pattern) => options.retain(|option| !meets(pattern, option)),
            Act::Weaken(pattern, to) => {
                options
                    .iter_mut()
                    .filter(|option| meets(pattern, option))
                    .for_each(|option| *option = filled(to, option));
            }
            Act::Add(option) => {
                let end = options.iter().position(|option| option[0] == "--remount-ro").unwrap_or(options.len());
                options.insert(end, filled(option, &[]));
            }
            // A note that is lost is missed by who reads it.
            Act::Note(path) => drop(note(path, if is_step { "step" } else { "git" }, options)),
        }
    }
}

/// Appends a line for each option: what is started, then the words, each after U+001F; all in one write, as starts meet.
fn note(path: &Path, of: &str, options: &[Vec<OsString>]) -> io::Result<()> {
    let mut lines = Vec::new();
    for option in options {
        lines.extend_from_slice(of.as_bytes());
        option.iter().for_each(|word| lines.extend([b"\x1f", word.as_bytes()].concat()));
        lines.push(b'\n');
    }
    OpenOptions::new().create(true).append(true).open(path)?.write_all(&lines)
}

fn meets(pattern: &[String], option: &[OsString]) -> bool {
    pattern.len() <= option.len() && pattern.iter().zip(option).all(|(p, word)| is_like(p.as_bytes(), word.as_bytes()))
}

/// Whether a word is like a pattern, in which `*` is any name or part of one, and `**` any text.
fn is_like(pattern: &[u8], word: &[u8]) -> bool {
    match pattern {
        [] => word.is_empty(),
        [b'*', b'*', rest @ ..] => (0..=word.len()).any(|at| is_like(rest, &word[at..])),
        [b'*', rest @ ..] => {
            let name = word.iter().take_while(|byte| **byte != b'/').count();
            (0..=name).any(|at| is_like(rest, &word[at..]))
        }
        [first, rest @ ..] => word.first() == Some(first) && is_like(rest, &word[1..]),
    }
}

/// `$1` is the first operand of what stood there.
fn filled(words: &[String], before: &[OsString]) -> Vec<OsString> {
    let operand = |word: &String| word.strip_prefix('$').and_then(|n| before.get(n.parse::<usize>().ok()?)).cloned();
    words.iter().map(|word| operand(word).unwrap_or_else(|| OsString::from_vec(word.clone().into_bytes()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: &str = "--unshare-pid --ro-bind /etc-0 /etc --bind /t/git /w/.git --remount-ro / -- /proc/self/fd/12 x";

    fn changed(told: &str, start: &str) -> String {
        let words = start.split_whitespace().map(OsString::from).collect();
        let mut launch = Launch::parse(words, &mut |_| Ok(Vec::new())).unwrap();
        Sabotage::parse(&told.replace(' ', "\u{1f}").replace(';', "\u{1f}\u{1e}")).unwrap().apply(&mut launch);
        launch.words().map(|w| w.into_string().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_are_dropped_weakened_and_added() {
        assert_eq!(changed("drop both;--unshare-pid;", STEP), STEP.replace("--unshare-pid ", ""));
        assert_eq!(changed("drop both;--ro-bind /* /etc;", STEP), STEP.replace("--ro-bind /etc-0 /etc ", ""));
        let real = STEP.replace("/t/git /w/.git", "/w/.git /w/.git");
        assert_eq!(changed("weaken both;--bind ** **/.git;--bind $2 $2;", STEP), real);
        let added = STEP.replace("--remount-ro", "--bind /run /run --remount-ro");
        assert_eq!(changed("add step;--bind /run /run;", STEP), added);
    }

    #[test]
    fn what_is_only_noted_stays() {
        let path = std::env::temp_dir().join(format!("kusaw-noted-{}", std::process::id()));
        assert_eq!(changed(&format!("note both;{};", path.display()), STEP), STEP);
        let noted = std::fs::read_to_string(&path).unwrap();
        assert!(noted.starts_with("step\u{1f}--unshare-pid\nstep\u{1f}--ro-bind\u{1f}/etc-0\u{1f}/etc\n"), "{noted}");
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_is_not_meant_stays() {
        for told in ["drop both;--unshare-net;", "drop git;--unshare-pid;", "drop both;--bind * **;"] {
            assert_eq!(changed(told, STEP), STEP);
        }
        assert_eq!(Sabotage::told(), None);
    }
}
