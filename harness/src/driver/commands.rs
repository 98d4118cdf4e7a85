//! The commands of a factory, each as an argv of templates. One that is left out is never asked.

use schemars::JsonSchema;
use serde::Deserialize;

/// How a `kind: factory` runs a step.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Commands {
    /// One attempt of a step (argv of templates).
    pub run: Vec<String>,
    /// Looks at the settings and warns (argv of templates); null = it has no such command.
    pub validate: Option<Vec<String>>,
    /// Argv that says whether this machine can run the backend; with `--verbose` also what it does not protect from.
    pub check: Option<Vec<String>>,
    /// Argv that says whether its proxy is hosted, and whether this machine can run the backend.
    pub status: Option<Vec<String>>,
    /// Argv that prints the object of `validate --json`; only its block `sandbox` is looked at.
    pub block: Option<Vec<String>>,
    /// Argv that lists every word that a record can hold.
    pub outcomes: Option<Vec<String>>,
    /// Argv that says what its agents are, and what a step of each can require.
    pub providers: Option<Vec<String>>,
    /// Argv that says what each step can connect to and tries it.
    pub doctor: Option<Vec<String>>,
    /// Keeps the secret whose name is `{{secret}}` outside of every sandbox; its value comes in on stdin.
    pub secret: Option<Vec<String>>,
    /// Argv that says which secrets are kept, and what for.
    pub secrets: Option<Vec<String>>,
    /// Argv that says what would be executed for the step `{{step}}`; nothing is.
    pub profile: Option<Vec<String>>,
    /// Hosts the one proxy of the factory for all its attempts, until it is told to end; null = it has no such command.
    pub serve: Option<Serve>,
}

impl Commands {
    /// The command of this name, if the driver has it.
    pub fn named(&self, name: &str) -> Option<&[String]> {
        match name {
            "validate" => self.validate.as_deref(),
            "check" => self.check.as_deref(),
            "status" => self.status.as_deref(),
            "block" => self.block.as_deref(),
            "outcomes" => self.outcomes.as_deref(),
            "providers" => self.providers.as_deref(),
            "doctor" => self.doctor.as_deref(),
            "secret" => self.secret.as_deref(),
            "secrets" => self.secrets.as_deref(),
            "profile" => self.profile.as_deref(),
            _ => None,
        }
    }
}

/// How a factory's one proxy is hosted.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Serve {
    /// Argv of templates.
    pub run: Vec<String>,
    /// What is there as soon as attempts find it (template of a path).
    pub ready: String,
}
