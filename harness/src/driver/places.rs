//! Places of a factory that features name by a placeholder.

use schemars::JsonSchema;
use serde::Deserialize;

use super::manifest::{Manifest, Observation};

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
    pub fn places(&self) -> [(&'static str, &str, &'static str); 8] {
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

fn file(observation: &Option<Observation>) -> &str {
    observation.as_ref().map_or("", |o| &o.path)
}
