//! Declared deviations: what an implementation claims and is known not to keep.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::verdict::Verdict;

/// What a declared deviation looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Deviation {
    /// The guarantee does not hold.
    #[default]
    Fails,
    /// Its control cannot be shown.
    Inconclusive,
    /// None: a case that holds although its guarantee is declared not to.
    Holds,
    /// Whatever is seen: a case of which the documentation that the claim rests on says nothing, or the contrary.
    NotClaimed,
}

/// A declared deviation: a claim that is known not to hold yet.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// The guarantee, or `ID/case`.
    pub id: String,
    /// What is seen instead of `holds`.
    #[serde(default)]
    pub outcome: Deviation,
    /// Why.
    pub why: String,
    /// Platforms it fails on; empty = all.
    #[serde(default)]
    pub on: Vec<String>,
    /// The version since which it is known.
    #[serde(default)]
    pub since: Option<String>,
    /// Where it is reported.
    #[serde(default)]
    pub url: Option<String>,
}

impl Deviation {
    /// The verdict it stands for.
    pub fn verdict(self) -> Verdict {
        match self {
            Self::Fails => Verdict::Fails,
            Self::Inconclusive => Verdict::Inconclusive,
            Self::Holds => Verdict::Holds,
            Self::NotClaimed => Verdict::NotClaimed,
        }
    }
}

impl Expectation {
    /// Why, since when, and where it is reported.
    pub fn told(&self) -> String {
        let since = self.since.as_ref().map(|version| format!("since {version}"));
        let more: Vec<String> = since.into_iter().chain(self.url.clone()).collect();
        if more.is_empty() { self.why.clone() } else { format!("{} ({})", self.why, more.join(", ")) }
    }

    /// The id of the guarantee.
    pub fn guarantee(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }
}
