//! What is in the quarantine, before anything of it is in the repository: complete, at commits, and within the policy.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Code, Fault};
use super::objects::Quarantine;
use super::refs::Wanted;
use super::{escape, policy, run};
use crate::git::record::Record;

/// Paths that new commits change, all together.
const MOST: usize = 1_000_000;

/// What a path in a tree is.
const LINK: &[u8] = b"120000";
const NOTHING: &[u8] = b"000000";

/// Checks all that the tips bring.
///
/// # Errors
/// The first thing that may not be.
pub fn all(quarantine: &Quarantine, wanted: &Wanted, record: &Record) -> Result<(), Fault> {
    let commits = connected(quarantine, wanted)?;
    at_commits(quarantine, wanted)?;
    let changes = changes(quarantine, &commits)?;
    for change in &changes {
        if change.is_new {
            policy::path(&change.path).map_err(|code| Fault::new(code, at(&change.path, &change.commit)))?;
        }
    }
    let folders = Folders::of(changes.iter().filter(|change| change.is_new).map(|change| &change.path[..]));
    let links: Vec<&Change> = changes.iter().filter(|change| change.mode == LINK).collect();
    let targets = links.iter().map(|link| link.id.clone());
    let tips: BTreeSet<&str> = wanted.tips().collect();
    let asked: Vec<(&str, &[u8])> =
        tips.iter().flat_map(|tip| folders.names.keys().map(|folder| (*tip, &folder[..]))).collect();
    let trees = asked.iter().map(|(tip, folder)| [tip.as_bytes(), b":", folder].concat());
    let objects = contents(quarantine, targets.map(String::into_bytes).chain(trees))?;
    for (link, target) in links.iter().zip(&objects) {
        let target = target.as_deref().unwrap_or_default();
        policy::link(&link.path, target)
            .map_err(|code| Fault::new(code, format!("{} -> {}", at(&link.path, &link.commit), escape(target))))?;
    }
    let mut doubtful = Vec::new();
    for ((_, folder), tree) in asked.iter().zip(&objects[links.len()..]) {
        let names = tree.as_deref().map(|tree| names(tree, record.base.len() / 2)).unwrap_or_default();
        for (a, b) in policy::collisions(&names, |name| folders.has(folder, name)) {
            doubtful.push((*folder, a.to_vec(), b.to_vec()));
        }
    }
    collided(quarantine, &doubtful, record)
}

/// A path that a commit makes or changes.
struct Change {
    commit: String,
    path: Vec<u8>,
    mode: Vec<u8>,
    id: String,
    /// It was in no parent.
    is_new: bool,
}

/// Every object that is reached and not known is there, and is one of the new ones. The value holds the commits.
fn connected(quarantine: &Quarantine, wanted: &Wanted) -> Result<Vec<String>, Fault> {
    let mut revisions: String = wanted.tips().map(|id| format!("{id}\n")).collect();
    quarantine.known.iter().for_each(|id| revisions.extend(["^", id, "\n"]));
    let said = git(quarantine, &["rev-list", "--objects", "--no-object-names", "--stdin"], revisions.as_bytes())?;
    let mut commits = Vec::new();
    for id in String::from_utf8_lossy(&said).lines() {
        match quarantine.new.get(id) {
            Some(true) => commits.push(id.into()),
            Some(false) => {}
            None => return Err(Fault::new(Code::ObjectsMissing, format!("{id} was not packed"))),
        }
    }
    Ok(commits)
}

fn at_commits(quarantine: &Quarantine, wanted: &Wanted) -> Result<(), Fault> {
    let known: Vec<&str> = wanted.tips().filter(|tip| !quarantine.new.contains_key(*tip)).collect();
    let no_commit = |tip: &str| Fault::new(Code::NoCommit, tip);
    if let Some(tip) = wanted.tips().find(|tip| quarantine.new.get(*tip) == Some(&false)) {
        return Err(no_commit(tip));
    }
    if known.is_empty() {
        return Ok(());
    }
    let said = git(quarantine, &["cat-file", "--batch-check=%(objecttype)"], known.join("\n").as_bytes())?;
    let kinds = String::from_utf8_lossy(&said);
    match known.iter().zip(kinds.lines()).find(|(_, kind)| *kind != "commit") {
        Some((tip, _)) => Err(no_commit(tip)),
        None => Ok(()),
    }
}

/// What new commits change against their parents; of a merge, what is as in no parent.
fn changes(quarantine: &Quarantine, commits: &[String]) -> Result<Vec<Change>, Fault> {
    let arguments = ["diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "--no-abbrev", "--no-renames", "-z"];
    // A line without its end is not read.
    let input: String = commits.iter().map(|id| format!("{id}\n")).collect();
    let said = git(quarantine, &arguments, input.as_bytes())?;
    let odd = || Fault::new(Code::Failed, "diff-tree says what it does not say");
    let mut changes = Vec::new();
    let mut commit = String::new();
    let mut parts = said.split(|byte| *byte == 0);
    while let Some(part) = parts.next() {
        if part.is_empty() {
            continue;
        }
        if part[0] != b':' {
            commit = String::from_utf8_lossy(part).into_owned();
            continue;
        }
        let path = parts.next().ok_or_else(odd)?;
        // git-diff-tree(1), "RAW OUTPUT FORMAT", "DIFF FORMAT FOR MERGES": N colons, N+1 modes, N+1 ids, the status.
        let parents = part.iter().take_while(|byte| **byte == b':').count();
        let words: Vec<&[u8]> = part[parents..].split(|byte| *byte == b' ').collect();
        let [mode, id, status] = [parents, 2 * parents + 1, 2 * parents + 2].map(|n| words.get(n).copied());
        let (Some(mode), Some(id), Some(status)) = (mode, id, status) else { return Err(odd()) };
        if mode == NOTHING {
            continue;
        }
        if changes.len() == MOST {
            return Err(Fault::new(Code::TooMany, format!("more than {MOST} changed paths")));
        }
        changes.push(Change {
            commit: commit.clone(),
            path: path.into(),
            mode: mode.into(),
            id: String::from_utf8_lossy(id).into_owned(),
            is_new: status.iter().all(|letter| *letter == b'A'),
        });
    }
    Ok(changes)
}

/// The folders on the way to new paths, and in each the names that lead there. The top is the empty path.
struct Folders {
    names: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
}

impl Folders {
    fn of<'a>(paths: impl Iterator<Item = &'a [u8]>) -> Folders {
        let mut names: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>> = BTreeMap::new();
        for mut path in paths {
            loop {
                let slash = path.iter().rposition(|byte| *byte == b'/');
                let (folder, name) = slash.map_or((&b""[..], path), |at| (&path[..at], &path[at + 1..]));
                let is_new = names.entry(folder.into()).or_default().insert(name.into());
                // What leads to a folder is there already.
                if !is_new || slash.is_none() {
                    break;
                }
                path = folder;
            }
        }
        Folders { names }
    }

    fn has(&self, folder: &[u8], name: &[u8]) -> bool {
        self.names.get(folder).is_some_and(|names| names.contains(name))
    }
}

/// Two names that were there before are not the step's doing.
fn collided(quarantine: &Quarantine, doubtful: &[(&[u8], Vec<u8>, Vec<u8>)], record: &Record) -> Result<(), Fault> {
    if doubtful.is_empty() {
        return Ok(());
    }
    let before = doubtful.iter().map(|(folder, ..)| [record.base.as_bytes(), b":", folder].concat());
    let trees = contents(quarantine, before)?;
    for ((folder, a, b), tree) in doubtful.iter().zip(trees) {
        let names = tree.as_deref().map(|tree| names(tree, record.base.len() / 2)).unwrap_or_default();
        if !names.contains(&&a[..]) || !names.contains(&&b[..]) {
            let [a, b, folder] = [&a[..], &b[..], folder].map(escape);
            return Err(Fault::new(Code::PathCase, format!("{a} and {b} in /{folder}")));
        }
    }
    Ok(())
}

/// The contents of objects, in order; nothing for those that are not there. A path in a name has no line feed: it has passed
/// the policy.
fn contents(quarantine: &Quarantine, names: impl Iterator<Item = Vec<u8>>) -> Result<Vec<Option<Vec<u8>>>, Fault> {
    let names: Vec<Vec<u8>> = names.collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let said = git(quarantine, &["cat-file", "--batch=%(objectsize)"], &names.join(&b'\n'))?;
    let odd = || Fault::new(Code::Failed, "cat-file says what it does not say");
    let mut rest = &said[..];
    let mut contents = Vec::new();
    while !rest.is_empty() {
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or_else(odd)?;
        let line = &rest[..end];
        rest = &rest[end + 1..];
        match str::from_utf8(line).ok().and_then(|size| size.parse::<usize>().ok()) {
            Some(size) if rest.len() > size => {
                contents.push(Some(rest[..size].to_vec()));
                rest = &rest[size + 1..];
            }
            Some(_) => return Err(odd()),
            // "NAME missing".
            None => contents.push(None),
        }
    }
    if contents.len() == names.len() { Ok(contents) } else { Err(odd()) }
}

/// The names in a tree: gitformat-pack(5) has objects' forms; "MODE NAME\0" and the id's raw bytes.
fn names(mut tree: &[u8], id: usize) -> Vec<&[u8]> {
    let mut names = Vec::new();
    while let Some(space) = tree.iter().position(|byte| *byte == b' ') {
        let Some(end) = tree.iter().position(|byte| *byte == 0).filter(|end| *end > space) else { break };
        names.push(&tree[space + 1..end]);
        let Some(rest) = tree.get(end + 1 + id..) else { break };
        tree = rest;
    }
    names
}

fn git(quarantine: &Quarantine, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Fault> {
    let command = quarantine.git().command(arguments).map_err(|said| Fault::new(Code::Failed, said))?;
    run::run(command, input, Code::ObjectsMissing, arguments[0])
}

fn at(path: &[u8], commit: &str) -> String {
    format!("{} in {}", String::from_utf8_lossy(path), &commit[..commit.len().min(12)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_on_the_way_is_known() {
        let folders = Folders::of([&b"a/b/c"[..], b"a/b/d", b"e"].into_iter());
        let names: Vec<&[u8]> = folders.names.keys().map(|name| &name[..]).collect();
        assert_eq!(names, [&b""[..], b"a", b"a/b"]);
        assert!(folders.has(b"", b"e") && folders.has(b"", b"a") && folders.has(b"a/b", b"d"));
        assert!(!folders.has(b"a", b"c"));
    }

    #[test]
    fn names_of_a_tree() {
        let tree = [&b"100644 a b\0"[..], &[0x20; 20], b"40000 d\0", &[0; 20]].concat();
        assert_eq!(names(&tree, 20), [&b"a b"[..], b"d"]);
        assert!(names(b"100644", 20).is_empty());
    }
}
