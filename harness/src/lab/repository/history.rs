//! A small history with all that ordinary commands need: branches to merge, to rebase on and to clash with, and tags.
//!
//! ```text
//! Begin ── Add a story ── Change the story ── Add an end     main (loose)
//!            │ v1, old      v2, annotated
//!            ├── Add a feature ── Change the feature         feat
//!            └── Clash with the story                        clash
//! ```
//! All but the last commit is packed, and so are its refs.

use std::fs;
use std::io;
use std::path::Path;

use crate::lab::home::{self, git};

/// Makes it in a new folder; `format` is for `git init`.
pub fn make(folder: &Path, format: &[&str]) -> io::Result<()> {
    let commit = |file: &str, text: &str, subject: &str| -> io::Result<()> {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
        git(folder, &["add", "-A"])?;
        git(folder, &["commit", "-q", "-m", subject])
    };
    fs::create_dir_all(folder.join("tools"))?;
    fs::write(folder.join("tools/hello"), "#!/bin/sh\necho hello\n")?; // no probe: git would be busy with its size
    home::begin(folder, format)?;
    super::identify(&folder.join(".git"))?;
    commit("story", STORY, "Add a story")?;
    git(folder, &["tag", "v1"])?;
    git(folder, &["branch", "old"])?;
    git(folder, &["checkout", "-q", "-b", "feat"])?;
    commit("feature", "one\n", "Add a feature")?;
    commit("feature", "one\ntwo\n", "Change the feature")?;
    git(folder, &["checkout", "-q", "-b", "clash", "v1"])?;
    commit("story", &STORY.replace("line 1\n", "line I\n"), "Clash with the story")?;
    git(folder, &["checkout", "-q", "main"])?;
    commit("story", &STORY.replace("line 1\n", "the first line\n"), "Change the story")?;
    git(folder, &["tag", "-a", "-m", "The second", "v2"])?;
    git(folder, &["pack-refs", "--all"])?;
    git(folder, &["repack", "-q", "-a", "-d"])?;
    commit("end", "the end\n", "Add an end")
}

const STORY: &str =
    "line 1\nline 2\nline 3\nline 4\nline 5\nline 6\nline 7\nline 8\nline 9\nline 10\nline 11\nline 12\n";
