//! The new trees as such, each once however often it is named: modes that are none, and names that are one on a file system
//! which ignores case.

use std::collections::{BTreeMap, BTreeSet};

use super::batch;
use super::code::{Code, Fault};
use super::objects::{Kind, Quarantine, there};
use super::refs::Wanted;
use super::run::Watch;
use super::{escape, policy};
use crate::git::record::Record;

/// Of one tree, in bytes: half a million names.
const LARGEST: usize = 32 << 20;

/// What is looked at more closely: names, folders in all tips, pairs. An ordinary step has none.
const MOST: usize = 20_000;

/// What git writes: fsck has a word for others, and accepts them.
const MODES: [&[u8]; 5] = [b"100644", b"100755", b"120000", b"40000", b"160000"];

/// Names that differ from another one in some new tree in nothing but case, and where new paths have them.
#[derive(Debug, Default)]
pub struct Suspects {
    names: BTreeSet<Vec<u8>>,
    folders: BTreeMap<Vec<u8>, BTreeSet<Vec<u8>>>,
    count: usize,
}

impl Suspects {
    /// Reads every new tree.
    ///
    /// # Errors
    /// When one has a mode that is none, and the repository does not have it as well.
    pub fn of(quarantine: &Quarantine, record: &Record, watch: &Watch) -> Result<Suspects, Fault> {
        let trees = quarantine.new.iter().filter(|(_, (kind, _))| *kind == Kind::Tree).map(|(id, _)| id.as_str());
        let trees: Vec<&str> = trees.collect();
        let asked: Vec<&[u8]> = trees.iter().map(|id| id.as_bytes()).collect();
        let mut suspects = Suspects::default();
        let mut odd: BTreeMap<String, String> = BTreeMap::new();
        batch::each(quarantine, &asked, LARGEST, watch, &mut |number, tree| {
            let entries = entries(tree.unwrap_or_default(), record.base.len() / 2);
            if let Some((mode, name)) = entries.iter().find(|(mode, _)| !MODES.contains(mode)) {
                let said = format!("{} has the mode {} in a tree", escape(name), escape(mode));
                odd.insert(trees[number].into(), said);
            }
            let names: Vec<&[u8]> = entries.iter().map(|(_, name)| *name).collect();
            for (a, b) in policy::collisions(&names, |_| true) {
                suspects.names.extend([a.to_vec(), b.to_vec()]);
            }
            is_few(suspects.names.len().max(odd.len()))
        })?;
        if !odd.is_empty() {
            let theirs = there(&odd.keys().cloned().collect(), record, watch)?;
            if let Some((id, said)) = odd.iter().find(|(id, _)| !theirs.contains(*id)) {
                return Err(Fault::new(Code::ObjectsBad, format!("{said} ({id})")));
            }
        }
        Ok(suspects)
    }

    /// Notes where a new path has such a name: its own, or that of a folder on its way.
    ///
    /// # Errors
    /// When there are too many.
    pub fn note(&mut self, path: &[u8]) -> Result<(), Fault> {
        if self.names.is_empty() {
            return Ok(());
        }
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at).chain([path.len()]);
        let mut start = 0;
        for end in ends {
            let name = &path[start..end];
            if self.names.contains(name) {
                let folder = self.folders.entry(path[..start.saturating_sub(1)].into()).or_default();
                self.count += usize::from(folder.insert(name.into()));
            }
            start = end + 1;
        }
        is_few(self.count)
    }

    /// Whether two of them are in one folder of a tip, and were not in the base: two names that were there before are not the
    /// step's doing.
    ///
    /// # Errors
    /// When they are.
    pub fn check(&self, quarantine: &Quarantine, wanted: &Wanted, record: &Record, watch: &Watch) -> Result<(), Fault> {
        let tips: BTreeSet<&str> = wanted.tips().collect();
        is_few(tips.len() * self.folders.len())?;
        let folders: Vec<(&Vec<u8>, &BTreeSet<Vec<u8>>)> = self.folders.iter().collect();
        let named: Vec<Vec<u8>> = tips
            .iter()
            .flat_map(|tip| folders.iter().map(|(folder, _)| [tip.as_bytes(), b":", folder].concat()))
            .collect();
        let id = record.base.len() / 2;
        let mut doubtful = BTreeSet::new();
        batch::each(quarantine, &refs(&named), LARGEST, watch, &mut |number, tree| {
            let (folder, new) = folders[number % folders.len()];
            let names: Vec<&[u8]> = entries(tree.unwrap_or_default(), id).into_iter().map(|(_, name)| name).collect();
            for (a, b) in policy::collisions(&names, |name| new.contains(name)) {
                doubtful.insert((folder.clone(), a.to_vec(), b.to_vec()));
            }
            is_few(doubtful.len())
        })?;
        let doubtful: Vec<_> = doubtful.into_iter().collect();
        let before: Vec<Vec<u8>> =
            doubtful.iter().map(|(folder, ..)| [record.base.as_bytes(), b":", folder].concat()).collect();
        batch::each(quarantine, &refs(&before), LARGEST, watch, &mut |number, tree| {
            let (folder, a, b) = &doubtful[number];
            let entries = entries(tree.unwrap_or_default(), id);
            let has = |name: &[u8]| entries.iter().any(|(_, other)| *other == name);
            if has(a) && has(b) {
                return Ok(());
            }
            let [a, b, folder] = [a, b, folder].map(|name| escape(name));
            Err(Fault::new(Code::PathCase, format!("{a} and {b} in /{folder}")))
        })
    }
}

fn refs(names: &[Vec<u8>]) -> Vec<&[u8]> {
    names.iter().map(|name| &name[..]).collect()
}

fn is_few(count: usize) -> Result<(), Fault> {
    match count > MOST {
        true => Err(Fault::new(Code::TooMany, format!("more than {MOST} names that differ in case, or odd trees"))),
        false => Ok(()),
    }
}

/// Mode and name of what is in a tree: gitformat-pack(5) has objects' forms; "MODE NAME\0" and the id's raw bytes.
fn entries(mut tree: &[u8], id: usize) -> Vec<(&[u8], &[u8])> {
    let mut entries = Vec::new();
    while let Some(space) = tree.iter().position(|byte| *byte == b' ') {
        let Some(end) = tree.iter().position(|byte| *byte == 0).filter(|end| *end > space) else { break };
        entries.push((&tree[..space], &tree[space + 1..end]));
        let Some(rest) = tree.get(end + 1 + id..) else { break };
        tree = rest;
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_on_the_way_is_known() {
        let names = [&b"a"[..], b"b", b"e"].map(<[u8]>::to_vec).into();
        let mut suspects = Suspects { names, ..Suspects::default() };
        [&b"a/b/c"[..], b"a/b/d", b"e"].iter().for_each(|path| suspects.note(path).unwrap());
        let folders: Vec<(&[u8], usize)> = suspects.folders.iter().map(|(at, names)| (&at[..], names.len())).collect();
        assert_eq!(folders, [(&b""[..], 2), (b"a", 1)]);
    }

    #[test]
    fn entries_of_a_tree() {
        let tree = [&b"100644 a b\0"[..], &[0x20; 20], b"40000 d\0", &[0; 20]].concat();
        assert_eq!(entries(&tree, 20), [(&b"100644"[..], &b"a b"[..]), (b"40000", b"d")]);
        assert!(entries(b"100644", 20).is_empty());
    }
}
