//! The refs of a repository at one moment, as a step gets them: one file, however many there are.

use std::fs;
use std::io;
use std::path::Path;

use super::command::Git;

/// For `git for-each-ref`.
const FORMAT: &str = "--format=%(objectname) %(symref) %(refname)";

/// What `packed-refs` begins with.
const HEAD: &str = "# pack-refs with: sorted \n";

/// Refs that belong to one worktree, or to the user: gitrepository-layout(5), "refs".
const NOT_SHARED: &[&str] = &["refs/stash", "refs/bisect/", "refs/worktree/", "refs/rewritten/"];

/// Copies of the tables of a reftable are begun again when git has rewritten them meanwhile.
const TURNS: u32 = 16;

/// The refs of a repository. There may be very many: they stay the one text that they are needed as.
#[derive(Debug, PartialEq, Eq)]
pub struct Refs {
    /// As one file: gitrepository-layout(5), "packed-refs"; git(1) has no command for that.
    pub packed: String,
    /// Full name, and that of the ref it stands for.
    pub symbolic: Vec<(String, String)>,
}

impl Refs {
    /// Those of a repository now. Names that are not UTF-8 are left out.
    ///
    /// # Errors
    /// As git says them.
    pub fn of(git: &Git) -> Result<Refs, String> {
        git.run(["for-each-ref", FORMAT]).map(|said| Refs::parse(&said))
    }

    fn parse(said: &[u8]) -> Refs {
        let mut refs = Refs { packed: String::with_capacity(said.len() + HEAD.len()), symbolic: Vec::new() };
        refs.packed.push_str(HEAD);
        for line in said.split(|byte| *byte == b'\n').filter_map(|line| str::from_utf8(line).ok()) {
            let mut words = line.splitn(3, ' ');
            let (Some(id), Some(target), Some(name)) = (words.next(), words.next(), words.next()) else { continue };
            if NOT_SHARED.iter().any(|not| name.starts_with(not)) {
                continue;
            }
            match target.is_empty() {
                true => refs.packed.extend([id, " ", name, "\n"]),
                false => refs.symbolic.push((name.into(), target.into())),
            }
        }
        refs
    }

    /// The object id of a ref.
    pub fn id(&self, name: &str) -> Option<&str> {
        let (before, _) = self.packed.split_once(&format!(" {name}\n"))?;
        before.lines().next_back()
    }

    /// Writes them into a git folder.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, git_folder: &Path) -> io::Result<()> {
        fs::write(git_folder.join("packed-refs"), &self.packed)?;
        for (name, target) in &self.symbolic {
            let file = git_folder.join(name);
            file.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(file, format!("ref: {target}\n"))?;
        }
        Ok(())
    }
}

/// Copies a reftable, git's other way to keep refs: tables that are never changed, and a list of them.
///
/// # Errors
/// Those of the file system; and when it is rewritten all the time.
pub fn copy_reftable(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for _ in 0..TURNS {
        let list = fs::read_to_string(from.join("tables.list"))?;
        let copied = list.lines().map(|table| fs::copy(from.join(table), to.join(table)).map(drop));
        match copied.collect::<io::Result<()>>() {
            Ok(()) => return fs::write(to.join("tables.list"), list),
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        }
    }
    Err(io::Error::other(format!("rewritten {TURNS} times while it was copied")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_s_own_and_a_worktree_s_stay_outside() {
        let said = b"1a  refs/heads/main\n2b refs/remotes/o/main refs/remotes/o/HEAD\n3c  refs/stash\n4d  refs/bisect/bad\n5e  refs/tags/a b\n";
        let refs = Refs::parse(said);
        assert_eq!(refs.packed, "# pack-refs with: sorted \n1a refs/heads/main\n5e refs/tags/a b\n");
        assert_eq!(refs.symbolic, [("refs/remotes/o/HEAD".into(), "refs/remotes/o/main".into())]);
        assert_eq!(refs.id("refs/heads/main"), Some("1a"));
        ["refs/heads/x", "refs/heads/mai", "heads/main", "with:"]
            .iter()
            .for_each(|no| assert_eq!(refs.id(no), None, "{no}"));
        let folder = tempfile::tempdir().unwrap();
        refs.write(folder.path()).unwrap();
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("packed-refs"), refs.packed);
        assert_eq!(read("refs/remotes/o/HEAD"), "ref: refs/remotes/o/main\n");
    }

    #[test]
    fn a_reftable_is_copied_with_its_tables() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(from.path().join("tables.list"), "a.ref\n").unwrap();
        assert!(copy_reftable(from.path(), &to.path().join("r")).is_err());
        fs::write(from.path().join("a.ref"), "table").unwrap();
        copy_reftable(from.path(), &to.path().join("r")).unwrap();
        assert_eq!(fs::read(to.path().join("r/a.ref")).unwrap(), b"table");
    }
}
