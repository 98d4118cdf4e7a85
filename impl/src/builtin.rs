//! Built-in steps (`uses:`), as data: a name, what it does, and which command that is in a worktree, by the files that lie at
//! its top. The files are looked at and never read, and a link is none of them: a repository cannot point elsewhere. What is
//! executed goes the way of every step.

use std::path::Path;

/// One built-in step.
#[derive(Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Name in the settings.
    pub name: &'static str,
    /// What it does.
    pub what: &'static str,
    /// The first that fits counts.
    pub ways: &'static [Way],
}

/// A command, and the files that show that it is the project's.
#[derive(Debug, PartialEq, Eq)]
pub struct Way {
    /// One of them is enough.
    pub files: &'static [&'static str],
    /// Program and arguments.
    pub argv: &'static [&'static str],
}

/// All of them.
pub const ALL: &[Builtin] = &[Builtin {
    name: "test",
    what: "the project's own tests",
    ways: &[
        Way { files: &["GNUmakefile", "makefile", "Makefile"], argv: &["make", "test"] },
        Way { files: &["Cargo.toml"], argv: &["cargo", "test"] },
        Way { files: &["package.json"], argv: &["npm", "test"] },
        Way { files: &["go.mod"], argv: &["go", "test", "./..."] },
        Way { files: &["pytest.ini", "pyproject.toml", "setup.py", "setup.cfg", "tox.ini"], argv: &["pytest"] },
    ],
}];

/// The built-in step of this name.
pub fn find(name: &str) -> Option<&'static Builtin> {
    ALL.iter().find(|builtin| builtin.name == name)
}

impl Builtin {
    /// The command in this worktree; `None` where nothing fits.
    pub fn argv(&self, worktree: &Path) -> Option<&'static [&'static str]> {
        let is_file = |name: &&str| worktree.join(name).symlink_metadata().is_ok_and(|there| there.is_file());
        self.ways.iter().find(|way| way.files.iter().any(&is_file)).map(|way| way.argv)
    }

    /// The files that it goes by, for messages.
    pub fn files(&self) -> String {
        self.ways.iter().flat_map(|way| way.files).copied().collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_file_that_is_there_decides() {
        let worktree = tempfile::tempdir().unwrap();
        let test = find("test").unwrap();
        assert_eq!(test.argv(worktree.path()), None);
        for (file, program) in
            [("setup.py", "pytest"), ("go.mod", "go"), ("package.json", "npm"), ("Cargo.toml", "cargo")]
        {
            std::fs::write(worktree.path().join(file), "").unwrap();
            assert_eq!(test.argv(worktree.path()).unwrap()[0], program, "{file}");
        }
        // A folder and a link are no files.
        std::fs::create_dir(worktree.path().join("makefile")).unwrap();
        std::os::unix::fs::symlink("Cargo.toml", worktree.path().join("Makefile")).unwrap();
        assert_eq!(test.argv(worktree.path()).unwrap()[0], "cargo");
        std::fs::write(worktree.path().join("GNUmakefile"), "").unwrap();
        assert_eq!(test.argv(worktree.path()).unwrap(), ["make", "test"]);
    }

    #[test]
    fn every_way_can_be_taken() {
        assert!(ALL.iter().all(|builtin| !builtin.what.is_empty() && !builtin.files().is_empty()));
        assert!(ALL.iter().flat_map(|b| b.ways).all(|way| !way.argv.is_empty() && !way.files.is_empty()));
        assert_eq!(find("tset"), None);
    }
}
