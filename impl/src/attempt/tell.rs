//! What kusaw says of its own accord when a sandboxed step is over: where its commits are, and what an agent that failed may
//! have lacked. Nothing where there is nothing of that.

use super::Attempt;
use crate::git::outcome::RepoOutcome;
use crate::git::worktree;
use crate::outcome::{End, Refusal};
use crate::provider::{self, state};
use crate::reach;
use crate::settings::{Mode, inject};
use crate::stderr;
use crate::store::Store;
use crate::store::name::{OfStep, to_set};

impl Attempt<'_> {
    pub(super) fn tell(&self, result: &Result<End, Refusal>, git: &[RepoOutcome]) {
        git.iter().filter(|repo| repo.tip != repo.base).for_each(|repo| self.tell_commits(repo));
        if matches!(result, Ok(End::Exited(code)) if *code != 0) && self.effective.mode == Mode::Required {
            self.tell_login();
        }
    }

    fn tell_commits(&self, repo: &RepoOutcome) {
        let Some(settings) = self.settings.repos.get(&repo.repo) else { return };
        let place = worktree::place(&settings.path.value, self.factory, reach::own_home().as_deref());
        let (branch, base) = (&repo.branch, repo.base.get(..12).unwrap_or(&repo.base));
        let look = format!("git -C {} log -p {base}..{branch}", quoted(&place.to_string_lossy()));
        stderr::say(format!("{}: commits on the branch {branch}: {look}", repo.repo));
    }

    /// The agent itself says what it lacks; this says how it gets it.
    fn tell_login(&self) {
        let Some(agent) = provider::of(self.step) else { return };
        // It may have had its login from there.
        let state = agent.state(&reach::home(), |name| state::variable(&self.step.env, name));
        if state.is_ok_and(|state| state.places.iter().any(|place| state::is_there(place))) {
            return;
        }
        let kept = Store::own().and_then(|store| store.of_step(self.factory, self.name)).unwrap_or_default();
        let injected = inject::of(self.settings, self.step).unwrap_or_default();
        let has = |variable: &str| {
            self.step.env.contains_key(variable)
                || kept.iter().any(|kept| kept == variable)
                || injected.iter().any(|one| one.key_env == variable)
        };
        if let Some(usual) = agent.login.first().filter(|_| !agent.login.iter().any(|variable| has(variable))) {
            let (name, step) = (agent.name, self.name);
            let set = to_set(&OfStep { step, variable: usual }.to_string());
            stderr::say(format!("{name} got no login from the step; with this it does: {set}"));
        }
    }
}

/// For a shell, if need be.
fn quoted(text: &str) -> String {
    let is_plain = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-+@".contains(&b));
    if is_plain { text.into() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
