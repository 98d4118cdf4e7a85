//! The features: read, expanded, selected, and marked where the driver cannot be asked.
//!
//! No scenario is ever dropped because of a claim: what cannot be asked keeps its place and gets a verdict that says so.

mod not_asked;
mod selection;

use std::path::{Path, PathBuf};

pub use not_asked::mark_not_asked;
pub use selection::{Selection, cases, leave_out_unclaimed, nearest, nearest_case, retain, select};

use cucumber::feature::Ext;
use gherkin::{Feature, GherkinEnv, Rule, Scenario};

use crate::catalogue::is_id;

/// One scenario, with what its tags say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// The guarantee: the id of its Rule.
    pub id: String,
    /// Its title as a word for the command line; unique within the guarantee.
    pub case: String,
    /// Its title.
    pub title: String,
    /// Tags of feature, rule and scenario, without `@`.
    pub tags: Vec<String>,
    /// Where it stands: file below the root, line.
    pub place: (PathBuf, usize),
}

impl Case {
    /// The case of a scenario.
    pub fn of(feature: &Feature, rule: Option<&Rule>, scenario: &Scenario) -> Self {
        let rule_tags = rule.map(|r| r.tags.as_slice()).unwrap_or_default();
        let id = rule_tags.iter().find(|t| is_id(t)).cloned().unwrap_or_default();
        let tags = feature.tags.iter().chain(rule_tags).chain(&scenario.tags).filter(|t| !is_id(t)).cloned().collect();
        let path = feature.path.clone().unwrap_or_default();
        Self {
            id,
            case: slug(&scenario.name),
            title: scenario.name.clone(),
            tags,
            place: (path, scenario.position.line),
        }
    }

    /// Whether it checks more than the row says.
    pub fn is_extra(&self) -> bool {
        self.tags.iter().any(|t| t == "extra")
    }

    /// Whether it judges what another platform promises on look-alikes that the lab has. Its verdict is none on that
    /// platform.
    pub fn is_on_fixtures(&self) -> bool {
        self.tags.iter().any(|t| t == FIXTURE)
    }

    /// What it asks of a driver beyond launching: the words after `@needs:`.
    pub fn needs(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().filter_map(|t| t.strip_prefix("needs:"))
    }

    /// Programs of the host that it uses inside: the words after `@program:`.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().filter_map(|t| t.strip_prefix("program:"))
    }

    /// Programs of the host that it uses inside where they are installed: the words after `@if-installed:`.
    pub fn programs_if_installed(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().filter_map(|t| t.strip_prefix("if-installed:"))
    }

    /// Agents that it lets work: the words after `@agent:`.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().filter_map(|t| t.strip_prefix("agent:"))
    }

    /// `ID/case`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.id, self.case)
    }
}

/// The tag of scenarios on look-alikes of another platform.
pub const FIXTURE: &str = "fixture";

/// Where the features are that are the specification.
pub const FEATURES: &str = "features";

/// Reads all features below `root/features`.
///
/// # Errors
/// As [`read_in`].
pub fn read(root: &Path) -> Result<Vec<Feature>, String> {
    read_in(root, Path::new(FEATURES))
}

/// Reads all features below a folder of the checkout: a book of its own, with at most one Rule a guarantee.
///
/// # Errors
/// The first file that cannot be parsed, with the parser's whole chain of causes.
pub fn read_in(root: &Path, folder: &Path) -> Result<Vec<Feature>, String> {
    let mut paths = Vec::new();
    let folder = root.join(folder);
    find(&folder, &mut paths).map_err(|e| format!("{}: {e}", folder.display()))?;
    paths.sort();
    paths.iter().map(|path| parse(root, path)).collect()
}

fn parse(root: &Path, path: &Path) -> Result<Feature, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let shown = path.strip_prefix(root).unwrap_or(path);
    let mut feature =
        Feature::parse(&text, GherkinEnv::default()).map_err(|e| format!("{}: {}", shown.display(), chain(&e)))?;
    feature.path = Some(shown.to_owned());
    feature.expand_examples().map_err(|e| format!("{}: {}", shown.display(), chain(&e)))
}

fn find(folder: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, paths)?;
        } else if path.extension().is_some_and(|e| e == "feature") {
            paths.push(path);
        }
    }
    Ok(())
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// Lower-case words joined by dashes.
fn slug(title: &str) -> String {
    let mut slug = String::new();
    for c in title.chars() {
        if c.is_alphanumeric() || "~.+*_{}[]".contains(c) {
            slug.extend(c.to_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const TEXT: &str = "@needs:factory\nFeature: f\n  @FS-06\n  Rule: r\n    @extra\n    Scenario Outline: cannot read <file>\n      When x\n      Examples:\n        | file |\n        | ~/a  |\n        | ~/b  |\n";

    fn feature() -> Feature {
        Feature::parse(TEXT, GherkinEnv::default()).unwrap().expand_examples().unwrap()
    }

    #[test]
    fn a_case_has_the_id_of_its_rule_and_all_tags() {
        let feature = feature();
        let rule = &feature.rules[0];
        let case = Case::of(&feature, Some(rule), &rule.scenarios[1]);
        assert_eq!((case.name().as_str(), case.is_extra()), ("FS-06/cannot-read-~-b", true));
        assert_eq!(case.needs().collect::<Vec<_>>(), ["factory"]);
    }
}
