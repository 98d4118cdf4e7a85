//! What commits change, path by path, as `git diff-tree` tells it; none of it is kept here.

use super::code::{Code, Fault};
use super::lines::Lines;
use super::objects::Quarantine;
use super::run::{self, Watch};

/// Paths that are changed, all together, folders among them.
const MOST: usize = 1_000_000;

/// A link, in git's modes.
pub const LINK: &[u8] = b"120000";

/// A path that a commit makes, changes or removes.
#[derive(Debug)]
pub struct Change<'a> {
    /// The commit's id.
    pub commit: &'a str,
    /// From the top of the tree.
    pub path: &'a [u8],
    /// What it is now, in git's modes.
    pub mode: &'a [u8],
    /// Its object.
    pub id: &'a str,
    /// It was in no parent.
    pub is_new: bool,
    /// It is a link, or was one in a parent.
    pub touches_link: bool,
}

/// What each line's first commit changes against its parents, or against the line's further commits; of a merge, what is as in
/// no parent. Folders are paths as well: an empty one has no other.
///
/// # Errors
/// As git says them, and those of `take`.
pub fn each(
    quarantine: &Quarantine,
    lines: &str,
    watch: &Watch,
    take: &mut dyn FnMut(&Change) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let arguments = ["diff-tree", "--stdin", "-r", "-t", "-c", "--root", "--raw", "--no-abbrev", "--no-renames", "-z"];
    let git = quarantine.git().command(arguments).map_err(|said| Fault::new(Code::Failed, said))?;
    let (mut parts, mut count) = (Lines::ending(0), 0);
    let (mut commit, mut before) = (String::new(), Vec::new());
    run::stream(git, lines.as_bytes(), Code::ObjectsMissing, "diff-tree", watch, &mut |bytes| {
        parts.feed_bytes(bytes, &mut |part| {
            if before.is_empty() {
                match part.first() {
                    Some(b':') => before = part.to_vec(),
                    _ => commit = String::from_utf8_lossy(part).into_owned(),
                }
                return Ok(());
            }
            count += 1;
            if count > MOST {
                return Err(Fault::new(Code::TooMany, format!("more than {MOST} changed paths")));
            }
            let change = parse(&commit, &before, part);
            let change = change.ok_or_else(|| Fault::new(Code::Failed, "diff-tree says what it does not say"))?;
            take(&change)?;
            before.clear();
            Ok(())
        })
    })
}

/// git-diff-tree(1), "RAW OUTPUT FORMAT", "DIFF FORMAT FOR MERGES": N colons, N+1 modes, N+1 ids, the status.
fn parse<'a>(commit: &'a str, before: &'a [u8], path: &'a [u8]) -> Option<Change<'a>> {
    let parents = before.iter().take_while(|byte| **byte == b':').count();
    let words: Vec<&[u8]> = before[parents..].split(|byte| *byte == b' ').collect();
    let (mode, id, status) = (words.get(parents)?, words.get(2 * parents + 1)?, words.get(2 * parents + 2)?);
    Some(Change {
        commit,
        path,
        mode,
        id: str::from_utf8(id).ok()?,
        is_new: status.iter().all(|letter| *letter == b'A'),
        touches_link: words[..=parents].contains(&LINK),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_and_more_parents() {
        let one = parse("c", b":000000 120000 00 ab A", b"x").unwrap();
        assert_eq!((one.mode, one.id, one.is_new, one.touches_link), (LINK, "ab", true, true));
        let two = parse("c", b"::100644 120000 000000 01 02 00 DD", b"x").unwrap();
        assert_eq!((two.id, two.is_new, two.touches_link), ("00", false, true));
        assert!(!parse("c", b"::000000 100644 100644 01 02 00 AM", b"x").unwrap().is_new);
        assert!(parse("c", b":000000 120000 00", b"x").is_none());
    }
}
