//! Where an implementation shows what happened, and which places of its own features name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Manifest, Templates};

/// A file, and the regular expressions (one group each) that find in its lines what is looked for.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Observation {
    /// Where the file lies (template).
    pub path: String,
    /// Finds a host.
    pub host: Option<String>,
    /// Finds the type of an event.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Finds the number of blocked requests, in a summary.
    pub requests: Option<String>,
    /// Finds the number of hosts they were for, in a summary.
    pub hosts: Option<String>,
    /// Finds the reason of a refusal.
    pub refused: Option<String>,
    /// Finds every word that is one of a list of the factory's: each group that is not empty is one.
    pub words: Option<String>,
}

/// How a factory's commands say whether this machine can run its backend: regular expressions over what they print, alternatives
/// for each command. Of groups, the first that is not empty counts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Availability {
    /// Matches where it can.
    pub yes: String,
    /// Finds the reason where it cannot.
    pub reason: String,
    /// Finds what the user can do about it.
    pub fix: String,
}

/// Where a factory shows what happened (templates).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Observe {
    /// The attempt's folder.
    pub attempt_dir: String,
    /// What the attempt of `{{repo}}` is called where a step has one for each repo (`per_repo: true`); `{{attempt}}` is the id that
    /// was given.
    pub attempt_of_repo: String,
    /// The worktree of `{{repo}}` (factories only: a sandbox is given its worktrees).
    pub worktree: String,
    /// The artifacts folder.
    pub artifacts: String,
    /// The log of blocked hosts.
    pub egress_log: Option<Observation>,
    /// The stream of events.
    pub events: Option<Observation>,
    /// The outcome.
    pub outcome: Option<Observation>,
    /// How its commands say whether steps can be sandboxed here.
    pub availability: Option<Availability>,
    /// Where it keeps its secrets, keys and signing shim.
    pub protected: Option<Protected>,
    /// What it makes once and keeps (templates): the first attempt of a user may leave it.
    pub kept: Vec<String>,
    /// Exit codes by which the factory says that it executed nothing.
    pub refused_codes: Vec<i32>,
}

/// Folders that a factory keeps from every step (templates). The harness fills them, wherever they lie.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Protected {
    /// The secret store.
    pub store: String,
    /// The keys that open it.
    pub keys: String,
    /// The signing shim and the socket it signs through.
    pub signing: String,
}

impl Manifest {
    /// What the placeholders of features stand for: template and repo. One that the manifest leaves out is empty.
    pub fn placeholders(&self) -> [(&'static str, &str, &'static str); 8] {
        let observe = &self.observe;
        let protected = observe.protected.as_ref();
        [
            ("{artifacts}", &observe.artifacts, "demo"),
            ("{second}", self.worktree(), "extra"),
            ("{store}", protected.map_or("", |p| &p.store), "demo"),
            ("{keys}", protected.map_or("", |p| &p.keys), "demo"),
            ("{signing}", protected.map_or("", |p| &p.signing), "demo"),
            ("{egress-log}", file(&observe.egress_log), "demo"),
            ("{events}", file(&observe.events), "demo"),
            ("{outcome}", file(&observe.outcome), "demo"),
        ]
    }
}

impl Manifest {
    /// The templates in the context of a repo, and of its own attempt if it has one.
    ///
    /// # Errors
    /// When a template is wrong.
    pub fn of_repo(&self, templates: &Templates, repo: &str, has_its_own: bool) -> Result<Templates, String> {
        let mut templates = templates.with("repo", repo);
        if has_its_own {
            templates = templates.with("attempt", &templates.render(&self.observe.attempt_of_repo)?);
            templates = templates.with("attempt_dir", &templates.render(&self.observe.attempt_dir)?);
        }
        let worktree = templates.render(self.worktree())?;
        Ok(templates.with("worktree", &worktree))
    }
}

fn file(observation: &Option<Observation>) -> &str {
    observation.as_ref().map_or("", |o| &o.path)
}
