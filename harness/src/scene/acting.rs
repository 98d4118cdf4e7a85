//! Hostile acts in a worktree: once by a step in its sandbox, once bare in a twin of the repository, so that the same words
//! are judged and controlled.
//!
//! In an act, `$G` is the repository's git folder, `$W` the worktree's own in it, `$B` the branch, `$S` a sentinel: a program
//! that does nothing but note that it ran, where no sandbox lets a step write. `plant FILE` makes a script that runs it.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::Scene;
use crate::git_folder::{GitFolder, Part};
use crate::host_git;
use crate::lab::home;
use crate::launch::{Launch, shell};
use crate::plan::Action;
use crate::waiting::{self, WAITS};

/// What was done to a repository, and what became of it.
#[derive(Debug, Default)]
pub struct Acting {
    /// What the user has done in the repository before, as shell commands.
    pub user: Vec<String>,
    /// The act.
    pub act: String,
    /// What it was done to.
    pub done: Option<Done>,
    /// The same, bare.
    pub twin: Option<Done>,
    /// What was compared last.
    pub part: Option<Part>,
}

/// A repository that an act was done in.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its git folder before.
    pub before: GitFolder,
    /// And after.
    pub after: GitFolder,
    /// The worktree that the act was done in.
    pub worktree: PathBuf,
    /// The repository.
    pub repository: PathBuf,
    /// What is wrong with the worktree's `.git` file after the act, if anything.
    pub door: Option<String>,
    /// A word that the attempt's own branches have in their names.
    pub own: String,
    /// Where a sentinel notes that it ran.
    pub ran: PathBuf,
}

impl Done {
    /// What of a part of the git folder has changed, in words.
    pub fn differences(&self, part: Part) -> Vec<String> {
        let mut told = self.before.differences(&self.after, part, &self.own, &self.worktree);
        if matches!(part, Part::Related | Part::All) && self.worktree.is_dir() {
            told.extend(self.door.clone());
        }
        told
    }

    /// The sentinels that ran.
    pub fn ran(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.ran).unwrap_or_default();
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.dedup();
        lines
    }
}

const TWIN: &str = "twin";

impl Scene {
    /// Has the user do something in the repository, and in its twin later.
    ///
    /// # Errors
    /// When it fails.
    pub async fn user_does(&mut self, words: &str) -> Result<(), String> {
        let (place, repository) = self.ground()?;
        self.bare_in(&place, &repository, words).await?;
        self.acting.user.push(words.to_owned());
        Ok(())
    }

    /// Has a step do an act; if there is something that the user does meanwhile, it waits for that first.
    ///
    /// # Errors
    /// When the harness cannot prepare the launch, or what the user does meanwhile fails.
    pub async fn act(&mut self, words: &str, meanwhile: Option<&str>) -> Result<(), String> {
        let (place, repository) = self.ground()?;
        let before = GitFolder::of(&repository.join(".git"));
        let (worktree, own) = (self.next_worktree()?, self.next_attempt());
        words.clone_into(&mut self.acting.act);
        let waits = if meanwhile.is_some() { WAITS } else { ":" };
        let act = self.expand_text(words)?;
        self.plan.action = Action::Run(shell(&format!("{waits}\n{}\n{act}", prelude(&place, ACTS))));
        let before = match meanwhile {
            None => {
                self.run().await?;
                before
            }
            Some(deed) => {
                let launcher = Self::launcher()?;
                let (deed, name) = (
                    format!("cd '{}' || exit\n{}\n{deed}", repository.display(), prelude(&place, "")),
                    format!("{}-user", self.nonce),
                );
                let meanwhile = async {
                    waiting::first_sign(&worktree).await?;
                    let done = launcher.bare(&shell(&deed), &name).await?;
                    let now = GitFolder::of(&repository.join(".git"));
                    waiting::go(&worktree)?;
                    if done.exit == Some(0) { Ok(now) } else { Err(done.output()) }
                };
                let (ran, now) = futures::future::join(self.run(), meanwhile).await;
                ran?;
                let now = now.map_err(|e| format!("what the user does meanwhile: {e}"))?;
                let hidden = now.new_worktrees(&before);
                now.without(&hidden)
            }
        };
        let after = GitFolder::of(&repository.join(".git"));
        let door = door(&worktree, &repository);
        self.acting.done = Some(Done { before, after, worktree, repository, door, own, ran: place.join("ran") });
        Ok(())
    }

    /// Another attempt on the same repository, by the same factory.
    ///
    /// # Errors
    /// When the harness cannot prepare the launch.
    pub async fn another_attempt(&mut self) -> Result<Launch, String> {
        self.changed(|plan| plan.action = Action::Run(shell("true"))).await
    }

    /// The same act by the same user, bare, in a worktree of a twin of the repository.
    ///
    /// # Errors
    /// When the twin cannot be made.
    pub async fn twin(&mut self) -> Result<Done, String> {
        if let Some(twin) = &self.acting.twin {
            return Ok(twin.clone());
        }
        let place = home::repository_of(&self.nonce, "bare");
        let (repository, worktree) = (place.join("demo"), place.join("worktree"));
        home::provide_copy(&repository).map_err(|e| format!("{}: {e}", repository.display()))?;
        sentinel(&place)?;
        for words in self.acting.user.clone() {
            self.bare_in(&place, &repository, &words).await?;
        }
        let before = GitFolder::of(&repository.join(".git"));
        let path = worktree.display().to_string();
        let made = host_git::git(&repository, &["worktree", "add", "-q", "-b", TWIN, &path]).await?;
        if !made.is_well() {
            return Err(format!("git worktree add: {}", made.told()));
        }
        let _ = fs::remove_file(place.join("ran")); // by making the worktree: only what comes of the act counts
        let act = self.expand_text(&self.acting.act)?;
        let words = format!("cd '{path}' || exit\n{}\n{act}", prelude(&place, ACTS));
        Self::launcher()?.bare(&shell(&words), &format!("{}-bare", self.nonce)).await?;
        let after = GitFolder::of(&repository.join(".git"));
        let ran = place.join("ran");
        let _ = fs::remove_file(&ran); // while it did it: a sandbox would have kept that inside
        let door = door(&worktree, &repository);
        let twin = Done { door, before, after, worktree, repository, own: TWIN.to_owned(), ran };
        self.acting.twin = Some(twin.clone());
        Ok(twin)
    }

    /// Runs a shell command of the user's in a folder of the scene's repository, or of its twin.
    ///
    /// # Errors
    /// When it fails.
    pub async fn bare_in(&self, place: &Path, folder: &Path, words: &str) -> Result<Launch, String> {
        let words = self.expand_text(words)?;
        let command = format!("cd '{}' || exit\n{}\n{words}", folder.display(), prelude(place, ""));
        let launch = Self::launcher()?.bare(&shell(&command), &format!("{}-user", self.nonce)).await?;
        if launch.exit == Some(0) { Ok(launch) } else { Err(format!("{words}: {}", launch.output())) }
    }

    /// Where the scene's repository lies, and the sentinel beside it.
    fn ground(&self) -> Result<(PathBuf, PathBuf), String> {
        home::provide_repositories(&self.nonce).map_err(|e| format!("the repositories of {}: {e}", self.nonce))?;
        let repository = home::repository_of(&self.nonce, "demo");
        let place = repository.parent().unwrap_or(&repository).to_owned();
        sentinel(&place)?;
        Ok((place, repository))
    }
}

/// A linked worktree has a file that names its own folder in the git folder: gitrepository-layout(5).
fn door(worktree: &Path, repository: &Path) -> Option<String> {
    let path = worktree.join(".git");
    let is_file = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file());
    let text = if is_file { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
    let admins = format!("gitdir: {}/.git/worktrees/", repository.display());
    let name = text.strip_prefix(&admins).and_then(|name| name.strip_suffix('\n')).unwrap_or_default();
    let is_name = !name.is_empty() && !name.contains(['/', '\n']) && !name.starts_with('.');
    (!is_name).then(|| format!("other: the worktree's .git file: {text:?}"))
}

/// An act that does not find its git folder's name was none: then the shell never says that it ended.
const ACTS: &str = "[ -n \"$G\" ] || kill -9 $$";

fn prelude(place: &Path, then: &str) -> String {
    let place = place.display();
    format!(
        "if [ -d .git ]; then W=$PWD/.git G=$PWD/.git; else W=$(sed -n 's/^gitdir: //p' .git) G=${{W%/worktrees/*}}; fi
B=$(sed -n 's/^ref: //p' \"$W/HEAD\" 2>/dev/null) S={place}/sentinel
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=Dev GIT_AUTHOR_EMAIL=dev@devbox.example GIT_COMMITTER_NAME=Dev GIT_COMMITTER_EMAIL=dev@devbox.example
plant() {{ mkdir -p \"${{1%/*}}\"; rm -f \"$1\"; printf '#!/bin/sh\\nexec {place}/sentinel %s\\n' \"$1\" >\"$1\"; chmod 755 \"$1\"; }}
{then}"
    )
}

fn sentinel(place: &Path) -> Result<(), String> {
    let path = place.join("sentinel");
    let text = format!("#!/bin/sh\necho \"ran: $*\" >>{}/ran\n", place.display());
    let make = || fs::write(&path, text).and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o755)));
    if path.exists() { Ok(()) } else { make().map_err(|e| format!("{}: {e}", path.display())) }
}
