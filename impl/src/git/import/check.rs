//! What is in the quarantine, before anything of it is in the repository: complete, at commits, and within the policy.

use super::changes;
use super::code::{Code, Fault};
use super::lines::Lines;
use super::links::Links;
use super::objects::{Kind, Quarantine};
use super::refs::Wanted;
use super::run::{self, Watch};
use super::trees::Suspects;
use super::weight::Weight;
use super::{at, policy};
use crate::git::record::Record;

/// Checks all that the tips bring. Trees are read once each and changes as they come: a few objects can be named by more paths
/// than memory has room for.
///
/// # Errors
/// The first thing that may not be.
pub fn all(quarantine: &Quarantine, wanted: &Wanted, record: &Record, watch: &Watch) -> Result<(), Fault> {
    let commits = connected(quarantine, wanted, watch)?;
    at_commits(quarantine, wanted, watch)?;
    let mut suspects = Suspects::of(quarantine, record, watch)?;
    let (mut links, mut weight) = (Links::default(), Weight::default());
    changes::each(quarantine, &commits, watch, &mut |change| {
        if change.is_new {
            policy::path(change.path).map_err(|code| Fault::new(code, at(change.path, change.commit)))?;
            suspects.note(change.path)?;
        }
        weight.add(quarantine, change);
        links.note(change)
    })?;
    links.check(quarantine, wanted, record, watch)?;
    suspects.check(quarantine, wanted, record, watch)?;
    weight.check(quarantine, wanted, record, watch)
}

/// Every object that is reached and not known is there, and is one of the new ones. The value holds the commits, a line each.
fn connected(quarantine: &Quarantine, wanted: &Wanted, watch: &Watch) -> Result<String, Fault> {
    let revisions = quarantine.revisions(wanted.tips());
    let git = quarantine.git().command(["rev-list", "--objects", "--no-object-names", "--stdin"]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    let (mut lines, mut commits) = (Lines::default(), String::new());
    run::stream(git, revisions.as_bytes(), Code::ObjectsMissing, "rev-list", watch, &mut |bytes| {
        lines.feed(bytes, &mut |id| match quarantine.new.get(id) {
            Some((Kind::Commit, _)) => {
                commits.extend([id, "\n"]);
                Ok(())
            }
            Some(_) => Ok(()),
            None => Err(Fault::new(Code::ObjectsMissing, format!("{id} was not packed"))),
        })
    })?;
    Ok(commits)
}

fn at_commits(quarantine: &Quarantine, wanted: &Wanted, watch: &Watch) -> Result<(), Fault> {
    let known: Vec<&str> = wanted.tips().filter(|tip| !quarantine.new.contains_key(*tip)).collect();
    let no_commit = |tip: &str| Fault::new(Code::NoCommit, tip);
    let is_other = |tip: &&str| quarantine.new.get(*tip).is_some_and(|(kind, _)| *kind != Kind::Commit);
    if let Some(tip) = wanted.tips().find(is_other) {
        return Err(no_commit(tip));
    }
    if known.is_empty() {
        return Ok(());
    }
    let git = quarantine.git().command(["cat-file", "--batch-check=%(objecttype)"]);
    let git = git.map_err(|said| Fault::new(Code::Failed, said))?;
    let said = run::run(git, known.join("\n").as_bytes(), Code::ObjectsMissing, "cat-file", watch)?;
    let kinds = String::from_utf8_lossy(&said);
    match known.iter().zip(kinds.lines()).find(|(_, kind)| *kind != "commit") {
        Some((tip, _)) => Err(no_commit(tip)),
        None => Ok(()),
    }
}
