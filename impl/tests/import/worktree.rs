//! What a step leaves in its worktree: moved out before a branch moves, whatever becomes of the commits.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use kusaw::git::import::{Code, take_set_id};
use nix::sys::stat::Mode;

use crate::ground::Ground;

#[test]
fn repositories_pipes_and_sockets_are_moved_out() {
    let ground = Ground::new();
    ground.commit("file", "two\n");
    let at = |name: &str| ground.record.worktree.join(name);
    for name in ["sub/.git", "dir/.GIT", "git~1", ".git.", "a/b/.g\u{200c}it"] {
        fs::create_dir_all(at(name)).unwrap();
        fs::write(at(name).join("config"), "[core]\n\tfsmonitor = touch pwned\n").unwrap();
    }
    fs::write(at("dir/.git"), "gitdir: elsewhere\n").unwrap();
    symlink("sub/.git", at("a/.git")).unwrap();
    nix::unistd::mkfifo(&at("pipe"), Mode::S_IRWXU).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    fs::set_permissions(at("sub/.git"), PermissionsExt::from_mode(0o500)).unwrap();
    fs::set_permissions(at("sub"), PermissionsExt::from_mode(0o500)).unwrap();
    fs::set_permissions(at("a"), PermissionsExt::from_mode(0o0)).unwrap();
    let imported = ground.imported();
    assert_eq!(imported.quarantined.len(), 9, "{:#?}", imported.quarantined);
    let report = imported.quarantined.join("\n");
    assert!(report.contains("sub/.git: a name that git takes for .git, moved to "), "{report}");
    assert!(report.contains("pipe: a FIFO") && report.contains("socket: a socket"), "{report}");
    assert!(["sub/.git", "dir/.git", "dir/.GIT", "git~1", "a/.git", "pipe", "socket"].iter().all(|n| !at(n).exists()));
    assert!(fs::symlink_metadata(at("a/.git")).is_err() && at("sub").is_dir() && at(".git").is_file());
    // Nine, and the list of them.
    assert_eq!(fs::read_dir(ground.store.quarantine()).unwrap().count(), 10);
    // Another import tells the same.
    assert_eq!(ground.imported().quarantined, imported.quarantined);
}

#[test]
fn a_rejected_attempt_leaves_no_repository_behind_either() {
    let ground = Ground::new();
    ground.set_own(&"12".repeat(20));
    fs::create_dir_all(ground.record.worktree.join("sub/.git")).unwrap();
    let rejected = ground.import().unwrap_err();
    assert_eq!((rejected.code, rejected.quarantined.len()), (Code::ObjectsMissing, 1));
    assert!(!ground.record.worktree.join("sub/.git").exists());
}

#[test]
fn the_worktree_s_own_file_must_be_git_s() {
    let elsewhere = "gitdir: /tmp/elsewhere\n";
    let changes: [&dyn Fn(&std::path::Path); 4] = [
        &|at| fs::write(at, elsewhere).unwrap(),
        &|at| fs::remove_file(at).unwrap(),
        &|at| {
            fs::remove_file(at).unwrap();
            fs::create_dir(at).unwrap();
        },
        &|at| {
            fs::remove_file(at).unwrap();
            nix::unistd::mkfifo(at, Mode::S_IRWXU).unwrap();
        },
    ];
    for change in changes {
        let ground = Ground::new();
        ground.commit("file", "two\n");
        change(&ground.record.worktree.join(".git"));
        assert_eq!(ground.refused().0, Code::GitFile);
    }
}

#[test]
fn a_worktree_that_is_gone_costs_no_commit() {
    let ground = Ground::new();
    let tip = ground.commit("file", "two\n");
    fs::remove_dir_all(&ground.record.worktree).unwrap();
    assert_eq!(ground.imported().tip, tip);
    ground.real(&["worktree", "prune"]);
    assert!(!ground.record.admin.exists());
    assert_eq!(ground.imported().tip, tip);
}

#[test]
fn no_file_keeps_the_right_to_be_somebody_else() {
    let ground = Ground::new();
    let artifacts = ground.store.root.join("../../artifacts");
    for folder in [&ground.record.worktree, &artifacts] {
        fs::create_dir_all(folder.join("closed")).unwrap();
        for (name, mode) in [("suid", 0o4755), ("closed/sgid", 0o2755), ("plain", 0o755)] {
            fs::write(folder.join(name), "").unwrap();
            fs::set_permissions(folder.join(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        fs::set_permissions(folder.join("closed"), PermissionsExt::from_mode(0o400)).unwrap();
    }
    let imported = ground.imported();
    let mut taken = take_set_id(&artifacts).unwrap();
    taken.sort();
    let lines = ["closed/sgid", "suid"].map(|name| format!("{name}: set-user-id and set-group-id taken away"));
    assert_eq!(taken, lines);
    assert_eq!(imported.quarantined.len(), 2);
    for folder in [&ground.record.worktree, &artifacts] {
        for name in ["suid", "closed/sgid", "plain"] {
            assert_eq!(fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o7777, 0o755);
        }
    }
}

#[test]
fn what_is_deeper_than_paths_go_hides_nothing() {
    let ground = Ground::new();
    let mut at = nix::fcntl::open(&ground.record.worktree, nix::fcntl::OFlag::O_DIRECTORY, Mode::empty()).unwrap();
    let name = "d".repeat(250);
    for _ in 0..40 {
        nix::sys::stat::mkdirat(&at, &name[..], Mode::S_IRWXU).unwrap();
        at = nix::fcntl::openat(&at, &name[..], nix::fcntl::OFlag::O_DIRECTORY, Mode::empty()).unwrap();
    }
    nix::sys::stat::mkdirat(&at, ".git", Mode::S_IRWXU).unwrap();
    drop(at);
    let imported = ground.imported();
    assert_eq!(imported.quarantined.len(), 1);
    assert!(imported.quarantined[0].contains("deeper than paths go"), "{:?}", imported.quarantined);
}

/// Pruned while the step ran; the next worktree of that name has its folder.
#[test]
fn a_folder_that_has_become_another_worktree_s_is_left_alone() {
    let ground = Ground::new();
    let tip = ground.commit("file", "two\n");
    fs::remove_dir_all(&ground.record.admin).unwrap();
    let other = ground.record.common.join("../other/repo");
    ground.real(&["worktree", "add", "-q", "--detach", other.to_str().unwrap(), "main"]);
    assert!(ground.record.admin.join("HEAD").exists());
    let held = ["HEAD.lock", "index.kusaw"].map(|name| ground.record.admin.join(name));
    held.iter().for_each(|name| {
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
        fs::File::create(name).unwrap().set_modified(long_ago).unwrap();
    });
    let before = crate::ground::all(&ground.record.admin);
    let imported = ground.import();
    assert!(crate::ground::all(&ground.record.admin) == before);
    assert_eq!(imported.unwrap().tip, tip);
}
