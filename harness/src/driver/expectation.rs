//! Declared deviations: what an implementation claims and is known not to keep.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Manifest;
use super::identity::{is_address, is_of_others};
use crate::features::{Case, nearest_case};
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
    #[serde(rename = "not-claimed")]
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

    /// Whether it is complete: a reason, platforms of the driver, an address.
    fn check(&self, platforms: &[String]) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("expect: {}: {what}", self.id));
        if self.why.trim().is_empty() {
            return wrong("why: is empty; say what is known");
        }
        if let Some(platform) = self.on.iter().find(|platform| !platforms.contains(platform)) {
            let known = platforms.join(", ");
            return wrong(&format!("on: {platform} is no platform of this driver, which has {known}"));
        }
        if let Some(url) = self.url.as_ref().filter(|url| !is_address(url)) {
            return wrong(&format!("url: {url} does not begin with https:// or http://"));
        }
        Ok(())
    }

    /// Whether it is about a platform.
    pub fn is_on(&self, platform: &str) -> bool {
        self.on.is_empty() || self.on.iter().any(|p| p == platform)
    }

    /// The id of the guarantee.
    pub fn guarantee(&self) -> &str {
        self.id.split('/').next().unwrap_or(&self.id)
    }
}

/// Whether the deviations that a manifest declares are in order, as far as it says itself.
///
/// # Errors
/// The first that is not, and why.
pub fn check(manifest: &Manifest) -> Result<(), String> {
    for (at, entry) in manifest.expect.iter().enumerate() {
        if !manifest.claims.iter().any(|c| c == entry.guarantee()) {
            return Err(format!("expect: {} is not claimed, so it cannot be expected to fail", entry.id));
        }
        if entry.outcome == Deviation::NotClaimed && !entry.id.contains('/') {
            return Err(format!("expect: {} is not-claimed as a whole: take it out of claims", entry.id));
        }
        entry.check(&manifest.platforms)?;
        let platforms = || manifest.platforms.iter().filter(|platform| entry.is_on(platform));
        let twice = |p: &&String| manifest.expect[..at].iter().any(|other| other.id == entry.id && other.is_on(p));
        if let Some(platform) = platforms().find(twice) {
            return Err(format!("expect: {} is there twice for {platform}", entry.id));
        }
        let excepts = |p: &&String| manifest.expect.iter().any(|other| other.id == entry.guarantee() && other.is_on(p));
        if entry.outcome == Deviation::Holds && (entry.id == entry.guarantee() || !platforms().any(|p| excepts(&p))) {
            return Err(format!(
                "expect: {}: outcome: holds excepts a case of a guarantee that is declared, and {} is not",
                entry.id,
                entry.guarantee()
            ));
        }
    }
    Ok(())
}

/// Deviations that no scenario has, each with the nearest one: they declare nothing.
pub fn stale(manifest: &Manifest, cases: &[Case]) -> Vec<String> {
    let is_there = |id: &str| cases.iter().any(|case| case.id == id || case.name() == id);
    let gone = manifest.expect.iter().filter(|entry| !is_there(&entry.id));
    gone.map(|entry| {
        let nearest = nearest_case(&entry.id, cases).unwrap_or_default();
        format!("{}: expect: {} is no scenario; the nearest is {nearest}", manifest.name, entry.id)
    })
    .collect()
}

/// Deviations without the version since which they are known, of a product that has releases of its own.
pub fn undated(manifest: &Manifest) -> Vec<String> {
    let is_ours = !is_of_others(&manifest.homepage);
    let deviates = |entry: &&Expectation| !matches!(entry.outcome, Deviation::Holds | Deviation::NotClaimed);
    let undated = manifest.expect.iter().filter(|entry| !is_ours && deviates(entry) && entry.since.is_none());
    undated
        .map(|entry| format!("{}: expect: {} has no since:, the version that was judged", manifest.name, entry.id))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(homepage: &str, expect: &str) -> Manifest {
        let text = format!(
            "name: n\nkind: sandbox\nhomepage: '{homepage}'\nplatforms: [linux, macos]\nlaunch: {{open: []}}\nclaims: [FS-06]\nexpect: [{expect}]\n"
        );
        Manifest::parse(&text).unwrap()
    }

    #[test]
    fn a_deviation_has_a_reason_a_known_platform_and_an_address() {
        for (entry, says) in [
            ("{id: FS-06, why: x}", ""),
            ("{id: FS-06, why: x, on: [macos], since: '1', url: 'https://example.org/1'}", ""),
            ("{id: FS-06, why: x}, {id: FS-06/a, outcome: holds, why: x}", ""),
            ("{id: FS-06, why: x, on: [linux]}, {id: FS-06, why: y, on: [macos]}", ""),
            ("{id: FS-06, why: ' '}", "why: is empty"),
            ("{id: FS-06, why: x, on: [linus]}", "on: linus is no platform of this driver, which has linux, macos"),
            ("{id: FS-06, why: x, url: example.org}", "url: example.org does not begin"),
            ("{id: FS-06, why: x, url: 'https://'}", "does not begin"),
            ("{id: FS-07, why: x}", "FS-07 is not claimed"),
            ("{id: FS-06/a, why: x}, {id: FS-06/a, why: y, on: [macos]}", "FS-06/a is there twice for macos"),
            ("{id: FS-06/a, outcome: holds, why: x}", "and FS-06 is not"),
            ("{id: FS-06, outcome: holds, why: x}", "excepts a case"),
        ] {
            let told = check(&manifest("", entry)).err().unwrap_or_default();
            assert!(told.contains(says) && told.is_empty() == says.is_empty(), "{entry}: {told}");
        }
    }

    #[test]
    fn one_that_no_scenario_has_is_told_with_the_nearest() {
        let case = |case: &str| Case { id: "FS-06".into(), case: case.into(), ..Case::default() };
        let cases = [case("cannot-read-a"), case("cannot-list-b")];
        let stale = |id: &str| stale(&manifest("", &format!("{{id: {id}, why: x}}")), &cases);
        assert!(stale("FS-06").is_empty() && stale("FS-06/cannot-list-b").is_empty());
        assert_eq!(
            stale("FS-06/cannot-lst-b"),
            ["n: expect: FS-06/cannot-lst-b is no scenario; the nearest is FS-06/cannot-list-b"]
        );
    }

    #[test]
    fn a_product_with_releases_has_the_version_too() {
        let undated = |homepage: &str, entry: &str| undated(&manifest(homepage, entry)).len();
        assert_eq!(undated("docs/os-sandbox.md", "{id: FS-06, why: x}"), 0);
        assert_eq!(undated("https://example.org", "{id: FS-06, why: x}"), 1);
        assert_eq!(undated("https://example.org", "{id: FS-06, why: x, since: '1'}"), 0);
    }
}
