//! Repositories that a step leaves: no git obeys them, neither where they were nor where they lie then.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use nix::sys::stat::Mode;

use crate::ground::{Ground, all, command, git};
use crate::worktree::{deep, suid};

#[test]
fn a_folder_that_git_takes_for_a_bare_repository_is_the_base_s_or_none() {
    let at = |ground: &Ground, name: &str| ground.record.worktree.join(name);
    let ground = Ground::with("sha1", "files", |repo| {
        for name in ["fixtures/a.git", "fixtures/b.git", "fixtures/c.git", "fixtures/d.git"] {
            git(repo, &["init", "-q", "--bare", name], b"");
            for keep in ["objects/keep", "refs/keep"] {
                fs::write(repo.join(name).join(keep), "").unwrap();
            }
            let _ = fs::remove_dir_all(repo.join(name).join("hooks"));
        }
        // As test suites keep a linked worktree.
        fs::create_dir_all(repo.join("fixtures/linked")).unwrap();
        fs::write(repo.join("fixtures/linked/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(repo.join("fixtures/linked/commondir"), "../a.git\n").unwrap();
        git(repo, &["add", "-f", "fixtures"], b"");
        git(repo, &["commit", "-q", "-m", "fixtures"], b"");
    });
    let made = ground.record.worktree.with_file_name("made");
    trap(&at(&ground, "dir/x"), &made);
    // Over a folder where people work.
    for name in ["HEAD", "config", "objects", "refs"] {
        fs::rename(at(&ground, "dir/x").join(name), at(&ground, "dir").join(name)).unwrap();
    }
    fs::remove_dir_all(at(&ground, "dir/x")).unwrap();
    assert!(is_obeyed(&at(&ground, "dir"), &made));
    fs::write(at(&ground, "fixtures/b.git/config"), "[core]\n\tpager = touch pwned\n").unwrap();
    fs::create_dir(at(&ground, "fixtures/c.git/hooks")).unwrap();
    fs::write(at(&ground, "fixtures/d.git/commondir"), "../b.git").unwrap();
    let mut quarantined = ground.imported().quarantined;
    quarantined.sort();
    let taken = ["dir/HEAD", "fixtures/b.git/HEAD", "fixtures/c.git/HEAD", "fixtures/d.git/HEAD"];
    assert_eq!(quarantined.len(), 4, "{quarantined:?}");
    for (line, name) in quarantined.iter().zip(taken) {
        assert!(line.starts_with(&format!("{name}: what makes its folder a repository, moved to ")), "{line}");
    }
    assert!(!is_obeyed(&at(&ground, "dir"), &made));
    assert!(at(&ground, "fixtures/a.git/HEAD").exists() && at(&ground, "fixtures/linked/HEAD").exists());
}

/// Whether a git that comes by in `folder` obeys a config there: the monitor of all these repositories makes a file.
fn is_obeyed(folder: &Path, made: &Path) -> bool {
    let _ = fs::remove_file(made);
    let _ = command(folder, &["status"]).output().unwrap();
    made.exists()
}

/// A git folder whose monitor makes the file `made`, for whatever git finds it, by any name.
fn trap(at: &Path, made: &Path) {
    let program = made.with_extension("sh");
    fs::write(&program, format!("#!/bin/sh\n: > {}\n", made.display())).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    git(at.parent().unwrap(), &["init", "-q", "--bare", at.to_str().unwrap()], b"");
    let monitor = format!("\tfsmonitor = {}\n", program.display());
    fs::write(
        at.join("config"),
        format!("[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n\tworktree = ..\n{monitor}"),
    )
    .unwrap();
}

#[test]
fn what_was_moved_is_no_repository_where_it_lies() {
    let ground = Ground::new();
    let made = ground.record.worktree.parent().unwrap().join("made");
    let at = |name: &str| ground.record.worktree.join(name);
    fs::create_dir(at("sub")).unwrap();
    trap(&at("sub/.git"), &made);
    assert!(is_obeyed(&at("sub"), &made), "a trap that catches nobody");
    trap(&at("sub/.git/modules"), &made);
    fs::create_dir_all(at("sub/.git/x/y")).unwrap();
    trap(&at("sub/.git/x/.git"), &made);
    assert!(is_obeyed(&at("sub/.git/x/y"), &made) && is_obeyed(&at("sub/.git/modules/refs"), &made));
    let longest = format!(".git{}", " ".repeat(251));
    fs::create_dir_all(at("sub/.git/x").join(&longest)).unwrap();
    nix::unistd::mkfifo(&at("sub/.git/pipe"), Mode::S_IRWXU).unwrap();
    nix::unistd::mkfifo(&at("pipe"), Mode::S_IRWXU).unwrap();
    suid(&deep(&at("sub/.git/x"), 0));
    fs::set_permissions(at("sub/.git/x"), PermissionsExt::from_mode(0o600)).unwrap();
    assert_eq!(ground.imported().quarantined.len(), 2);
    let there = all(&ground.store.quarantine());
    for folder in there.keys().filter_map(|file| file.parent()) {
        assert!(!is_obeyed(folder, &made), "{}", folder.display());
    }
    let mode = |name: &Path| fs::symlink_metadata(name).unwrap().permissions().mode() & 0o7777;
    let named = |name: &str| there.keys().find(|path| path.ends_with(name)).unwrap();
    assert_eq!((mode(named("suid")), mode(named("pipe"))), (0o700, 0));
    let pipe = [1, 2].map(|number| ground.store.quarantine().join(number.to_string()));
    assert_eq!(pipe.iter().map(|at| mode(at)).filter(|mode| *mode == 0).count(), 1);
    // Nothing is lost.
    assert_eq!(there.keys().filter(|path| path.ends_with("config")).count(), 3);
    // Killed between two moves, the next one goes on.
    trap(&ground.store.quarantine().join("7"), &made);
    assert!(is_obeyed(&ground.store.quarantine().join("7"), &made));
    ground.imported();
    assert!(!is_obeyed(&ground.store.quarantine().join("7"), &made));
}
