//! The lint: what makes a feature or a manifest worthless although it runs green.
//!
//! Pure: it looks at texts, never at a run.

use std::collections::{BTreeMap, BTreeSet};

use gherkin::{Feature, Rule, Scenario, StepType};

use crate::catalogue::{Catalogue, is_id};
use crate::driver::identity::is_of_others;
use crate::driver::{Manifest, expectation};
use crate::features::{Case, FIXTURE, cases};

/// The first words of a control.
const CONTROLS: [&str; 3] = ["bare, ", "weakened, ", "planted, "];

/// What is wrong with the features.
pub fn features(features: &[Feature], catalogue: &Catalogue) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut rules: BTreeMap<String, String> = BTreeMap::new();
    let mut cases = BTreeSet::new();
    for feature in features {
        let file = feature.path.as_ref().map(|p| p.display().to_string()).unwrap_or_default();
        wrong.extend(feature.scenarios.iter().map(|s| format!("{file}: \"{}\" stands outside of any Rule", s.name)));
        for rule in &feature.rules {
            let ids: Vec<&String> = rule.tags.iter().filter(|t| is_id(t)).collect();
            let [id] = ids.as_slice() else {
                wrong.push(format!("{file}: Rule \"{}\" has {} ids, one is needed", rule.name, ids.len()));
                continue;
            };
            if catalogue.get(id).is_none() {
                wrong.push(format!("{file}: {id} is not in the catalogue"));
            }
            if let Some(other) = rules.insert((*id).clone(), file.clone()) {
                wrong.push(format!("{file}: {id} has a Rule in {other} already"));
            }
            if rule.scenarios.is_empty() {
                wrong.push(format!("{file}: {id} has no scenario"));
            }
            for scenario in &rule.scenarios {
                let case = Case::of(feature, Some(rule), scenario);
                wrong.extend(lacks(scenario).map(|what| format!("{file}: {} has no {what}", case.name())));
                if !cases.insert(case.name()) {
                    wrong.push(format!("{file}: {} is there twice: put a parameter into the title", case.name()));
                }
            }
        }
    }
    wrong
}

/// Tables whose rows have different numbers of cells: the parser cuts the longer ones silently.
pub fn tables(file: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut columns: Option<usize> = None;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.starts_with('|') {
            columns = None;
            continue;
        }
        let cells = line.replace("\\|", "").matches('|').count() - 1;
        if columns.is_some_and(|c| c != cells) {
            wrong.push(format!("{file}:{}: the row has {cells} cells, the one above has another number", number + 1));
        }
        columns = Some(cells);
    }
    wrong
}

/// What is wrong with the manifests, given the guarantees that have a Rule.
pub fn manifests<'a>(manifests: &[Manifest], features: &'a [Feature], catalogue: &Catalogue) -> Vec<String> {
    let mut wrong = Vec::new();
    let ids =
        |rule: &'a Rule| rule.tags.iter().filter(|t| is_id(t)).map(|id| (id, rule.tags.iter().any(|t| t == FIXTURE)));
    let here = |(id, on_fixtures): &(&String, bool)| {
        catalogue.get(id).is_some_and(|g| g.kind.counts() && (*on_fixtures || g.platforms.contains('L')))
    };
    let counting: BTreeSet<&String> =
        features.iter().flat_map(|f| &f.rules).flat_map(ids).filter(here).map(|(id, _)| id).collect();
    let cases = cases(features);
    wrong.extend(manifests.iter().flat_map(|manifest| expectation::stale(manifest, &cases)));
    wrong.extend(manifests.iter().flat_map(expectation::undated));
    wrong.extend(manifests.iter().flat_map(unsourced));
    let Some(reference) = manifests.iter().find(|m| m.name == "kusaw") else {
        return vec!["the reference has no manifest".to_owned()];
    };
    if !reference.expect.is_empty() {
        wrong.push("the reference's manifest expects failures: mend the reference".to_owned());
    }
    for id in counting {
        if !reference.claims(id, true) {
            wrong.push(format!("{id}: the reference does not claim it"));
        }
        let keeps =
            |m: &&Manifest| m.name != reference.name && m.claims(id, false) && m.expectation(id, "", "linux").is_none();
        if !manifests.iter().any(|m| keeps(&m)) {
            wrong.push(format!("{id}: no driver beside the reference keeps it: is the rule fair?"));
        }
    }
    wrong
}

/// Claims made in the name of others without the words that they rest on. Our own manifests claim by our documentation, which the
/// catalogue quotes.
fn unsourced(manifest: &Manifest) -> Vec<String> {
    let of_others = is_of_others(&manifest.homepage);
    let without = manifest.claims.iter().filter(|id| of_others && !manifest.sources.contains_key(*id));
    let name = &manifest.name;
    let said = |id| format!("{name}: {id} is claimed without the words of {}: add it to sources:", manifest.homepage);
    without.map(said).collect()
}

/// Each phase of an attempt must be hit so often where a launcher is killed at random moments.
const HITS: usize = 20;

/// Whether kills at random moments are counted by phase, and enough of them are asked for.
fn hits_enough(scenario: &Scenario) -> bool {
    let random = scenario.steps.iter().any(|s| s.ty == StepType::When && s.value.contains("at random moments"));
    let counted = |step: &gherkin::Step| {
        let said = step.value.strip_prefix("planted, launch, step and ")?;
        let said = said.strip_prefix("end").or_else(|| said.strip_prefix("import"))?;
        let count = said.strip_prefix(" were each hit at least ")?;
        count.strip_suffix(" times")?.parse::<usize>().ok()
    };
    !random || scenario.steps.iter().filter_map(counted).any(|count| count >= HITS)
}

fn lacks(scenario: &Scenario) -> impl Iterator<Item = &'static str> {
    let has = |wanted: StepType| scenario.steps.iter().any(|s| s.ty == wanted);
    let control =
        scenario.steps.iter().any(|s| s.ty == StepType::Then && CONTROLS.iter().any(|c| s.value.starts_with(c)));
    let hits = (hits_enough(scenario), "count of 20 kills or more in each phase");
    [(has(StepType::When), "When"), (has(StepType::Then), "Then"), (control, "control"), hits]
        .into_iter()
        .filter_map(|(there, what)| (!there).then_some(what))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cucumber::feature::Ext;
    use gherkin::GherkinEnv;

    const CATALOGUE: &str = "| FS-06 | LWM | must | a | b |\n| FS-07 | LWM | must | a | b |\n";
    const GOOD: &str =
        "Feature: f\n  @FS-06\n  Rule: r\n    Scenario: s\n      When w\n      Then t\n      And bare, it works\n";

    fn found(text: &str) -> Vec<String> {
        let feature = Feature::parse(text, GherkinEnv::default()).unwrap().expand_examples().unwrap();
        features(&[feature], &Catalogue::parse(CATALOGUE).unwrap())
    }

    #[test]
    fn a_good_feature_passes() {
        assert_eq!(found(GOOD), Vec::<String>::new());
    }

    #[test]
    fn each_lack_is_found() {
        for (from, to, says) in [
            ("@FS-06", "@tag", "0 ids"),
            ("@FS-06", "@FS-06 @FS-07", "2 ids"),
            ("@FS-06", "@FS-99", "not in the catalogue"),
            ("      When w\n", "", "no When"),
            ("      And bare, it works\n", "", "no control"),
            ("When w", "When it is killed at random moments", "no count of 20 kills"),
            ("  @FS-06\n  Rule: r\n", "", "outside of any Rule"),
            (
                "And bare, it works\n",
                "And bare, it works\n  @FS-06\n  Rule: q\n    Scenario: s\n      When w\n      Then bare, t\n",
                "already",
            ),
            ("Scenario: s\n", "Scenario: s\n      When w\n      Then bare, t\n    Scenario: s\n", "twice"),
        ] {
            let wrong = found(&GOOD.replace(from, to));
            assert!(wrong.iter().any(|w| w.contains(says)), "{says}: {wrong:?}");
        }
    }

    #[test]
    fn a_ragged_table_is_found() {
        assert!(tables("f", "| a | b |\n| 1 | 2 |\n\n| a |\n").is_empty());
        assert!(tables("f", "| a \\| b |\n| 1 |\n").is_empty());
        assert_eq!(tables("f", "| a | b |\n| 1 | 2 | 3 |\n").len(), 1);
    }

    #[test]
    fn the_reference_claims_all_and_expects_nothing() {
        let driver = |name: &str, more: &str| {
            Manifest::parse(&format!("name: {name}\nkind: sandbox\nplatforms: [linux]\nlaunch: {{open: []}}\n{more}"))
                .unwrap()
        };
        let feature = Feature::parse(GOOD, GherkinEnv::default()).unwrap();
        let catalogue = Catalogue::parse(CATALOGUE).unwrap();
        let wrong = |drivers: &[Manifest]| manifests(drivers, std::slice::from_ref(&feature), &catalogue).join("; ");
        let reference = driver("kusaw", "claims: [FS-06]\nextras: true\n");
        assert_eq!(wrong(&[reference.clone(), driver("other", "claims: [FS-06]\n")]), "");
        assert!(wrong(std::slice::from_ref(&reference)).contains("no driver beside"));
        for (id, stale) in [("FS-06", false), ("FS-06/s", false), ("FS-06/old-title", true), ("FS-07", true)] {
            let more = format!("claims: [FS-06, FS-07]\nexpect: [{{id: {id}, why: x}}]\n");
            assert_eq!(wrong(&[reference.clone(), driver("other", &more)]).contains("is no scenario"), stale, "{id}");
        }
        for (more, says) in [
            ("claims: [FS-06]\nhomepage: docs/x.md\n", ""),
            ("claims: [FS-06]\nhomepage: https://x.test\n", "other: FS-06 is claimed without the words"),
            ("claims: [FS-06]\nhomepage: https://x.test\nsources: {FS-06: no byte}\n", ""),
        ] {
            let found = wrong(&[reference.clone(), driver("other", more)]);
            assert!(if says.is_empty() { found.is_empty() } else { found.contains(says) }, "{more}: {found}");
        }
        let expects = driver("kusaw", "claims: [FS-06]\nextras: true\nexpect: [{id: FS-06, why: x}]\n");
        assert!(wrong(&[expects, driver("other", "claims: [FS-06]\n")]).contains("expects failures"));
        assert!(wrong(&[driver("kusaw", ""), driver("other", "claims: [FS-06]\n")]).contains("does not claim"));
    }
}
