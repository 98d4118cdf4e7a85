//! Whether there is a fault for every option that bubblewrap is told: what it is really told is written down in a lab, by a copy
//! of the saboteur in its place.

use std::collections::BTreeSet;

use regex::Regex;

use super::change::{Change, Of};
use super::fault::Fault;

/// A scenario of each kind of start: with a repository and its commit, both networks, paths that are allowed, a home with something
/// hidden in it, agents and their state, several repositories, a key, a terminal.
pub const STARTS: [&str; 12] = [
    "GIT-01/a-commit-is-on-the-worktree-s-branch-afterwards-with-network-open",
    "EGR-01/an-allowed-host-is-reached-by-connect-on-port-443",
    "FS-10/below-a-folder-that-may-be-read-the-worktree-can-be-written",
    "FS-10/allow_write-lets-a-step-write-a-file",
    "FS-16/allow_read-of-the-home-does-not-open-the-secret-store",
    "AGT-01/what-claude-code-writes-in-.claude-is-there-afterwards",
    "AGT-01/what-it-notes-in-~-.claude.json-is-there-afterwards-whole-and-nothing-beside-it",
    "AGT-01/what-cursor-writes-in-.cursor-is-there-afterwards",
    "AGT-05/a-script-starts-with-the-node-beside-it-nvm",
    "SET-05/can-write-its-own-worktree-and-not-the-other-s-demo-extra",
    "INJ-01/it-is-not-in-the-step-s-environment",
    "NS-13/dev-tty-is-the-terminal",
];

/// Where the saboteur writes, in the lab.
const NOTES: &str = "/tmp/kusaw-told";

/// An option of a start of bubblewrap, with its operands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Told {
    /// What is started.
    pub of: Of,
    /// The option and its operands.
    pub words: Vec<String>,
}

/// What tells the saboteur to write down what it is told.
pub fn note() -> Vec<u8> {
    format!("note\u{1f}both\u{1f}\u{1e}{NOTES}\u{1f}\u{1e}\u{1d}").into_bytes()
}

/// A script that shows it, for the shell in the lab.
pub fn look() -> String {
    format!("cat {NOTES}\n")
}

/// What was written down, in whatever else a run says: lines of `step` or `git` and the words, each after U+001F.
pub fn read(said: &str) -> BTreeSet<Told> {
    let of = [("step\u{1f}", Of::Step), ("git\u{1f}", Of::Git)];
    let told = |line: &str| {
        let (of, words) = of.into_iter().find_map(|(word, of)| Some((of, line.split_once(word)?.1)))?;
        Some(Told { of, words: words.split('\u{1f}').map(str::to_owned).collect() })
    };
    said.lines().filter_map(told).collect()
}

/// The options that no fault leaves out or weakens.
pub fn without_a_fault<'a>(told: &'a BTreeSet<Told>, faults: &[Fault]) -> Vec<&'a Told> {
    let changes = faults.iter().filter_map(|fault| fault.bubblewrap.as_ref()).flat_map(|changes| changes.all());
    let patterns: Vec<_> = changes.filter(|change| !change.pattern().is_empty()).map(pattern).collect();
    let is_met = |told: &&Told| {
        patterns.iter().any(|(of, words)| of.is_none_or(|of| of == told.of) && meets(words, &told.words))
    };
    told.iter().filter(|told| !is_met(told)).collect()
}

fn pattern(change: &Change) -> (Option<Of>, Vec<Regex>) {
    (change.of, change.pattern().iter().map(|word| like(word)).collect())
}

fn meets(pattern: &[Regex], words: &[String]) -> bool {
    pattern.len() <= words.len() && pattern.iter().zip(words).all(|(like, word)| like.is_match(word))
}

/// A word of a pattern: `*` is any name or part of one, `**` any text.
fn like(word: &str) -> Regex {
    let text = regex::escape(word).replace(r"\*\*", "(?s:.*)").replace(r"\*", "[^/]*");
    Regex::new(&format!("^{text}$")).unwrap_or_else(|e| unreachable!("escaped text is a pattern: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(of: Of, words: &str) -> Told {
        Told { of, words: words.split(' ').map(str::to_owned).collect() }
    }

    #[test]
    fn what_a_saboteur_writes_is_found_between_other_lines() {
        let said = "ok\n$ step\u{1f}--bind\u{1f}/a b\u{1f}/c\ngit\u{1f}--as-pid-1\nstep by step\n";
        let mut both = [told(Of::Step, "--bind /a b /c"), told(Of::Git, "--as-pid-1")];
        both[0].words = ["--bind", "/a b", "/c"].map(str::to_owned).to_vec();
        assert_eq!(read(said), BTreeSet::from(both));
    }

    #[test]
    fn an_option_is_met_by_a_pattern_of_its_beginning_where_it_is_meant() {
        let text = "- {name: a, breaks: FS-01, how: x, bubblewrap: {drop: [--ro-bind, '**', '**/.git/config'], in: step}}\n\
                    - {name: b, breaks: FS-01, how: x, bubblewrap: {weaken: [--bind, '/w/*'], to: [--ro-bind, $1, $2]}}\n\
                    - {name: c, breaks: FS-01, how: x, bubblewrap: {add: [--bind, /x, /x]}}\n";
        let faults: Vec<Fault> = serde_yaml::from_str(text).unwrap();
        let met = [
            told(Of::Step, "--ro-bind /t/0 /r/.git/config"),
            told(Of::Step, "--bind /w/demo /x"),
            told(Of::Git, "--bind /w/ /y"),
        ];
        let not = [
            told(Of::Git, "--ro-bind /t/0 /r/.git/config"),
            told(Of::Step, "--ro-bind /t/0 /r/.git/config.worktree"),
            told(Of::Step, "--bind /w/a/b /x"),
            told(Of::Step, "--bind /x /x"),
        ];
        let all: BTreeSet<Told> = met.into_iter().chain(not.clone()).collect();
        assert_eq!(without_a_fault(&all, &faults).into_iter().cloned().collect::<BTreeSet<_>>(), BTreeSet::from(not));
    }
}
