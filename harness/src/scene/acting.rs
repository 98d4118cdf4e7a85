//! Hostile acts in a worktree: once by a step in its sandbox, once bare in a twin of the repository, so that the same words
//! are judged and controlled.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::sentinel::{self, ACTS, prelude};
use super::{Refusal, Scene};
use crate::git_folder::{GitFolder, Part};
use crate::host_git;
use crate::lab::home;
use crate::launch::{Launch, Live, shell};
use crate::plan::Action;
use crate::waiting::{self, WAITS};

/// What was done to a repository, and what became of it.
#[derive(Debug, Default)]
pub struct Acting {
    /// What the user has done in the repository before, as shell commands.
    pub user: Vec<String>,
    /// What it was done to.
    pub done: Option<Done>,
    /// The same, bare.
    pub twin: Option<Done>,
    /// What in the git folder was not as it had been while a step waited, in words.
    pub waited: Vec<String>,
    /// What was compared last.
    pub part: Option<Part>,
}

/// A repository that an act was done in.
#[derive(Clone, Debug)]
pub struct Done {
    /// The act.
    pub act: String,
    /// Its git folder before.
    pub before: GitFolder,
    /// And after.
    pub after: GitFolder,
    /// The worktree that the act was done in.
    pub worktree: PathBuf,
    /// That of another attempt at the same time.
    pub beside: Option<PathBuf>,
    /// The repository.
    pub repository: PathBuf,
    /// What is wrong with the worktree's `.git` file after the act, if anything.
    pub door: Option<String>,
    /// A word that the attempt's own branches have in their names.
    pub own: String,
    /// Where its sentinel lies.
    pub place: PathBuf,
}

impl Done {
    /// Looks at it after the act.
    fn look(&mut self) {
        self.after = GitFolder::of(&self.repository.join(".git"));
        self.door = door(&self.worktree, &self.repository);
    }

    /// What of a part of the git folder has changed, in words.
    pub fn differences(&self, part: Part) -> Vec<String> {
        let worktrees: Vec<PathBuf> = [&self.worktree].into_iter().chain(&self.beside).cloned().collect();
        let mut told = self.before.differences(&self.after, part, &self.own, &worktrees);
        if matches!(part, Part::Related | Part::All) && self.worktree.is_dir() {
            told.extend(self.door.clone());
        }
        told
    }

    /// The sentinels that ran, and what else was done to the user outside.
    pub fn told(&self) -> Vec<String> {
        sentinel::told(&self.place)
    }
}

const TWIN: &str = "twin";

/// A step whose launcher was killed is dead after this time (NS-05).
const DYING: Duration = Duration::from_secs(5);

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

    /// Has a step do an act.
    ///
    /// # Errors
    /// When the harness cannot prepare the launch.
    pub async fn act(&mut self, words: &str) -> Result<(), String> {
        let ready = self.ready(words)?;
        self.plan.action = Action::Run(self.hostile(words, "", "")?);
        self.run().await?;
        self.judge_later(ready);
        Ok(())
    }

    /// Has a step wait until the user has done something in the repository, and then do an act.
    ///
    /// # Errors
    /// As [`Scene::act`], and when the step never begins.
    pub async fn act_after(&mut self, meanwhile: &str, words: &str) -> Result<(), String> {
        let mut ready = self.ready(words)?;
        let (worktree, at) = (ready.worktree.clone(), ready.repository.join(".git"));
        self.plan.action = Action::Run(self.hostile(words, WAITS, "")?);
        let (launcher, name) = (Self::launcher()?, format!("{}-user", self.nonce));
        let deed = shell(&in_folder(&ready.place, &ready.repository, &self.expand_text(meanwhile)?));
        let meanwhile = async {
            waiting::first_sign(&worktree).await?;
            let during = GitFolder::of(&at);
            let done = launcher.bare(&deed, &name).await;
            let later = GitFolder::of(&at);
            waiting::go(&worktree)?;
            Ok::<_, String>((during, later, done?))
        };
        let (ran, looked) = futures::future::join(self.run(), meanwhile).await;
        ran?;
        let (during, later, done) = looked?;
        if done.exit != Some(0) {
            self.found_certain(false, format!("what the user does meanwhile fails: {}", done.output()));
        }
        let later = later.without_attempts(&ready.before, &ready.own);
        let first = std::mem::replace(&mut ready.before, later);
        self.acting.waited = first.differences(&during, Part::All, &ready.own, &[worktree]);
        self.judge_later(ready);
        Ok(())
    }

    /// Has a step do an act and wait, and another of the same factory do something meanwhile; `first` it waits, and does its
    /// act when the other is over.
    ///
    /// # Errors
    /// As [`Scene::act`].
    pub async fn act_beside(&mut self, words: &str, other: &str, first: bool) -> Result<(), String> {
        let mut ready = self.ready(words)?;
        ready.own = format!("{}-a", self.nonce);
        let (before, after) = if first { (WAITS, "") } else { ("", WAITS) };
        let (one, other) = (self.hostile(words, before, after)?, self.hostile(other, "", "")?);
        ready.beside = Some(self.worktree_of(self.attempts + 2)?);
        if let Err(why) = self.run_while(one, other).await {
            // Whoever makes the other's worktree may fail.
            self.found_certain(false, why);
        }
        self.judge_later(ready);
        Ok(())
    }

    /// Has a step do an act and wait, and its launcher get SIGKILL then.
    ///
    /// # Errors
    /// As [`Scene::act`], and when there is no launcher.
    pub async fn act_killed(&mut self, words: &str) -> Result<(), String> {
        let ready = self.ready(words)?;
        self.refusal = Refusal::Marked; // its sign in the worktree says that it came so far
        self.plan.action = Action::Run(self.hostile(words, "", WAITS)?);
        self.attempts += 1;
        let live = Live::default();
        let launcher = Self::launcher()?;
        let launch = launcher.launch_live(&self.plan, &self.nonce, self.attempts, &live);
        let deed = async {
            waiting::first_sign(&ready.worktree).await?;
            let pid = live.launcher().ok_or("there is no launcher")?;
            kill(Pid::from_raw(pid), Signal::SIGKILL).map_err(|e| format!("kill: {e}"))?;
            // What goes on now is another guarantee's affair (NS-05).
            if waiting::last_sign(&ready.worktree, DYING).await { Ok(()) } else { waiting::go(&ready.worktree) }
        };
        let (launch, done) = futures::future::join(launch, deed).await;
        self.launches.push(launch?);
        done?;
        self.judge_later(ready);
        Ok(())
    }

    fn ready(&self, words: &str) -> Result<Done, String> {
        let (place, repository) = self.ground()?;
        sentinel::reset(&place); // by what the user has done
        let before = GitFolder::of(&repository.join(".git"));
        let (worktree, own) = (self.next_worktree()?, self.next_attempt());
        let act = words.to_owned();
        Ok(Done { act, after: before.clone(), before, worktree, beside: None, repository, door: None, own, place })
    }

    fn judge_later(&mut self, mut done: Done) {
        done.look();
        self.acting.done = Some(done);
    }

    /// The command of an act.
    fn hostile(&self, words: &str, before: &str, after: &str) -> Result<Vec<String>, String> {
        let (place, _) = self.ground()?;
        let words = self.expand_text(words)?;
        Ok(shell(&format!("{before}\n{}\n{words}\n{after}", prelude(&place, ACTS))))
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
        sentinel::provide(&place)?;
        for words in self.acting.user.clone() {
            self.bare_in(&place, &repository, &words).await?;
        }
        let before = GitFolder::of(&repository.join(".git"));
        let act = self.acting.done.as_ref().map(|done| done.act.clone()).ok_or("no act was done")?;
        let path = worktree.display().to_string();
        let add = ["worktree", "add", "-q", "-b", TWIN, &path];
        let mut made = host_git::git(&repository, &add).await?;
        if !made.is_well() {
            // The user's own filters may fail, and do not come into it yet.
            made = host_git::git(&repository, &["worktree", "add", "-q", "--no-checkout", &path, TWIN]).await?;
        }
        if !made.is_well() {
            return Err(format!("git worktree add: {}", made.told()));
        }
        sentinel::reset(&place); // by making the worktree: only what comes of the act counts
        let own = TWIN.to_owned();
        let mut twin =
            Done { act, after: before.clone(), before, worktree, beside: None, repository, door: None, own, place };
        let words = in_folder(&twin.place, &twin.worktree, &self.expand_text(&twin.act)?);
        Self::launcher()?.bare(&shell(&words), &format!("{}-bare", self.nonce)).await?;
        sentinel::reset(&twin.place); // while it did it: a sandbox would have kept that inside
        twin.look();
        self.acting.twin = Some(twin.clone());
        Ok(twin)
    }

    /// Runs a shell command of the user's in a folder of the scene's repository, or of its twin.
    ///
    /// # Errors
    /// When it fails.
    pub async fn bare_in(&self, place: &Path, folder: &Path, words: &str) -> Result<Launch, String> {
        let words = self.expand_text(words)?;
        let command = in_folder(place, folder, &words);
        let launch = Self::launcher()?.bare(&shell(&command), &format!("{}-user", self.nonce)).await?;
        if launch.exit == Some(0) { Ok(launch) } else { Err(format!("{words}: {}", launch.output())) }
    }

    /// Where the scene's repository lies, and the sentinel beside it.
    fn ground(&self) -> Result<(PathBuf, PathBuf), String> {
        home::provide_repositories(&self.nonce).map_err(|e| format!("the repositories of {}: {e}", self.nonce))?;
        let repository = home::repository_of(&self.nonce, "demo");
        let place = repository.parent().unwrap_or(&repository).to_owned();
        sentinel::provide(&place)?;
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

/// A shell command of the user's in a folder.
fn in_folder(place: &Path, folder: &Path, words: &str) -> String {
    format!("cd '{}' || exit\n{}\n{words}", folder.display(), prelude(place, ""))
}
