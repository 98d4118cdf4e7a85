//! What a step leaves in its worktree: moved out before a branch moves, whatever becomes of the commits.

use std::fs;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use kusaw::git::import::{Code, tame};
use kusaw::git::store::Store;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};

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
    let changes: [&dyn Fn(&Path); 4] = [
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
    let imported = ground.imported();
    let line = format!("the worktree is not at {} any more: nothing was swept", ground.record.worktree.display());
    assert_eq!((imported.tip.as_str(), imported.quarantined), (&*tip, vec![line]));
    ground.real(&["worktree", "prune"]);
    assert!(!ground.record.admin.exists());
    assert_eq!(ground.imported().tip, tip);
}

#[test]
fn a_worktree_that_was_moved_is_swept_where_it_is() {
    let mut ground = Ground::new();
    fs::create_dir_all(ground.record.worktree.join("sub/.git")).unwrap();
    let moved = ground.record.worktree.ancestors().nth(3).unwrap().join("moved");
    ground.real(&["worktree", "move", ground.record.worktree.to_str().unwrap(), moved.to_str().unwrap()]);
    assert_eq!(ground.imported().quarantined, ["sub/.git: a name that git takes for .git, moved to 1"]);
    assert!(!moved.join("sub/.git").exists());
    // The whole attempt, with the worktree in its place there, and nobody has told git.
    let attempt = ground.store.root.ancestors().nth(2).unwrap().to_path_buf();
    let elsewhere = attempt.with_file_name("elsewhere");
    fs::rename(&attempt, &elsewhere).unwrap();
    ground.store = Store::of(&elsewhere, "repo");
    fs::create_dir_all(ground.store.worktree().parent().unwrap()).unwrap();
    fs::rename(&moved, ground.store.worktree()).unwrap();
    fs::create_dir_all(ground.store.worktree().join("other/.git")).unwrap();
    assert_eq!(ground.imported().quarantined.len(), 2);
    assert!(!ground.store.worktree().join("other/.git").exists());
}

#[test]
fn a_folder_that_is_not_the_worktree_is_not_swept() {
    let ground = Ground::new();
    let other = ground.record.worktree.ancestors().nth(3).unwrap().join("other");
    fs::create_dir_all(other.join("precious/.git")).unwrap();
    fs::write(other.join(".git"), "gitdir: elsewhere\n").unwrap();
    fs::remove_dir_all(&ground.record.worktree).unwrap();
    fs::write(ground.record.admin.join("gitdir"), format!("{}\n", other.join(".git").display())).unwrap();
    assert!(ground.imported().quarantined[0].ends_with("nothing was swept"));
    assert!(other.join("precious/.git").exists());
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
    let (mut taken, tamed) = tame(&artifacts);
    taken.sort();
    tamed.unwrap();
    let lines = ["closed/sgid", "suid"].map(|name| format!("{name}: set-user-id and set-group-id taken away"));
    assert_eq!(taken, lines);
    assert_eq!(imported.quarantined.len(), 2);
    for folder in [&ground.record.worktree, &artifacts] {
        for name in ["suid", "closed/sgid", "plain"] {
            assert_eq!(fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o7777, 0o755);
        }
    }
}

/// A chain of folders, longer than any path; the value is the last one.
pub fn deep(top: &Path, folders: usize) -> OwnedFd {
    let name = "d".repeat(250);
    let mut at = nix::fcntl::open(top, OFlag::O_DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..folders {
        mkdirat(&at, &name[..], Mode::S_IRWXU).unwrap();
        at = openat(&at, &name[..], OFlag::O_DIRECTORY, Mode::empty()).unwrap();
    }
    at
}

pub fn suid(folder: &OwnedFd) {
    let all = Mode::S_ISUID | Mode::S_IRWXU;
    let file = openat(folder, "suid", OFlag::O_CREAT | OFlag::O_WRONLY, Mode::S_IRWXU).unwrap();
    nix::sys::stat::fchmod(&file, all).unwrap();
}

fn has_suid(folder: &OwnedFd) -> bool {
    let stat = nix::sys::stat::fstatat(folder, "suid", nix::fcntl::AtFlags::empty()).unwrap();
    stat.st_mode & Mode::S_ISUID.bits() != 0
}

#[test]
fn what_is_deeper_than_paths_go_hides_nothing() {
    let ground = Ground::new();
    let artifacts = ground.store.root.join("../../artifacts");
    fs::create_dir_all(&artifacts).unwrap();
    let ends = [deep(&ground.record.worktree, 300), deep(&artifacts, 300)];
    ends.iter().for_each(suid);
    mkdirat(&ends[0], ".git", Mode::S_IRWXU).unwrap();
    // Beside the chain: after it, in whichever order they are found.
    for name in ["a", "z"] {
        fs::create_dir_all(ground.record.worktree.join(name).join("x/.git")).unwrap();
    }
    let imported = ground.imported();
    assert_eq!(imported.quarantined.len(), 4, "{:?}", imported.quarantined);
    assert_eq!(fs::read_dir(ground.store.quarantine()).unwrap().count(), 4);
    assert!(imported.quarantined.iter().all(|line| line.len() < 1000));
    let (tamed, end) = tame(&artifacts);
    end.unwrap();
    assert_eq!(tamed.len(), 1);
    assert!(!ends.iter().any(has_suid));
    for top in [&ground.record.worktree, &artifacts] {
        kusaw::remove::remove(&top.join("d".repeat(250))).unwrap();
    }
}

/// As root, no mode closes a folder: an ordinary user must run this one.
#[test]
fn a_folder_that_its_step_closed_hides_nothing() {
    let ground = Ground::new();
    let artifacts = ground.store.root.join("../../artifacts");
    for top in [&ground.record.worktree, &artifacts] {
        for (name, mode) in [("listed", 0o600), ("nothing", 0o0), ("entered", 0o100), ("m/written", 0o300)] {
            let inner = top.join(name).join("x");
            fs::create_dir_all(inner.join(".git")).unwrap();
            suid(&deep(&inner, 0));
            fs::set_permissions(&inner, PermissionsExt::from_mode(mode)).unwrap();
            fs::set_permissions(top.join(name), PermissionsExt::from_mode(mode)).unwrap();
        }
        fs::set_permissions(top, PermissionsExt::from_mode(0o0)).unwrap();
    }
    let imported = ground.imported();
    assert_eq!(imported.quarantined.len(), 8, "{:?}", imported.quarantined);
    let (tamed, end) = tame(&artifacts);
    end.unwrap();
    assert_eq!(tamed.len(), 4);
    for name in ["listed", "nothing", "entered", "m/written"] {
        let [worktree, artifacts] = [&ground.record.worktree, &artifacts].map(|top| top.join(name).join("x"));
        assert!(!worktree.join(".git").exists() && artifacts.join(".git").is_dir());
        assert!(!has_suid(&deep(&worktree, 0)) && !has_suid(&deep(&artifacts, 0)));
    }
}

#[test]
fn what_cannot_be_moved_is_told_and_all_else_is_swept() {
    let ground = Ground::new();
    ground.commit("file", "two\n");
    for name in ["a", "b", "c"] {
        fs::create_dir_all(ground.record.worktree.join(name).join(".git")).unwrap();
        suid(&deep(&ground.record.worktree.join(name), 0));
    }
    fs::create_dir_all(ground.store.quarantine().parent().unwrap()).unwrap();
    fs::write(ground.store.quarantine(), "in the way").unwrap();
    let (code, detail) = ground.refused();
    assert_eq!(code, Code::WorktreeUnreadable);
    assert!(detail.contains("and 5 more places"), "{detail}");
    assert!(!["a", "b", "c"].iter().any(|name| has_suid(&deep(&ground.record.worktree.join(name), 0))));
}

#[test]
fn in_artifacts_repositories_stay_and_nothing_holds_who_opens_it() {
    let artifacts = tempfile::tempdir().unwrap();
    let at = |name: &str| artifacts.path().join(name);
    fs::create_dir_all(at("clone/.git")).unwrap();
    nix::unistd::mkfifo(&at("clone/.git/pipe"), Mode::S_IRWXU).unwrap();
    let _socket = UnixListener::bind(at("socket")).unwrap();
    let (mut tamed, end) = tame(artifacts.path());
    end.unwrap();
    tamed.sort();
    assert_eq!(tamed, ["clone/.git/pipe: a FIFO, closed", "socket: a socket, closed"]);
    for name in ["clone/.git/pipe", "socket"] {
        assert_eq!(fs::symlink_metadata(at(name)).unwrap().permissions().mode() & 0o7777, 0);
    }
}

#[test]
fn what_git_reads_whole_is_of_a_size_to_be_read() {
    let ground = Ground::new();
    let at = |name: &str| ground.record.worktree.join(name);
    fs::create_dir(at("sub")).unwrap();
    for (name, size) in [(".gitignore", 100 << 20), ("sub/.gitignore", (100 << 20) + 1), ("sub/.mailmap", 3 << 30)] {
        fs::File::create(at(name)).unwrap().set_len(size).unwrap();
    }
    fs::File::create(at("large")).unwrap().set_len(3 << 30).unwrap();
    symlink("/dev/zero", at(".gitmodules")).unwrap();
    symlink("../file", at("sub/.gitattributes")).unwrap();
    let mut quarantined = ground.imported().quarantined;
    quarantined.sort();
    let moved = [".gitmodules: a link that git would follow", "sub/.gitignore: larger", "sub/.mailmap: larger"];
    assert!(quarantined.len() == 3 && quarantined.iter().zip(moved).all(|(line, start)| line.starts_with(start)));
    assert!(at(".gitignore").exists() && at("large").exists() && at("sub/.gitattributes").exists());
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
