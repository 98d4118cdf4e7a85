//! What hostile acts are made with: a prelude for their shell, and sentinels outside.
//!
//! In an act, `$G` is the repository's git folder, `$W` the worktree's own in it, `$B` the branch, `$R` the repository. `$S` is a
//! sentinel, a program that does nothing but note that it ran, and `$V` are notes of the user; both lie where no sandbox
//! lets a step write. `plant FILE` makes a script that runs the sentinel, `commit TREE` a commit on the branch, `entry MODE
//! TYPE ID NAME` a tree for one, `blob TEXT` a blob.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// An act that does not find its git folder's name was none: then the shell never says that it ended.
pub const ACTS: &str = "[ -n \"$G\" ] || kill -9 $$";

const NOTES: &str = "the user's own\n";

/// The beginning of a shell command in a worktree, or in a repository; `place` is where its sentinel lies.
pub fn prelude(place: &Path, then: &str) -> String {
    let place = place.display();
    format!(
        r#"if [ -d .git ]; then W=$PWD/.git G=$PWD/.git; else W=$(sed -n 's/^gitdir: //p' .git) G=${{W%/worktrees/*}}; fi
B=$(sed -n 's/^ref: //p' "$W/HEAD" 2>/dev/null) R=${{G%/.git}} S={place}/sentinel V={place}/notes
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Dev GIT_AUTHOR_EMAIL=dev@devbox.example GIT_COMMITTER_NAME=Dev GIT_COMMITTER_EMAIL=dev@devbox.example
plant() {{ mkdir -p "${{1%/*}}"; rm -f "$1"; printf '#!/bin/sh\nexec {place}/sentinel %s\n' "$1" >"$1"; chmod 755 "$1"; }}
blob() {{ printf '%b' "$1" | git hash-object -w --stdin; }}
entry() {{ {{ git ls-tree -z HEAD; printf '%s %s %s\t%b\0' "$1" "$2" "$3" "$4"; }} | git mktree -z --missing; }}
commit() {{ c=$(git commit-tree -p HEAD -m evil "$1") && git update-ref HEAD "$c" && echo "committed $c"; }}
{then}"#
    )
}

/// Makes sentinel and notes in a place, if they are not there yet.
///
/// # Errors
/// When they cannot be written.
pub fn provide(place: &Path) -> Result<(), String> {
    let path = place.join("sentinel");
    let text = format!("#!/bin/sh\necho \"ran: $*\" >>{}/ran\n", place.display());
    let make = || {
        fs::write(place.join("notes"), NOTES)?;
        fs::write(&path, text)?;
        fs::set_permissions(&path, Permissions::from_mode(0o755))
    };
    if path.exists() { Ok(()) } else { make().map_err(|e| format!("{}: {e}", path.display())) }
}

/// Forgets what ran.
pub fn reset(place: &Path) {
    let _ = fs::remove_file(place.join("ran")); // where nothing ran there is none
}

/// What ran since, and whether the user's notes have changed, in words.
pub fn told(place: &Path) -> Vec<String> {
    let text = fs::read_to_string(place.join("ran")).unwrap_or_default();
    let mut told: Vec<String> = text.lines().map(str::to_owned).collect();
    told.dedup();
    told.truncate(5);
    if fs::read_to_string(place.join("notes")).ok().as_deref() != Some(NOTES) {
        told.push("the user's notes are not as they were".to_owned());
    }
    told
}
