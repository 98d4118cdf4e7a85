//! The driver manifest: one YAML file an implementation.
//!
//! It is read strictly: an unknown key is an error, so that a misspelt claim cannot vanish.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::commands::Commands;
use super::expectation::{self, Deviation, Expectation};
use super::observe::Observe;
use super::part::Part;
use super::{identity, like};
use crate::catalogue::{Catalogue, is_id};

/// Sandbox: launches one command under a policy. Factory: keeps the whole contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Launches one command under a policy.
    Sandbox,
    /// Runs steps from settings.
    Factory,
}

/// The network a launch asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// No network at all (sandboxes only).
    Closed,
    /// Only listed hosts, through the proxy.
    Allowlist,
    /// Unrestricted: the documentation's default.
    #[default]
    Open,
}

/// Environment of the launched program.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Environment {
    /// Added or replaced (templates).
    pub set: BTreeMap<String, String>,
    /// Removed.
    pub unset: Vec<String>,
}

/// How a `kind: sandbox` launches a command; null = the mode is not offered.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Modes {
    /// No network.
    pub closed: Option<Vec<String>>,
    /// Listed hosts only.
    pub allowlist: Option<Vec<String>>,
    /// Unrestricted network.
    pub open: Option<Vec<String>>,
}

/// A whole manifest.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Name, as on the command line.
    pub name: String,
    /// The driver whose manifest holds for all that this one does not say.
    #[serde(default)]
    pub like: Option<String>,
    /// What it can be asked.
    pub kind: Kind,
    /// Where its claims are documented.
    #[serde(default)]
    pub homepage: String,
    /// In which configuration it is judged, and why in this one.
    #[serde(default)]
    pub about: String,
    /// Prints its version (argv of templates).
    #[serde(default)]
    pub version: Vec<String>,
    /// Platforms it supports: linux, macos, windows.
    pub platforms: Vec<String>,
    /// Programs it needs on PATH.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Ends with 0 where it can be asked (argv of templates: `{{program}}`, `{{home}}`, `{{uid}}`); run once in the lab, before
    /// the scenarios. Else the whole driver is blocked, and what it prints to stderr is the reason and the fix.
    #[serde(default)]
    pub available: Vec<String>,
    /// The sandbox program it starts, found on PATH; faults are made in it.
    #[serde(default)]
    pub backend: Option<String>,
    /// Its own program in `/opt/driver/bin`.
    #[serde(default)]
    pub program: Option<String>,
    /// What the harness provides for it.
    #[serde(default)]
    pub provide: Vec<Part>,
    /// Files written before a launch: path template -> content template.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// Where raw documentation YAML is accepted as settings (template); null = the driver has another language.
    #[serde(default)]
    pub settings_file: Option<String>,
    /// What its settings can say beside `sandbox:`: `setup` (commands of a step), `sign` (what signs a repository's imported
    /// commits), `intake` (a step of a provider without a prompt asks for it at the terminal).
    #[serde(default)]
    pub offers: Vec<String>,
    /// Environment of the launch.
    #[serde(default)]
    pub env: Environment,
    /// For `kind: sandbox`.
    #[serde(default)]
    pub launch: Modes,
    /// For `kind: factory`.
    #[serde(default)]
    pub commands: Commands,
    /// For `kind: factory`.
    #[serde(default)]
    pub observe: Observe,
    /// Guarantees it claims.
    #[serde(default)]
    pub claims: Vec<String>,
    /// The words of its documentation that a claim rests on, by guarantee, and where they stand.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
    /// Whether it also claims the scenarios tagged `@extra`.
    #[serde(default)]
    pub extras: bool,
    /// Declared deviations.
    #[serde(default)]
    pub expect: Vec<Expectation>,
}

impl Manifest {
    /// Reads the manifest of `driver`: a name below `harness/drivers`, or the path of a YAML file.
    ///
    /// # Errors
    /// When there is none, it is not valid, or it names a guarantee that does not exist.
    pub fn read(root: &Path, driver: &str, catalogue: &Catalogue) -> Result<Self, String> {
        let path = path(root, driver);
        let text = std::fs::read_to_string(&path).map_err(|e| {
            format!("driver {driver}: {}: {e}; known drivers: {}", path.display(), names(root).join(", "))
        })?;
        let manifest = like::read(root, &path, &text).map_err(|e| format!("{}: {e}", path.display()))?;
        manifest.check(catalogue).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(manifest)
    }

    /// Parses a manifest.
    ///
    /// # Errors
    /// The parser's message, with line and column.
    pub fn parse(text: &str) -> Result<Self, String> {
        let options = serde_yaml::options! { strict_booleans: true };
        serde_yaml::from_str_with_options(text, options).map_err(|e| e.to_string())
    }

    fn check(&self, catalogue: &Catalogue) -> Result<(), String> {
        identity::check(&self.name)?;
        for id in self.claims.iter().map(String::as_str).chain(self.expect.iter().map(Expectation::guarantee)) {
            if !is_id(id) || catalogue.get(id).is_none() {
                return Err(format!("\"{id}\" is not a guarantee of features/guarantees.md"));
            }
        }
        if let Some(platform) = self.platforms.iter().find(|p| !PLATFORMS.contains(&p.as_str())) {
            return Err(format!("platforms: nobody knows {platform}; known are {}", PLATFORMS.join(", ")));
        }
        expectation::check(self)?;
        if let Some(id) = self.sources.keys().find(|id| !self.claims.contains(id)) {
            return Err(format!("sources: {id} is not claimed"));
        }
        self.provide.iter().try_for_each(Part::check)?;
        if let Some(word) = self.offers.iter().find(|word| !OFFERS.contains(&word.as_str())) {
            return Err(format!("offers: nobody knows {word}; known are {}", OFFERS.join(", ")));
        }
        if self.observe.refused_codes.iter().any(|code| *code == 0 || *code == crate::probe::RAN_TO_END) {
            return Err("observe.refused_codes: 0 and 37 are codes of a step that ran".to_owned());
        }
        match self.kind {
            Kind::Factory if self.commands.run.is_empty() => Err("kind: factory needs commands.run".to_owned()),
            Kind::Sandbox if self.launch.closed.is_none() && self.launch.open.is_none() => {
                Err("kind: sandbox needs launch.closed or launch.open".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Whether it claims a guarantee; `extra` = the scenario checks more than the row says.
    pub fn claims(&self, id: &str, extra: bool) -> bool {
        self.claims.iter().any(|c| c == id) && (self.extras || !extra)
    }

    /// Why it does not claim a case of a guarantee that it claims, where its manifest says that.
    pub fn leaves_out(&self, id: &str, case: &str, platform: &str) -> Option<String> {
        let of_case = |e: &&Expectation| e.is_on(platform) && e.id.split_once('/') == Some((id, case));
        let declared = self.expect.iter().find(of_case)?;
        (declared.outcome == Deviation::NotClaimed).then(|| declared.told())
    }

    /// Where the worktree of `{{repo}}` lies (template): a factory says it, to a sandbox it is given.
    pub fn worktree(&self) -> &str {
        match self.kind {
            Kind::Factory => &self.observe.worktree,
            Kind::Sandbox => "{{factory}}/{{attempt}}/{{repo}}",
        }
    }

    /// The declared deviation that covers a case on this platform; one for the case outranks one for the guarantee.
    pub fn expectation(&self, id: &str, case: &str, platform: &str) -> Option<&Expectation> {
        let here = |e: &&Expectation| e.is_on(platform);
        let of_case = |e: &&Expectation| e.id.split_once('/') == Some((id, case));
        let declared = self
            .expect
            .iter()
            .filter(here)
            .find(of_case)
            .or_else(|| self.expect.iter().filter(here).find(|e| e.id == id));
        declared.filter(|e| !matches!(e.outcome, Deviation::Holds | Deviation::NotClaimed))
    }
}

/// What platforms are called, as `std::env::consts::OS` has it.
pub const PLATFORMS: [&str; 3] = ["linux", "macos", "windows"];

/// What the settings of a factory can say beside `sandbox:`.
pub const OFFERS: [&str; 3] = ["setup", "sign", "intake"];

/// Where the manifest of `driver` lies.
pub fn path(root: &Path, driver: &str) -> PathBuf {
    if driver.ends_with(".yaml") {
        return PathBuf::from(driver);
    }
    root.join("harness/drivers").join(format!("{driver}.yaml"))
}

/// Names of the drivers that stand in `harness/drivers`.
pub fn names(root: &Path) -> Vec<String> {
    let Ok(folder) = std::fs::read_dir(root.join("harness/drivers")) else {
        return Vec::new();
    };
    let mut names: Vec<String> =
        folder.filter_map(|e| e.ok()?.file_name().to_str()?.strip_suffix(".yaml").map(str::to_owned)).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: &str = "name: none\nkind: sandbox\nplatforms: [linux]\nlaunch: {open: ['{{argv}}']}\n";

    #[test]
    fn an_unknown_key_is_an_error() {
        assert!(Manifest::parse(NONE).is_ok());
        assert!(Manifest::parse(&format!("{NONE}clams: [FS-06]\n")).unwrap_err().contains("clams"));
    }

    #[test]
    fn a_case_outranks_its_guarantee() {
        let more = "claims: [FS-06]\nexpect: [{id: FS-06, why: x}, {id: FS-06/a, why: y}, {id: FS-06/b, outcome: holds, why: z}]\n";
        let manifest = Manifest::parse(&format!("{NONE}{more}")).unwrap();
        let why = |case| manifest.expectation("FS-06", case, "linux").map(|e| e.why.as_str());
        assert_eq!(["", "a", "b"].map(why), [Some("x"), Some("y"), None]);
    }

    #[test]
    fn a_case_that_asks_for_more_is_neither_judged_nor_expected() {
        let more = "claims: [FS-06]\nexpect: [{id: FS-06/a, outcome: not-claimed, why: more}]\n";
        let manifest = Manifest::parse(&format!("{NONE}{more}")).unwrap();
        assert_eq!(manifest.leaves_out("FS-06", "a", "linux").as_deref(), Some("more"));
        assert!(
            manifest.leaves_out("FS-06", "b", "linux").is_none()
                && manifest.expectation("FS-06", "a", "linux").is_none()
        );
    }

    #[test]
    fn claims_must_exist_and_expectations_be_claimed() {
        let catalogue = Catalogue::parse("| FS-06 | L | must | a | b |\n").unwrap();
        let check = |more: &str| Manifest::parse(&format!("{NONE}{more}")).unwrap().check(&catalogue);
        assert!(check("claims: [FS-06]\n").is_ok());
        assert!(check("claims: [FS-99]\n").is_err());
        assert!(check("expect: [{id: FS-06, why: x}]\n").is_err());
        assert!(check("claims: [FS-06]\nexpect: [{id: FS-06/a, outcome: not-claimed, why: x}]\n").is_ok());
        assert!(check("claims: [FS-06]\nexpect: [{id: FS-06, outcome: not-claimed, why: x}]\n").is_err());
    }
}
