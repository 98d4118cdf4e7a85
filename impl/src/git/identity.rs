//! Who the step's commits are by, and what keeps git quiet inside: a file that git reads before all others there (git-config(1),
//! GIT_CONFIG_SYSTEM), so that a repository's own settings, a step's and those of one command count more. The user's file is
//! not visible; nothing but these few settings of it goes in.

use std::process::Command;
use std::time::Duration;

use super::config::{self, Setting};
use crate::process::command::{self, Bounds};
use crate::process::path;
use crate::user;

/// Of the user's settings.
const TAKEN: &str = "^(user\\.(name|email)|init\\.defaultbranch)$";

/// For a look at them. Where it takes longer, the step has an identity all the same.
const BOUNDS: Bounds = Bounds { time: Duration::from_secs(5), said: 64 << 10 };

/// Work that would take long, write what is read-only, or leave a process behind; the log of each ref's changes is kept, as it
/// is in every repository with a worktree.
const QUIET: &[(&str, &str)] = &[
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("repack.updateserverinfo", "false"),
    ("core.logallrefupdates", "true"),
];

/// The file's text.
pub fn file() -> Vec<u8> {
    let login = user::own().map_or("user", |own| own.name.as_str());
    config::file(&settings(&of_user().unwrap_or_default(), login))
}

/// Without an identity git commits nothing.
fn settings(of_user: &[Setting], login: &str) -> Vec<Setting> {
    let setting = |key: &str, value: &str| Setting { key: key.into(), value: Some(value.into()) };
    let mut all: Vec<Setting> = QUIET.iter().map(|(key, value)| setting(key, value)).collect();
    all.extend([setting("user.name", login), setting("user.email", &format!("{login}@localhost"))]);
    all.extend(of_user.iter().filter(|one| one.value.as_ref().is_some_and(|value| !value.is_empty())).cloned());
    all
}

/// What git has for this user on this machine, whatever the repository. Reading settings runs no program.
fn of_user() -> Option<Vec<Setting>> {
    let mut git = Command::new(path::find("git")?);
    git.env_clear().env("PATH", path::searched()).env("LC_ALL", "C").current_dir("/");
    for name in ["HOME", "XDG_CONFIG_HOME"] {
        git.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    git.args(["config", "--null", "--includes", "--get-regexp", TAKEN]);
    let said = command::run(&mut git, None, BOUNDS).ok()?.ok()?;
    Some(said.split(|byte| *byte == 0).filter(|text| !text.is_empty()).map(config::setting).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(of_user: &[&str]) -> String {
        let of_user: Vec<Setting> = of_user.iter().map(|text| config::setting(text.as_bytes())).collect();
        String::from_utf8(config::file(&settings(&of_user, "dev"))).unwrap()
    }

    #[test]
    fn there_is_always_an_identity_and_the_user_s_counts() {
        let own = shown(&[]);
        assert!(own.ends_with("name = \"dev\"\n[user]\n\temail = \"dev@localhost\"\n"), "{own}");
        let user = shown(&["user.name\nA B", "user.email\n", "init.defaultbranch\nmain"]);
        assert!(user.ends_with("name = \"A B\"\n[init]\n\tdefaultbranch = \"main\"\n"), "{user}");
    }
}
