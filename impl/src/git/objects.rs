//! Where a repository's objects are: in its own folder and in those that it borrows from, which borrow in turn.

use std::collections::VecDeque;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Most that are followed; git follows alternates five deep.
const MOST: usize = 32;

/// The object folder of a common git folder and those it borrows from, as real paths. What is there and is no object folder is
/// an error: a link may lead anywhere, and all of these are shown to a step.
pub fn all(common: &Path) -> Result<Vec<PathBuf>, String> {
    let own = real(&common.join("objects"))?;
    let mut found: Vec<PathBuf> = Vec::new();
    let mut waiting = VecDeque::from([own]);
    while let Some(folder) = waiting.pop_front() {
        if found.contains(&folder) {
            continue;
        }
        if found.len() == MOST {
            return Err(format!("it borrows objects from more than {MOST} folders"));
        }
        waiting.extend(alternates(&folder)?);
        found.push(folder);
    }
    Ok(found)
}

/// The file that names the folders which this one borrows from: gitrepository-layout(5).
pub fn alternates_file(folder: &Path) -> PathBuf {
    folder.join("info/alternates")
}

fn alternates(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let Ok(text) = fs::read(alternates_file(folder)) else { return Ok(Vec::new()) };
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && line[0] != b'#');
    // One that is not there any more is passed over, as git does with a warning.
    let there = lines.map(|line| folder.join(std::ffi::OsStr::from_bytes(line))).filter(|path| path.exists());
    there.map(|path| real(&path)).collect()
}

fn real(folder: &Path) -> Result<PathBuf, String> {
    let real = folder.canonicalize().map_err(|e| format!("{}: {e}", folder.display()))?;
    let is_theirs = |entry: &str| real.join(entry).is_dir();
    // Every repository that git makes has both.
    if is_theirs("info") && is_theirs("pack") {
        return Ok(real);
    }
    Err(format!("{} is no folder of git objects: there is no info/ and pack/ in it", real.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_those_it_borrows_from_and_no_other_folder() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        for name in ["a", "b", "c"] {
            ["info", "pack"].iter().for_each(|part| fs::create_dir_all(at(name).join("objects").join(part)).unwrap());
        }
        let borrow = |name: &str, text: String| fs::write(alternates_file(&at(name).join("objects")), text).unwrap();
        borrow("a", format!("# comment\n../../b/objects\n{}\n/nothere\n", at("a/objects").display()));
        borrow("b", format!("{}\n", at("c/objects").display()));
        assert_eq!(all(&at("a")).unwrap(), ["a/objects", "b/objects", "c/objects"].map(at));
        fs::create_dir(at("keys")).unwrap();
        borrow("c", "../../keys".into());
        assert!(all(&at("a")).unwrap_err().contains("keys is no folder of git objects"));
    }
}
