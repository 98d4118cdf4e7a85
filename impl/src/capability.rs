//! What a step can require of the factory that runs it. A capability that is not there is said to be missing before anything
//! is run, and never silently left out.

use std::fmt;

use serde::Deserialize;

use crate::settings::{Mode, Network, Settings, Step, allowlist, effective};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    /// The step can connect to listed hosts and nothing else.
    Network,
}

/// All of them.
pub const ALL: [Capability; 1] = [Capability::Network];

/// What the step requires and does not have.
pub fn missing(settings: &Settings, step: &Step) -> Option<Capability> {
    // Without a sandbox nothing keeps the step to a list of hosts.
    let network = match effective::of(settings, step).mode {
        Mode::Off => Network::Open,
        Mode::Required => allowlist::network(settings, step),
    };
    step.requires.iter().copied().find(|one| !one.is_supported(network))
}

impl Capability {
    /// Whether it is there, where the network is this.
    pub fn is_supported(self, network: Network) -> bool {
        match self {
            Capability::Network => network == Network::Allowlist,
        }
    }

    /// Its state in the documentation's words.
    pub fn state(self, network: Network) -> &'static str {
        if self.is_supported(network) { "supported" } else { "not_supported" }
    }

    /// The word of the settings.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Network => "network",
        }
    }

    /// What makes it supported.
    pub fn fix(self) -> &'static str {
        match self {
            Capability::Network => "set sandbox: {mode: required, network: allowlist}, or remove it from requires",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}
