//! Which refs a step has left, and which of them are imported: its own branch, and more in the attempt's namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::bare::View;
use super::code::{Code, Fault};
use super::escape;
use super::names::{Taken, is_safe};
use super::run::{self, Watch};
use crate::git::command::Git;
use crate::git::record::Record;
use crate::git::store::Store;

/// Further branches that are imported.
const MOST_BRANCHES: usize = 20;

/// Names that are reported.
const MOST_LEFT: usize = 50;

/// Full name and id.
pub type Ids = BTreeMap<String, String>;

/// A ref in the step's store.
#[derive(Debug, PartialEq, Eq)]
pub struct Ref {
    name: String,
    id: String,
    symbolic: bool,
}

/// What is to be imported, and the names of the rest.
#[derive(Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Of the attempt's own branch.
    pub tip: String,
    /// Full name and id.
    pub branches: Vec<(String, String)>,
    /// Escaped.
    pub left: Vec<String>,
}

impl Wanted {
    /// All ids, the own branch's first.
    pub fn tips(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.tip.as_str()).chain(self.branches.iter().map(|(_, id)| id.as_str()))
    }
}

/// Every ref in the step's store, read in the box.
///
/// # Errors
/// When git cannot read them, or says what git does not say.
pub fn of_step(view: &View, record: &Record, watch: &Watch) -> Result<Vec<Ref>, Fault> {
    let git = view.shown().git(&["for-each-ref", "--format=%(objectname) %(symref) %(refname)"])?;
    let said = run::run(git, b"", Code::RefsUnreadable, "for-each-ref in the box", watch)?;
    let line = |line: &[u8]| {
        let mut words = str::from_utf8(line).ok()?.splitn(3, ' ');
        let (id, target, name) = (words.next()?, words.next()?, words.next()?);
        let is_ref = is_id(id, record) && name.starts_with("refs/");
        is_ref.then(|| Ref { name: name.into(), id: id.into(), symbolic: !target.is_empty() })
    };
    let lines = said.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    // A name that is not UTF-8 is left out: it is not ours.
    Ok(lines.filter_map(line).collect())
}

/// The refs at the start, as they were given to the step: the copy that it could not write.
///
/// # Errors
/// When it cannot be read.
pub fn at_start(store: &Store) -> Result<Ids, Fault> {
    let file = store.pinned().join("packed-refs");
    fs::read(&file).map(|bytes| parse(&String::from_utf8_lossy(&bytes))).map_err(Fault::failed(file.display()))
}

/// The refs of the repository itself, now.
///
/// # Errors
/// As git says them.
pub fn all(record: &Record, watch: &Watch) -> Result<Ids, Fault> {
    real(record, "refs/", watch)
}

/// The refs of the repository in the attempt's namespace, now.
///
/// # Errors
/// As git says them.
pub fn there(record: &Record, watch: &Watch) -> Result<Ids, Fault> {
    real(record, &record.namespace, watch)
}

fn real(record: &Record, below: &str, watch: &Watch) -> Result<Ids, Fault> {
    let git = Git::of(&record.common).command(["for-each-ref", "--format=%(objectname) %(refname)", below]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    let said = run::run(git, b"", Code::Failed, &format!("for-each-ref in {}", record.common.display()), watch)?;
    Ok(parse(&String::from_utf8_lossy(&said)))
}

/// "ID NAME" lines, as in `packed-refs` as well; what begins otherwise is left out.
fn parse(text: &str) -> Ids {
    let lines = text.lines().filter(|line| !line.starts_with(['#', '^']));
    lines.filter_map(|line| line.split_once(' ')).map(|(id, name)| (name.into(), id.into())).collect()
}

/// Chooses.
///
/// # Errors
/// When the own branch is not there, or stands for another.
pub fn wanted(found: &[Ref], start: &Ids, record: &Record) -> Result<Wanted, Fault> {
    let own = record.branch();
    let Some(main) = found.iter().find(|found| found.name == own) else {
        return Err(Fault::new(Code::BranchMissing, own));
    };
    if main.symbolic {
        return Err(Fault::new(Code::BranchSymbolic, own));
    }
    let mut wanted = Wanted { tip: main.id.clone(), branches: Vec::new(), left: Vec::new() };
    let mut taken = Taken::default();
    taken.add(&own);
    let mut left = Vec::new();
    let names: BTreeSet<&str> = found.iter().map(|found| found.name.as_str()).collect();
    // A symbolic ref holds nothing itself.
    for found in found.iter().filter(|found| !found.symbolic && found.name != own) {
        let is_new = start.get(&found.name) != Some(&found.id);
        let inner = found.name.strip_prefix(&record.namespace);
        if inner.is_some_and(is_safe) && wanted.branches.len() < MOST_BRANCHES && taken.add(&found.name) {
            wanted.branches.push((found.name.clone(), found.id.clone()));
        } else if is_new {
            left.push(word(&found.name));
        }
    }
    let removed = start.keys().filter(|name| !names.contains(name.as_str()) && **name != own);
    left.extend(removed.map(|name| word(name) + " (removed)"));
    let more = left.len().saturating_sub(MOST_LEFT);
    left.truncate(MOST_LEFT);
    if more > 0 {
        left.push(format!("and {more} more"));
    }
    wanted.left = left;
    Ok(wanted)
}

/// Whether the repository's branches stand where the step's began, or, after a crash, where they are to go.
///
/// # Errors
/// When somebody has moved one.
pub fn can_move(there: &Ids, wanted: &Wanted, record: &Record) -> Result<(), Fault> {
    let own = record.branch();
    let moved = |name: &str, id: Option<&String>| {
        let at = id.map_or("gone", String::as_str);
        Fault::new(Code::BranchMoved, format!("{name} is {at} in {}", record.common.display()))
    };
    match there.get(&own) {
        Some(id) if *id == record.base || *id == wanted.tip => {}
        other => return Err(moved(&own, other)),
    }
    match wanted.branches.iter().find(|(name, id)| there.get(name).is_some_and(|other| other != id)) {
        Some((name, _)) => Err(moved(name, there.get(name))),
        None => Ok(()),
    }
}

/// Whether all of them have moved already.
pub fn are_there(there: &Ids, wanted: &Wanted, record: &Record) -> bool {
    there.get(&record.branch()) == Some(&wanted.tip)
        && wanted.branches.iter().all(|(name, id)| there.get(name) == Some(id))
}

/// Leaves out what cannot be beside a ref that the repository has: `a` and `a/b` are a file and a folder.
pub fn fit(wanted: &mut Wanted, there: &Ids) {
    let (fit, not) = std::mem::take(&mut wanted.branches).into_iter().partition(|(name, _)| {
        let name = Taken::key(name);
        !there.keys().any(|other| Taken::conflict(&Taken::key(other), &name))
    });
    wanted.branches = fit;
    wanted.left.extend(not.into_iter().map(|(name, _): (String, String)| word(&name)));
}

fn is_id(id: &str, record: &Record) -> bool {
    id.len() == record.base.len() && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn word(name: &str) -> String {
    let named = [("refs/heads/", "branch "), ("refs/tags/", "tag "), ("refs/remotes/", "remote branch ")];
    let short = named.iter().find_map(|(prefix, kind)| Some(format!("{kind}{}", name.strip_prefix(prefix)?)));
    let short = short.unwrap_or_else(|| if name == "refs/stash" { "stash".into() } else { name.into() });
    escape(short.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            version: 1,
            attempt: "a".into(),
            repo: "r".into(),
            namespace: "refs/heads/kusaw/a/".into(),
            base: "0".repeat(40),
            common: "/c".into(),
            admin: "/c/worktrees/w".into(),
            worktree: "/w".into(),
            objects: Vec::new(),
            format: "sha1".into(),
            refs: "files".into(),
            sign: None,
        }
    }

    fn named(name: &str, id: &str) -> Ref {
        Ref { name: name.into(), id: id.repeat(40), symbolic: false }
    }

    #[test]
    fn the_own_namespace_is_wanted_and_the_rest_is_named() {
        let found = [
            named("refs/heads/feat", "1"),
            named("refs/heads/kusaw/a/main", "2"),
            named("refs/heads/kusaw/a/MAIN", "2"),
            named("refs/heads/kusaw/a/more", "3"),
            named("refs/heads/kusaw/a/MORE/x", "3"),
            named("refs/heads/kusaw/a/od\u{202e}d", "3"),
            named("refs/heads/main", "9"),
            named("refs/notes/x", "4"),
            named("refs/stash", "5"),
            named("refs/tags/same", "7"),
            Ref { symbolic: true, ..named("refs/remotes/o/HEAD", "7") },
        ];
        let start = parse(&format!(
            "# pack-refs with: sorted\n{} refs/heads/gone\n{} refs/heads/main\n{} refs/tags/same\n^{}\n",
            "6".repeat(40),
            "0".repeat(40),
            "7".repeat(40),
            "8".repeat(40),
        ));
        let wanted = wanted(&found, &start, &record()).unwrap();
        assert_eq!(wanted.tip, "2".repeat(40));
        assert_eq!(wanted.branches, [("refs/heads/kusaw/a/more".into(), "3".repeat(40))]);
        let left = ["feat", "kusaw/a/MAIN", "kusaw/a/MORE/x", "kusaw/a/od\\u{202e}d", "main"];
        assert_eq!(wanted.left[..5], left.map(|name| format!("branch {name}")));
        assert_eq!(wanted.left[5..], ["refs/notes/x", "stash", "branch gone (removed)"]);
    }

    #[test]
    fn a_name_is_not_both_file_and_folder() {
        let name = |inner: &str| format!("refs/heads/kusaw/a/{inner}");
        let branches = ["x", "y/z", "w"].map(|inner| (name(inner), "1".into())).to_vec();
        let mut wanted = Wanted { tip: "1".into(), branches, left: Vec::new() };
        let there = ["x/y", "y", "w", "ww/x"].map(|inner| (name(inner), "1".into())).into();
        fit(&mut wanted, &there);
        assert_eq!(wanted.branches, [(name("w"), "1".into())]);
        assert_eq!(wanted.left, ["branch kusaw/a/x", "branch kusaw/a/y/z"]);
    }

    #[test]
    fn there_is_a_cap() {
        let mut found: Vec<Ref> = (0..100).map(|n| named(&format!("refs/heads/kusaw/a/b{n:02}"), "1")).collect();
        found.push(named("refs/heads/kusaw/a/main", "2"));
        let wanted = wanted(&found, &Ids::new(), &record()).unwrap();
        assert_eq!((wanted.branches.len(), wanted.left.len()), (MOST_BRANCHES, MOST_LEFT + 1));
        assert_eq!(wanted.left[MOST_LEFT], "and 30 more");
    }

    #[test]
    fn the_own_branch_must_be_one() {
        let record = record();
        let code = |found: &[Ref]| wanted(found, &Ids::new(), &record).unwrap_err().code;
        assert_eq!(code(&[]), Code::BranchMissing);
        assert_eq!(code(&[Ref { symbolic: true, ..named(&record.branch(), "1") }]), Code::BranchSymbolic);
    }

    #[test]
    fn a_branch_that_somebody_moved_is_not_moved_again() {
        let record = record();
        let own = record.branch();
        let more = format!("{}more", record.namespace);
        let [tip, other] = ["2", "3"].map(|digit| digit.repeat(40));
        let wanted = Wanted { tip: tip.clone(), branches: vec![(more.clone(), tip.clone())], left: Vec::new() };
        let at = |main: &str, second: Option<&str>| {
            let second = second.map(|id| (more.clone(), id.to_string()));
            let there: Ids = [(own.clone(), main.to_string())].into_iter().chain(second).collect();
            can_move(&there, &wanted, &record).is_ok()
        };
        assert!(at(&record.base, None) && at(&tip, None) && at(&tip, Some(&tip)));
        assert!(!at(&other, None) && !at(&record.base, Some(&other)));
        assert_eq!(can_move(&Ids::new(), &wanted, &record).unwrap_err().code, Code::BranchMoved);
    }
}
