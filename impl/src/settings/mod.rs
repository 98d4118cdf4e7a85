//! The settings as the user writes them in `kusaw.yaml`. These types only hold what was written;
//! what follows from it is computed in `effective` and `reach`. Nothing unknown may pass unnoticed.

pub mod allowlist;
pub mod attempts;
mod complaint;
pub mod effective;
pub mod inject;
mod key;
pub mod masked;
mod parse;
mod right;
pub mod schema;
mod validate;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_yaml::Spanned;

use crate::capability::Capability;
use crate::egress::grant::Sni;

pub use complaint::{Complaint, Complaints};
pub use parse::{MAX, read};
#[cfg(test)]
use schema::words::Text;
pub use validate::{NAME, is_name};
pub use words::{Inject, InjectEntry, StepSandbox};
use words::{given, word};

/// Name of the settings file in a factory folder.
pub const FILE: &str = "kusaw.yaml";

/// One `kusaw.yaml`.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The file they were read from, as it was named.
    #[serde(skip)]
    pub file: PathBuf,
    /// The factory-wide block.
    #[serde(default)]
    pub sandbox: Sandbox,
    /// Repositories by name.
    #[serde(default)]
    pub repos: BTreeMap<String, Repo>,
    /// Steps by name.
    #[serde(default)]
    pub steps: BTreeMap<String, Step>,
}

/// On or off. `off` is the word; it is never read as a boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The step runs as it always did.
    Off,
    /// The step runs inside the sandbox or not at all.
    Required,
}

/// What a sandboxed step can connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Everything, host services included.
    Open,
    /// What the egress policy allows, through the proxy.
    Allowlist,
}

/// A `sandbox:` block. `None` = the key was not written.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Sandbox {
    /// `off` or `required`.
    #[serde(default, deserialize_with = "word")]
    #[cfg_attr(test, schemars(with = "Mode"))]
    pub mode: Option<Mode>,
    /// `open` or `allowlist`.
    #[serde(default, deserialize_with = "word")]
    #[cfg_attr(test, schemars(with = "Network"))]
    pub network: Option<Network>,
    /// Paths readable besides.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<Text>"))]
    pub allow_read: Vec<Spanned<String>>,
    /// Paths writable besides.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<Text>"))]
    pub allow_write: Vec<Spanned<String>>,
    /// Hosts.
    #[serde(default)]
    pub egress: Egress,
}

/// The `egress:` block.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Egress {
    /// Host names or `*.suffix`, optional `:port`.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<Text>"))]
    pub allow: Vec<Spanned<String>>,
    /// Add the provider's own hosts (default true).
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "bool"))]
    pub provider_hosts: Option<bool>,
    /// Whether the server name in a TLS tunnel must be the tunnel's host: `check` (default) or `off`.
    #[serde(default, deserialize_with = "word")]
    #[cfg_attr(test, schemars(with = "Sni"))]
    pub sni: Option<Sni>,
    /// Keys held outside.
    #[serde(default)]
    #[cfg_attr(test, schemars(schema_with = "schema::words::inject"))]
    pub inject: Inject,
}

/// One repository.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Repo {
    /// Absolute, below `~/`, or relative to the factory folder.
    #[cfg_attr(test, schemars(with = "Text"))]
    pub path: Spanned<String>,
    /// For steps whose active repos include this one.
    #[serde(default, deserialize_with = "word")]
    #[cfg_attr(test, schemars(with = "Mode"))]
    pub sandbox: Option<Mode>,
    /// The public key whose owner signs what is imported, as git's `user.signingkey` with `gpg.format=ssh`; written as `path` is.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "Text"))]
    pub sign: Option<Spanned<String>>,
}

/// One step.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, schemars(extend("oneOf" = [{"required": ["run"]}, {"required": ["uses"]}, {"anyOf": [{"required": ["provider"]}, {"required": ["prompt"]}]}])))]
pub struct Step {
    /// Names under `repos:`; the first one's worktree is where the step starts.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<String>"))]
    pub repos: Vec<Spanned<String>>,
    /// A word, or a block that adds to the factory's.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "StepSandbox"))]
    pub sandbox: Option<StepSandbox>,
    /// A program and its arguments.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "Vec<Text>"))]
    pub run: Option<Vec<String>>,
    /// An agent CLI by its registry name.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(schema_with = "schema::words::providers"))]
    pub provider: Option<Spanned<String>>,
    /// What the agent is told; without it, the user is asked when the step is run.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "Text"))]
    pub prompt: Option<String>,
    /// The agent talks with its user, on the step's terminal; else it does what it is told, and ends.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "bool"))]
    pub interactive: Option<bool>,
    /// Arguments of the agent, in front of what it is told.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<Text>"))]
    pub args: Vec<String>,
    /// Variables the step gets besides.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "BTreeMap<String, Text>"))]
    pub env: BTreeMap<String, String>,
    /// One attempt for each repo, with that repo alone; else one attempt with all of them.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "bool"))]
    pub per_repo: Option<bool>,
    /// Commands that the factory runs before the step, one after the other and outside of any sandbox.
    #[serde(default)]
    #[cfg_attr(test, schemars(with = "Vec<Vec<Text>>"))]
    pub setup: Vec<Vec<String>>,
    /// What it cannot do without.
    #[serde(default)]
    pub requires: Vec<Capability>,
    /// A custom runner's own word about itself: a program that prints it as JSON.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(with = "Vec<Text>"))]
    pub handshake: Option<Vec<String>>,
    /// A built-in step by its name.
    #[serde(default, deserialize_with = "given")]
    #[cfg_attr(test, schemars(schema_with = "schema::words::builtins"))]
    pub uses: Option<Spanned<String>>,
}

impl Step {
    /// The step's own block, if it has one rather than a word or nothing.
    pub fn block(&self) -> Option<&Sandbox> {
        match &self.sandbox {
            Some(StepSandbox::Block(block)) => Some(block),
            _ => None,
        }
    }

    /// Whether its agent talks with its user.
    pub fn is_interactive(&self) -> bool {
        self.interactive == Some(true)
    }

    /// Whether it is run once for each of its repos.
    pub fn is_per_repo(&self) -> bool {
        self.per_repo == Some(true)
    }
}
