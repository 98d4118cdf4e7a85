//! The words of a feature in the context of one scenario: placeholders, places, commands.

use std::path::PathBuf;

use super::Scene;
use crate::driver::Templates;
use crate::lab::{HOME, Lab, home, keyring};
use crate::launch::{self, PROBE_IN_WORKTREE, places};
use crate::plan::PATH_LISTS;

/// Ends by SIGKILL whatever can be seen, but for pid 1 and the shell itself; where the host's processes are seen, a process of its
/// own alone. That one is always among the killed: then the file `killed` is there.
const KILL_ALL: &str = "read me rest </proc/self/stat; sleep 3 & victim=$!; others='/proc/[0-9]*'; \
    grep -qs 'lab-servic[e]' /proc/[0-9]*/cmdline && others=/proc/$victim; \
    for p in $others; do p=${p#/proc/}; case $p in 1|$$|$me) ;; *) kill -9 $p 2>/dev/null ;; esac; done; \
    wait $victim; [ $? = 137 ] && touch killed";

impl Scene {
    /// `~` and the placeholders in a word of a feature.
    ///
    /// # Errors
    /// As [`Scene::expand_text`].
    pub fn expand(&self, word: &str) -> Result<String, String> {
        Ok(Lab::expand(&self.expand_text(word)?))
    }

    /// The placeholders in words of a feature: `{nonce}`, `{token}` (how each secret of the home begins), `{session-key}`,
    /// `{user-key}`, and the places of the next attempt: `{factory}`, `{repository}`, `{other}` (a repo beside it), and those
    /// of the manifest ([`Manifest::placeholders`]). `{process}` is the number of the user's process, `{key}` that of what
    /// the user's programs share, `{api-key}` and `{other-api-key}` are keys that are kept outside. `{agent}` is
    /// the socket of the agent that the factory signs by, `{public-key}` its public key. `{port}` is the
    /// scenario's own port, `{local-port}` and `{other-port}` those of services on the host's localhost. `{home}` is the user's
    /// home, `{library}` a
    /// folder of the user for this scenario, `{allowed}` the path that may be read or written. `{kill-all}` is shell text.
    ///
    /// # Errors
    /// When a template of the manifest is wrong.
    pub fn expand_text(&self, words: &str) -> Result<String, String> {
        let home = self.plan.home.as_deref().unwrap_or(HOME);
        let allowed = || PATH_LISTS.iter().find_map(|list| self.plan.paths(list).pop()).unwrap_or_default();
        let words =
            &words.replace("{home}", home).replace("{library}", "~/library/{nonce}").replace("{allowed}", &allowed());
        let mut text = words
            .replace("{kill-all}", KILL_ALL)
            .replace("{nonce}", &self.nonce)
            .replace("{token}", home::TOKEN_OF_HOME);
        text = text.replace("{session-key}", keyring::OF_SESSION).replace("{user-key}", &keyring::OF_USER);
        if let Some(bystander) = &self.bystander {
            text = text.replace("{process}", &bystander.pid().to_string());
        }
        if let Some(local) = &self.local {
            text =
                text.replace("{local-port}", &local.port.to_string()).replace("{other-port}", &local.other.to_string());
        }
        if let Some(port) = &self.port {
            text = text.replace("{port}", &port.number.to_string());
        }
        for (name, key) in ["{api-key}", "{other-api-key}"].iter().zip(&self.keys) {
            text = text.replace(name, key);
        }
        if let Some(agent) = &self.agent {
            text = text.replace("{agent}", &agent.socket().display().to_string());
            text = text.replace("{public-key}", agent.key());
        }
        if let Some((shared, _)) = &self.shared {
            text = text.replace("{key}", &format!("{:#x}", shared.key));
        }
        for (name, repo) in [("{repository}", "demo"), ("{other}", "extra")] {
            text = text.replace(name, &home::repository_of(&self.nonce, repo).display().to_string());
        }
        if text.contains('{') {
            let manifest = &Self::context()?.manifest;
            let templates = self.templates()?;
            for (name, template, repo) in
                [("{factory}", "{{factory}}", "demo")].into_iter().chain(manifest.placeholders())
            {
                if text.contains(name) {
                    text = text.replace(name, &templates.with("repo", repo).render(template)?);
                }
            }
        }
        Ok(text)
    }

    /// The id of the next attempt.
    pub fn next_attempt(&self) -> String {
        launch::attempt_id(&self.nonce, self.attempts + 1)
    }

    /// The factory's folder.
    pub fn factory(&self) -> PathBuf {
        places::factory(&self.plan, &self.nonce)
    }

    /// Where the next attempt's worktree of the first repo will be.
    ///
    /// # Errors
    /// When a template of the manifest is wrong.
    pub fn next_worktree(&self) -> Result<PathBuf, String> {
        self.worktree_of(self.attempts + 1)
    }

    /// Where an attempt's worktree of the first repo is or will be.
    ///
    /// # Errors
    /// When a template of the manifest is wrong.
    pub fn worktree_of(&self, attempt: u32) -> Result<PathBuf, String> {
        let templates = Self::launcher()?.templates(&self.plan, &self.nonce, attempt)?;
        templates.with("repo", "demo").render(Self::context()?.manifest.worktree()).map(PathBuf::from)
    }

    /// The manifest's templates in the context of the next attempt.
    ///
    /// # Errors
    /// When a template of the manifest is wrong.
    pub fn templates(&self) -> Result<Templates, String> {
        Self::launcher()?.templates(&self.plan, &self.nonce, self.attempts + 1)
    }

    /// The argv of a probe from its words.
    ///
    /// # Errors
    /// As [`Scene::expand_text`].
    pub fn probe(&self, words: &str) -> Result<Vec<String>, String> {
        let words = words.split_whitespace().map(|w| self.expand(w));
        std::iter::once(Ok(PROBE_IN_WORKTREE.to_owned())).chain(words).collect()
    }

    /// The argv of a shell command.
    ///
    /// # Errors
    /// As [`Scene::expand_text`].
    pub fn shell(&self, command: &str) -> Result<Vec<String>, String> {
        Ok(launch::shell(&self.expand_text(command)?.replace("~/", &format!("{}/", HOME))))
    }
}
